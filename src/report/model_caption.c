/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Describes a model in one sentence, for pictures. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/model.h"

char *
st_model_caption(const struct st_choice *c)
{
	if (c->best == ST_GROWTH_COUNT)
		return strdup("There are too few points to tell which kind of growth it is.");
	const struct st_regression *m = &c->models[c->best];
	struct st_text built;
	FILE *out = st_text_begin(&built);
	if (!out)
		return NULL;
	if (!c->told) {
		fputs("The points cannot tell which kind of growth it is; the best is ", out);
	} else {
		fputs("The model is ", out);
	}
	fprintf(out, "%s, %s:", st_growth_name(m->kind), st_growth_formula(m->kind));
	for (size_t i = 0; i < st_growth_parameters(m->kind); i++) {
		const struct st_interval in = st_regression_parameter(m, i, c->level);
		fprintf(out, " b%zu = %.5g", i, m->b[i]);
		if (isfinite(in.low) && isfinite(in.high))
			fprintf(out, " (%.5g to %.5g)", in.low, in.high);
		fputs(i + 1 < st_growth_parameters(m->kind) ? "," : "", out);
	}
	if (isfinite(m->r_square))
		fprintf(out, "; r² = %.5g", m->r_square);
	fputs(".", out);
	return st_text_end(&built);
}
