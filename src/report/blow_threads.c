/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which threads call which functions in the runs without noise. */
#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "blow/origins.h"
#include "report/blow.h"
#include "report/json.h"
#include "report/text.h"

enum { MOST_THREAD_COLUMNS = 32 };

/* One more than the greatest number of a thread in runs without noise. */
static uint32_t
quiet_threads(const struct st_blow *b)
{
	uint32_t n = 0;
	for (size_t i = 0; i < b->runs.n; i++) {
		const struct st_blow_run *r = &b->runs.v[i];
		for (size_t k = 0; st_blow_is_quiet(r) && k < r->samples.n; k++)
			if (r->samples.v[k].thread >= n && r->samples.v[k].thread < UINT32_MAX)
				n = r->samples.v[k].thread + 1;
	}
	return n;
}

/* The mean number of calls. */
static double
calls_in_thread(const struct st_blow *b, uint32_t function, uint32_t thread)
{
	double calls = 0;
	size_t n = 0;
	for (size_t i = 0; i < b->runs.n; i++) {
		const struct st_blow_run *r = &b->runs.v[i];
		if (!st_blow_is_quiet(r))
			continue;
		n++;
		for (size_t k = 0; k < r->samples.n; k++)
			if (r->samples.v[k].function == function &&
			    r->samples.v[k].thread == thread)
				calls += (double)r->samples.v[k].calls;
	}
	return n ? calls / (double)n : 0;
}

static void
thread_cells(const struct st_blow *b, uint32_t function, uint32_t threads, struct st_table *t)
{
	for (uint32_t i = 0; i < threads; i++) {
		const double calls = calls_in_thread(b, function, i);
		if (calls > 0)
			st_table_cell(t, calls < 10 && calls > floor(calls) ? "%.1f" : "%.0f",
			              calls);
		else
			st_table_cell(t, "-");
	}
	st_table_cell(t, "%s", b->functions.v[function].name);
}

/* The names of the threads of the columns. */
static void
print_thread_names(const struct st_blow *b, uint32_t threads, FILE *out)
{
	for (uint32_t i = 0; i < threads && b->threads.n; i++) {
		fprintf(out, "  thread %u: ", i);
		st_blow_print_thread(b, i, out);
		fputc('\n', out);
	}
}

st_status
st_blow_threads_print(const struct st_blow *b, const struct st_blow_view *view, FILE *out)
{
	struct st_table_column columns[MOST_THREAD_COLUMNS + 1];
	char names[MOST_THREAD_COLUMNS][16];
	struct st_blow_rows rows = {0};
	const uint32_t all = quiet_threads(b),
	               threads = all < MOST_THREAD_COLUMNS ? all : MOST_THREAD_COLUMNS;
	for (uint32_t i = 0; i < threads; i++) {
		snprintf(names[i], sizeof names[i], "%s%u", i ? "" : "thread ", i);
		columns[i] = (struct st_table_column){names[i], false};
	}
	columns[threads] = (struct st_table_column){"function", true};
	struct st_table *t = st_table_new(columns, threads + 1);
	const st_status status = t ? st_blow_order(b, view->sort, &rows) : ST_FAILED;
	for (size_t i = 0; !status && i < rows.list.n && (!view->top || i < view->top); i++)
		thread_cells(b, rows.list.v[i].function, threads, t);
	if (!status && rows.list.n) {
		fputs("\ncalls by thread, without noise:\n", out);
		st_table_print(t, out, (struct st_style){0});
		print_thread_names(b, threads, out);
		if (threads < all)
			fprintf(out, "... and %u more threads; --format json has all\n",
			        all - threads);
	}
	free(rows.list.v);
	if (t)
		st_table_free(t);
	return status;
}

/* The least number of a thread, `from` or more, with calls of the function without noise;
 * UINT32_MAX: there is none. A damaged file may have any numbers, so they are not counted up to. */
static uint32_t
quiet_thread_from(const struct st_blow *b, uint32_t function, uint32_t from)
{
	uint32_t next = UINT32_MAX;
	for (size_t i = 0; i < b->runs.n; i++) {
		const struct st_blow_run *r = &b->runs.v[i];
		for (size_t k = 0; st_blow_is_quiet(r) && k < r->samples.n; k++)
			if (r->samples.v[k].function == function && r->samples.v[k].calls &&
			    r->samples.v[k].thread >= from && r->samples.v[k].thread < next)
				next = r->samples.v[k].thread;
	}
	return next;
}

json_t *
st_blow_threads_json(const struct st_blow *b, uint32_t function)
{
	json_t *out = json_array();
	int bad = 0;
	for (uint32_t t = quiet_thread_from(b, function, 0); t != UINT32_MAX && !bad;
	     t = quiet_thread_from(b, function, t + 1)) {
		json_t *row = json_object();
		bad |= json_object_set_new(row, "thread", st_json_count(t));
		bad |= json_object_set_new(row, "calls",
		                           json_real(calls_in_thread(b, function, t)));
		bad |= json_array_append_new(out, row);
	}
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

static json_t *
json_thread_name(const struct st_blow *b, uint32_t thread)
{
	struct st_text text;
	if (!st_text_begin(&text))
		return NULL;
	st_blow_print_thread(b, thread, text.out);
	char *name = st_text_end(&text);
	json_t *out = name ? st_json_text(name) : NULL;
	free(name);
	return out;
}

static json_t *
json_created(const struct st_blow *b, const struct st_blow_origin *o)
{
	json_t *out = json_object();
	int bad = 0;
	bad |= json_object_set_new(out, "thread", st_json_count(o->thread));
	bad |= json_object_set_new(out, "name", json_thread_name(b, o->thread));
	bad |= json_object_set_new(out, "creator",
	                           o->creator == ST_BLOW_NONE ? json_null()
	                                                      : st_json_count(o->creator));
	bad |= json_object_set_new(out, "start", st_json_text(o->start.function));
	bad |= json_object_set_new(out, "created_in", st_json_text(o->call.function));
	bad |= json_object_set_new(out, "nth", st_json_count(o->nth));
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

json_t *
st_blow_created_json(const struct st_blow *b)
{
	json_t *out = json_array();
	int bad = 0;
	for (size_t i = 0; i < b->threads.n && !bad; i++)
		bad = json_array_append_new(out, json_created(b, &b->threads.v[i]));
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}
