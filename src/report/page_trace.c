/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The traced functions of a profile, for the page: what strobe trace writes as JSON, and how the
 * durations of each function's calls are distributed. */
#include <string.h>

#include "report/json.h"
#include "report/page.h"
#include "report/trace.h"

static bool
has_trace(const struct st_profile *p)
{
	bool found = !strncmp(p->run.tool, "calltimes", 9);
	for (size_t i = 0; i < p->tables.n && !found; i++)
		found = !strcmp(p->tables.v[i].tool, "calltimes");
	return found;
}

/* For each class of durations the shortest of it in nanoseconds, and its calls. */
static json_t *
histogram_of(const struct st_trace_function *f)
{
	json_t *out = json_array();
	int bad = 0;
	for (size_t i = 0; i < f->classes.n && !bad; i++) {
		bad = json_array_append_new(out, st_json_count(f->classes.v[i].from_ns));
		bad |= json_array_append_new(out, st_json_count(f->classes.v[i].calls));
	}
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

/* Shortens a list of the trace, most 0: not at all. */
static int
cut_list(json_t *trace, json_t *cut, const char *key, const char *what, size_t most)
{
	json_t *list = json_object_get(trace, key);
	const size_t n = json_array_size(list);
	int bad = 0;
	if (!most || n <= most)
		return 0;
	for (size_t i = n; i-- > most && !bad;)
		bad = json_array_remove(list, i);
	return bad | json_array_append_new(cut, json_pack("{s:s, s:I, s:I}", "what", what, "shown",
	                                                  (json_int_t)most, "of", (json_int_t)n));
}

static int
page_trace_fill(json_t *out, const struct st_trace *t, const struct st_page_limits *limits)
{
	json_t *cut = json_array(), *functions = json_object_get(out, "functions");
	int bad = json_object_set_new(out, "cut", cut);
	if (!bad)
		bad = cut_list(out, cut, "functions", "traced functions", limits->functions) |
		      cut_list(out, cut, "pairs", "pairs of callers and callees", limits->rows) |
		      cut_list(out, cut, "left_out", "functions that were left out", limits->rows) |
		      cut_list(out, cut, "refused", "functions that could not be traced",
		               limits->rows);
	for (size_t i = 0; i < json_array_size(functions) && !bad; i++)
		bad = json_object_set_new(json_array_get(functions, i), "histogram",
		                          histogram_of(&t->functions.v[i]));
	return bad;
}

json_t *
st_page_trace(const struct st_profile *p, const struct st_page_limits *limits)
{
	struct st_trace t;
	struct st_error e;
	if (!has_trace(p) || st_trace_read(&t, p, false, &e))
		return NULL;
	json_t *out = st_trace_object(&t, p);
	if (out && page_trace_fill(out, &t, limits)) {
		json_decref(out);
		out = NULL;
	}
	st_trace_free(&t);
	return out;
}
