/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/contexts.h"

#include <inttypes.h>
#include <string.h>

const char *
st_contexts_mode(const struct st_contexts *c)
{
	static const char *const names[] = {
#define M(id, name) #name,
	        ST_CONTEXT_MODES(M)
#undef M
	};
	return names[c->mode];
}

const char *
st_contexts_k(const struct st_contexts *c, char text[16])
{
	if (c->k == (uint32_t)ST_K_INFINITE)
		return "inf";
	snprintf(text, 16, "%" PRIu32, c->k);
	return text;
}

void
st_contexts_name(const struct st_contexts *c, uint32_t label, FILE *out)
{
	const struct st_context_label *l = &c->labels[label];
	if (c->mode != ST_CONTEXT_FUNC)
		fprintf(out, "{%s%+" PRId64 " at %" PRIu32 ",%" PRIu32 "}", l->name, l->inside,
		        l->line, l->column);
	else /* names of C++ come with their arguments */
		fprintf(out, "%s%s", l->name, strchr(l->name, '(') ? "" : "()");
}

uint64_t
st_contexts_value(const struct st_contexts *c, const struct st_weight *w)
{
	return c->timed ? w->self_ns : c->with_instructions ? w->instructions : w->count;
}
