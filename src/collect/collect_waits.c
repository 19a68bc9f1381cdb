/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of what threads waited for, which follows from the sampled stacks. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "collect/collect.h"
#include "profile/waits.h"
#include "wire/results/budget.h"

static const struct st_profile_column waits_columns[] = {
        {"kind", STROBE_TEXT, STROBE_IS_KEY},
        {"thread", STROBE_THREAD, STROBE_IS_KEY},
        {"function", STROBE_FUNCTION, STROBE_IS_KEY},
        {"time", STROBE_TICKS, STROBE_IS_SUM},
};
enum { N_WAITS_COLUMNS = sizeof waits_columns / sizeof *waits_columns, N_WAITS_KEYS = 3 };

/* The C library makes system calls for others. */
static bool
waits_is_library(const struct st_profile *p, uint32_t image)
{
	static const char *const names[] = {"libc.so", "libc-", "libpthread", "ld-linux",
	                                    "ld-musl"};
	const char *name = image == UINT32_MAX ? "" : st_base_name(p->images.v[image].path);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* The label of the innermost function that is not the C library's; if there is none, of the
 * innermost one. */
static const struct st_profile_label *
waits_caller(const struct st_profile *p, const struct st_profile_context *c)
{
	const struct st_profile_label *inner = NULL;
	for (uint32_t i = c->parent; i != UINT32_MAX; i = p->contexts.v[i].parent) {
		const struct st_profile_label *l = &p->labels.v[p->contexts.v[i].label];
		if (l->image == UINT32_MAX)
			continue;
		if (!waits_is_library(p, l->image))
			return l;
		inner = inner ? inner : l;
	}
	return inner;
}

static st_status
waits_add_context(struct st_collect *c, struct st_rows *rows, const struct st_profile_context *x)
{
	struct st_profile *p = c->profile;
	const enum st_stack_kind kind = st_profile_label_kind(&p->labels.v[x->label]);
	struct st_profile_value row[N_WAITS_COLUMNS];
	for (size_t i = 0; i < N_WAITS_COLUMNS; i++)
		row[i] = (struct st_profile_value){.image = UINT32_MAX, .function = UINT32_MAX};
	if (!st_stack_kind_waits(kind) || !x->self_ns)
		return ST_OK;
	const struct st_profile_label *l = waits_caller(p, x);
	const char *name = st_stack_kind_name(kind);
	/* Without its brackets. */
	row[0].text =
	        st_collect_intern(c, st_profile_textf(p, "%.*s", (int)strlen(name) - 2, name + 1));
	row[1].number = (uint64_t)p->threads.v[x->thread].tid;
	if (l) {
		row[2].number = l->offset;
		row[2].image = l->image;
		row[2].function = l->function;
		row[2].text = l->function == UINT32_MAX ? NULL : p->functions.v[l->function].name;
	}
	row[3].number = x->self_ns;
	return st_rows_add(rows, row);
}

st_status
st_collect_waits(struct st_collect *c)
{
	struct st_profile *p = c->profile;
	if (!st_profile_has_waits(p))
		return ST_OK;
	struct st_profile_table table = {.name = "waits",
	                                 .help = "what threads waited for",
	                                 .tool = "hot",
	                                 .n_columns = N_WAITS_COLUMNS,
	                                 .n_keys = N_WAITS_KEYS};
	struct st_rows rows = {.table = &table};
	st_status status = ST_OK;
	memcpy(table.columns, waits_columns, sizeof waits_columns);
	for (size_t i = 0; i < p->contexts.n && !status; i++)
		status = waits_add_context(c, &rows, &p->contexts.v[i]);
	st_rows_free(&rows);
	/* No ranks of names are needed where the first key is no function. */
	struct st_profile_table *slot =
	        status || st_rows_sort(&table, NULL) ? NULL : ST_PUSH(&p->tables);
	if (!slot) {
		free(table.values.v);
		return ST_FAILED;
	}
	*slot = table;
	return st_profile_add_up_waits(p);
}

/* How often a thread has spent a budget. */
static uint64_t
waits_times_spent(const struct st_profile *p)
{
	static const char *const names[] = {
#define ST_OVERSHOOT(name, below, text) "overshoots_" #name,
	        ST_OVERSHOOTS(ST_OVERSHOOT)
#undef ST_OVERSHOOT
	};
	uint64_t n = 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		n += st_profile_statistic(p, names[i]);
	return n;
}

void
st_collect_note_waits(struct st_profile *p)
{
	if (st_profile_has_waits(p) && waits_times_spent(p))
		st_profile_note(p, "the budget was spent: what a thread waits for from then to the "
		                   "next period is not counted; to count all waits, measure "
		                   "without --budget");
}
