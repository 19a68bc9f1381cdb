/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leaves contexts and functions out of a profile, and renumbers what refers to the others. */
#include <stdlib.h>

#include "profile/restrict.h"

/* The new numbers of n things, of which some are kept; UINT32_MAX: it is not. malloc'ed. */
static uint32_t *
restrict_number(const bool *kept, size_t n)
{
	uint32_t *numbers = calloc(n + 1, sizeof *numbers), next = 0;
	for (size_t i = 0; numbers && i < n; i++)
		numbers[i] = kept[i] ? next++ : UINT32_MAX;
	return numbers;
}

static uint32_t
restrict_renumber(const uint32_t *numbers, size_t n, uint32_t old)
{
	return old < n ? numbers[old] : UINT32_MAX;
}

static void
restrict_move_contexts(struct st_profile *p, const uint32_t *numbers)
{
	const size_t n = p->contexts.n;
	size_t kept = 0, loops = 0;
	for (size_t i = 0; i < n; i++) {
		struct st_profile_context c = p->contexts.v[i];
		if (numbers[i] == UINT32_MAX)
			continue;
		c.parent = restrict_renumber(numbers, n, c.parent);
		c.link = restrict_renumber(numbers, n, c.link);
		p->contexts.v[kept++] = c;
	}
	for (size_t i = 0; i < p->loops.n; i++) {
		struct st_profile_loop l = p->loops.v[i];
		l.context = restrict_renumber(numbers, n, l.context);
		if (l.context != UINT32_MAX)
			p->loops.v[loops++] = l;
	}
	p->contexts.n = kept;
	p->loops.n = loops;
}

st_status
st_restrict_contexts(struct st_profile *p, const bool *kept)
{
	uint32_t *numbers = restrict_number(kept, p->contexts.n);
	if (numbers)
		restrict_move_contexts(p, numbers);
	free(numbers);
	return numbers ? ST_OK : ST_FAILED;
}

static bool
restrict_is_counted(const struct st_profile_function *f)
{
	return f->calls || f->executions || f->instructions || f->samples || f->samples_total ||
	       f->samples_kernel || f->samples_engine || f->waiting_ns;
}

/* The values of tools' tables keep their names and lose the functions that are left out. */
static void
restrict_tables(struct st_profile *p, const uint32_t *numbers, size_t n)
{
	for (size_t i = 0; i < p->tables.n; i++) {
		struct st_profile_table *t = &p->tables.v[i];
		for (size_t k = 0; k < t->values.n; k++)
			t->values.v[k].function =
			        restrict_renumber(numbers, n, t->values.v[k].function);
		for (size_t k = 0; k < t->n_columns; k++)
			t->others[k].function =
			        restrict_renumber(numbers, n, t->others[k].function);
	}
}

static void
restrict_move_functions(struct st_profile *p, const uint32_t *numbers)
{
	const size_t n = p->functions.n;
	size_t functions = 0, aliases = 0, blocks = 0, lines = 0;
	for (size_t i = 0; i < n; i++)
		if (numbers[i] != UINT32_MAX)
			p->functions.v[functions++] = p->functions.v[i];
	for (size_t i = 0; i < p->aliases.n; i++) {
		struct st_profile_alias a = p->aliases.v[i];
		a.function = restrict_renumber(numbers, n, a.function);
		if (a.function != UINT32_MAX)
			p->aliases.v[aliases++] = a;
	}
	for (size_t i = 0; i < p->blocks.n; i++) {
		struct st_profile_block b = p->blocks.v[i];
		b.function = restrict_renumber(numbers, n, b.function);
		if (b.function != UINT32_MAX)
			p->blocks.v[blocks++] = b;
	}
	for (size_t i = 0; i < p->lines.n; i++) {
		struct st_profile_line l = p->lines.v[i];
		l.function = restrict_renumber(numbers, n, l.function);
		if (l.function != UINT32_MAX)
			p->lines.v[lines++] = l;
	}
	restrict_tables(p, numbers, n);
	for (size_t i = 0; i < p->labels.n; i++)
		p->labels.v[i].function = restrict_renumber(numbers, n, p->labels.v[i].function);
	p->functions.n = functions;
	p->aliases.n = aliases;
	p->blocks.n = blocks;
	p->lines.n = lines;
}

st_status
st_restrict_functions(struct st_profile *p)
{
	bool *kept = calloc(p->functions.n + 1, sizeof *kept);
	for (size_t i = 0; kept && i < p->functions.n; i++)
		kept[i] = restrict_is_counted(&p->functions.v[i]);
	for (size_t i = 0; kept && i < p->contexts.n; i++) {
		const uint32_t f = p->labels.v[p->contexts.v[i].label].function;
		if (f < p->functions.n)
			kept[f] = true;
	}
	uint32_t *numbers = kept ? restrict_number(kept, p->functions.n) : NULL;
	if (numbers)
		restrict_move_functions(p, numbers);
	free(kept);
	free(numbers);
	return numbers ? ST_OK : ST_FAILED;
}
