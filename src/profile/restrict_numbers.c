/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leaves contexts and functions out of a profile, and renumbers what refers to the others. */
#include <stdlib.h>

#include "profile/restrict.h"

/* The new numbers of n things, of which some are kept; UINT32_MAX: left out. malloc'ed; NULL: no
 * memory. */
static uint32_t *
restrict_number(const bool *kept, size_t n)
{
	uint32_t *numbers = calloc(n + 1, sizeof *numbers), next = 0;
	for (size_t i = 0; numbers && i < n; i++)
		numbers[i] = kept[i] ? next++ : UINT32_MAX;
	return numbers;
}

static void
restrict_move_contexts(struct st_profile *p, const uint32_t *numbers)
{
	const size_t n = p->contexts.n;
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		struct st_profile_context c = p->contexts.v[i];
		if (numbers[i] == UINT32_MAX)
			continue;
		c.parent = st_restrict_number(numbers, n, c.parent);
		c.link = st_restrict_number(numbers, n, c.link);
		p->contexts.v[kept++] = c;
	}
	p->contexts.n = kept;
	ST_RESTRICT_ROWS(p, loops, context, numbers, n);
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
			        st_restrict_number(numbers, n, t->values.v[k].function);
		for (size_t k = 0; k < t->n_columns; k++)
			t->others[k].function =
			        st_restrict_number(numbers, n, t->others[k].function);
	}
}

static void
restrict_move_functions(struct st_profile *p, const uint32_t *numbers)
{
	const size_t n = p->functions.n;
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if (numbers[i] != UINT32_MAX)
			p->functions.v[kept++] = p->functions.v[i];
	p->functions.n = kept;
	ST_RESTRICT_ROWS(p, aliases, function, numbers, n);
	ST_RESTRICT_ROWS(p, blocks, function, numbers, n);
	ST_RESTRICT_ROWS(p, lines, function, numbers, n);
	restrict_tables(p, numbers, n);
	for (size_t i = 0; i < p->labels.n; i++)
		p->labels.v[i].function = st_restrict_number(numbers, n, p->labels.v[i].function);
	p->shares.n = 0; /* they have the old numbers */
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
