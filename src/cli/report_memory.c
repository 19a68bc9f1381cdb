/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/report_memory.h"

#include "mem/mem.h"
#include "report/json.h"
#include "report/mem.h"
#include "report/page.h"
#include "views/matrix.h"

/* With strobe mem --interval, a profile may have a million snapshots. */
enum { REPORT_MOST_SNAPSHOTS = 1000, REPORT_MOST_RANGES = 64 };

static json_t *
memory_values(const double *values, size_t n)
{
	json_t *array = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(array, json_integer((json_int_t)values[i]));
	return array;
}

static json_t *
memory_rows_json(const struct st_matrix *m)
{
	json_t *rows = json_array();
	for (size_t i = 0; i < m->rows.n; i++) {
		const bool rest = m->others && i == m->rows.n - 1;
		json_array_append_new(rows,
		                      json_pack("{so, sb, so}", "name", st_json_text(m->rows.v[i]),
		                                "others", rest, "values",
		                                memory_values(&m->values[i * m->n], m->n)));
	}
	return rows;
}

/* The live memory by ranges of addresses, or the reason that there is none; NULL: no memory. */
static json_t *
memory_addresses(const struct st_profile *p, const char *name)
{
	const struct st_matrix_choice choice = {
	        .name = name, .addresses = true, .top = REPORT_MOST_RANGES};
	struct st_matrix m = {0};
	struct st_error why;
	json_t *out =
	        st_matrix_of_memory(&m, p, &choice, &why)
	                ? json_pack("{so}", "missing", st_json_text(why.text))
	                : json_pack("{so, so, sI}", "times_ns", memory_values(m.x, m.n), "rows",
	                            memory_rows_json(&m), "range_bytes", (json_int_t)m.range_bytes);
	st_matrix_free(&m);
	return out;
}

static json_t *
memory_json(const struct st_matrix *m, const struct st_mem *mem, json_t *addresses, size_t left_out)
{
	return json_pack("{so, so, so, sI, sI, sI, sI}", "times_ns", memory_values(m->x, m->n),
	                 "rows", memory_rows_json(m), "addresses", addresses, "left_out",
	                 (json_int_t)left_out, "peak", (json_int_t)mem->totals[ST_ALLOC_HEAP].peak,
	                 "peak_after_ns", (json_int_t)mem->peak_from_ns, "peak_before_ns",
	                 (json_int_t)mem->peak_to_ns);
}

/* The call stacks of allocations, unless there are others. */
static st_status
memory_add_paths(json_t *entry, const struct st_mem *mem)
{
	if (json_object_get(entry, "paths"))
		return ST_OK;
	json_t *paths =
	        json_pack("{s:s, s:s, s:[{s:b, s:o, s:o}]}", "mode", "func", "counted",
	                  "allocations", "threads", "joined", 1, "ksf",
	                  st_mem_tree_json(mem, false), "kccf", st_mem_tree_json(mem, true));
	return json_object_set_new(entry, "paths", paths) ? ST_FAILED : ST_OK;
}

st_status
st_report_add_memory(json_t *page, const struct st_profile *p, const char *name, struct st_error *e)
{
	const struct st_matrix_choice choice = {.name = name};
	struct st_matrix m = {0};
	struct st_mem mem = {0};
	struct st_error why;
	json_t *out;
	if (!st_mem_tool(p))
		return ST_OK;
	if (st_mem_read(&mem, p, e)) {
		st_mem_free(&mem);
		return ST_FAILED;
	}
	if (memory_add_paths(st_page_last(page), &mem)) {
		st_mem_free(&mem);
		return st_fail(e, ST_EXIT_FAILED, "no memory left to report %s", name);
	}
	if (!st_profile_has_tool(p, ST_MEM_TOOL)) {
		st_mem_free(&mem);
		return ST_OK;
	}
	const bool none = st_matrix_of_memory(&m, p, &choice, &why);
	const size_t all = m.n;
	if (none)
		out = json_pack("{so}", "missing", st_json_text(why.text));
	else if (st_matrix_thin_to_peaks(&m, REPORT_MOST_SNAPSHOTS))
		out = NULL;
	else
		out = memory_json(&m, &mem, memory_addresses(p, name), all - m.n);
	st_matrix_free(&m);
	st_mem_free(&mem);
	return json_object_set_new(st_page_last(page), "memory", out)
	               ? st_fail(e, ST_EXIT_FAILED, "no memory left to report %s", name)
	               : ST_OK;
}
