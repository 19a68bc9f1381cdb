/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/lock_stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

/* Columns of the table lock_stacks. */
enum { LOCK_KIND, LOCK_WAITER, LOCK_HOLDER, LOCK_WAIT, LOCK_COLUMNS };

/* The waits of a stack for one kind of lock, summed over the holders. */
struct lock_line {
	const char *kind, *waiter;
	uint64_t ns;
};

static const struct st_profile_table *
lock_table(const struct st_profile *p)
{
	for (size_t i = 0; i < p->tables.n; i++) {
		const struct st_profile_table *t = &p->tables.v[i];
		if (!strcmp(t->tool, "locks") && !strcmp(t->name, "lock_stacks") &&
		    t->n_keys == LOCK_WAIT && t->n_columns >= LOCK_COLUMNS)
			return t;
	}
	return NULL;
}

bool
st_export_has_lock_stacks(const struct st_profile *p)
{
	return lock_table(p) != NULL;
}

static int
lock_line_order(const void *a, const void *b)
{
	const struct lock_line *x = a, *y = b;
	int order = strcmp(x->waiter, y->waiter);
	return order ? order : strcmp(x->kind, y->kind);
}

static const char *
lock_text(const char *text, const char *otherwise)
{
	return text && *text ? text : otherwise;
}

static void
write_lock_lines(const struct lock_line *v, size_t n, FILE *out)
{
	for (size_t i = 0; i < n;) {
		uint64_t ns = 0;
		const struct lock_line *first = &v[i];
		for (; i < n && !lock_line_order(first, &v[i]); i++)
			ns += v[i].ns;
		fprintf(out, "%s;[%s] %" PRIu64 "\n", first->waiter, first->kind, ns);
	}
}

st_status
st_export_lock_stacks(const struct st_profile *p, FILE *out, struct st_error *e)
{
	const struct st_profile_table *t = lock_table(p);
	const size_t n = t ? st_profile_rows(t) : 0;
	struct lock_line *lines = calloc(n + 1, sizeof *lines);
	if (!lines)
		return st_fail(e, ST_EXIT_FAILED, "no memory left to write the call stacks");
	for (size_t i = 0; i < n; i++) {
		const struct st_profile_value *v = &t->values.v[i * t->n_columns];
		lines[i] = (struct lock_line){lock_text(v[LOCK_KIND].text, "unknown"),
		                              lock_text(v[LOCK_WAITER].text, "[unknown]"),
		                              v[LOCK_WAIT].number};
	}
	qsort(lines, n, sizeof *lines, lock_line_order);
	write_lock_lines(lines, n, out);
	if (t && t->has_others)
		fprintf(out, "(others) %" PRIu64 "\n", t->others[LOCK_WAIT].number);
	free(lines);
	return ST_OK;
}
