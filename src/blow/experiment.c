/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/experiment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "blow/points.h"

char *
st_blow_asked(const struct st_blow_run *run, double limit)
{
	struct st_text text;
	if (!st_text_begin(&text))
		return NULL;
	fprintf(text.out, "%.17g ", limit);
	st_blow_write_line(run, text.out);
	char *out = st_text_end(&text);
	if (out)
		out[strcspn(out, "\n")] = '\0';
	return out;
}

st_status
st_blow_read_experiment(const char *path, struct st_blow *selected, size_t n_functions,
                        struct st_blow_run *run, struct st_error *e)
{
	FILE *f = fopen(path, "re");
	*run = (struct st_blow_run){0};
	if (!f)
		return st_fail(e, ST_EXIT_FAILED, "cannot read the result of a run in %s: %s", path,
		               strerror(errno));
	const st_status status = st_blow_read_answer(f, selected, n_functions, run, e);
	fclose(f);
	return status;
}

static st_status
experiment_select(const struct st_blow_options *o, struct st_blow *b, struct st_blow_run *run,
                  FILE *out, struct st_error *e)
{
	struct st_blow_how how = o->how;
	how.end_at = o->most_seconds > 0 ? st_now_raw() + o->most_seconds : 0;
	if (st_blow_select(&how, b, run, e))
		return ST_FAILED;
	st_blow_write_selection(b, out);
	return ST_OK;
}

/* "LIMIT run ...". */
static st_status
experiment_read_asked(const char *asked, const struct st_blow *b, struct st_blow_how *how,
                      struct st_blow_run *run, struct st_error *e)
{
	char *rest;
	how->limit = strtod(asked, &rest);
	if (rest == asked || *rest != ' ' || !(how->limit >= 0) ||
	    st_blow_read_line(run, rest + 1, b->functions.n))
		return st_fail(e, ST_EXIT_USAGE, "'%s' is no run of this campaign", asked);
	return ST_OK;
}

static st_status
experiment_run(const struct st_blow_options *o, const char *asked, const char *selection,
               struct st_blow *b, struct st_blow_run *run, struct st_error *e)
{
	struct st_blow_how how = o->how;
	struct st_blow_run selected;
	st_status status = st_blow_read_experiment(selection, b, 0, &selected, e);
	st_blow_run_clear(&selected);
	if (!status && st_blow_points_list(o->how.points, b))
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the run");
	if (status || experiment_read_asked(asked, b, &how, run, e))
		return ST_FAILED;
	st_blow_set_mode(b, o);
	st_blow_choose(b, &o->criteria);
	return st_blow_run_once(&how, b, run, e);
}

st_status
st_blow_experiment(const struct st_blow_options *o, const char *asked, const char *selection,
                   FILE *out, struct st_error *e)
{
	struct st_blow b = {0};
	struct st_blow_run run = {0};
	const st_status status = selection ? experiment_run(o, asked, selection, &b, &run, e)
	                                   : experiment_select(o, &b, &run, out, e);
	if (!status)
		st_blow_write_line(&run, out);
	st_blow_run_clear(&run);
	st_blow_free(&b);
	return status;
}
