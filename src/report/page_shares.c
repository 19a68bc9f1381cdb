/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The counts of each process of a profile, for the page. */
#include <stdlib.h>

#include "report/page.h"
#include "report/page_shares.h"

enum { SHARES_MOST = 200000 };

static json_t *
shares_row(const struct st_profile_share *s, uint32_t rank)
{
	return json_pack("[I, I, I, I, I]", (json_int_t)rank, (json_int_t)s->calls,
	                 (json_int_t)s->instructions, (json_int_t)s->samples,
	                 (json_int_t)s->samples_total);
}

/* The object of a process, from its samples and the rows of its functions, which it takes over. */
static json_t *
shares_process(const struct st_profile *p, const struct st_profile_share *s, json_t *rows)
{
	const struct st_profile_process *of = &p->processes.v[s->process];
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "process",
	                 (json_int_t)s->process, "pid", (json_int_t)of->pid, "instructions",
	                 (json_int_t)of->instructions, "samples", (json_int_t)s->samples, "kernel",
	                 (json_int_t)s->samples_kernel, "engine", (json_int_t)s->samples_engine,
	                 "stacks", (json_int_t)s->samples_total, "functions", rows);
}

json_t *
st_page_shares(const struct st_profile *p, const uint32_t *order, size_t n)
{
	uint32_t *ranks = calloc(p->functions.n + 1, sizeof *ranks);
	json_t *out = json_array(), *rows = json_array();
	int bad = !ranks || !out || !rows;
	size_t written = 0;
	for (size_t i = 0; !bad && i < n; i++)
		ranks[order[i]] = (uint32_t)i + 1;
	for (size_t i = 0; !bad && i < p->shares.n; i++) {
		const struct st_profile_share *s = &p->shares.v[i];
		if (s->function == UINT32_MAX) {
			bad |= json_array_append_new(out, shares_process(p, s, rows));
			rows = json_array();
		} else if (ranks[s->function] && written < SHARES_MOST) {
			bad |= json_array_append_new(rows, shares_row(s, ranks[s->function] - 1));
			written++;
		}
	}
	free(ranks);
	json_decref(rows);
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}
