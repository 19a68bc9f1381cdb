/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "report/json.h"
#include "report/mem.h"

/* Takes the value over, as json_object_set_new does. */
#define SET(object, key, value) bad |= json_object_set_new(object, key, value)
#define APPEND(array, value) bad |= json_array_append_new(array, value)

static json_t *
json_or_nothing(json_t *out, int bad)
{
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

static json_t *
mem_json_sizes(const struct st_mem_totals *t)
{
	json_t *out = json_array();
	int bad = 0;
	for (size_t i = 0; i < ST_ALLOC_CLASSES; i++) {
		if (!t->classes[i])
			continue;
		json_t *row = json_object();
		SET(row, "from", st_json_count(i ? 1ull << (i - 1) : 0));
		SET(row, "below", i < 63 ? st_json_count(1ull << i) : json_null());
		SET(row, "allocations", st_json_count(t->classes[i]));
		APPEND(out, row);
	}
	return json_or_nothing(out, bad);
}

static json_t *
mem_json_totals(const struct st_mem_totals *t)
{
	json_t *out = json_object();
	int bad = 0;
	SET(out, "allocations", st_json_count(t->calls));
	SET(out, "bytes", st_json_count(t->bytes));
	SET(out, "frees", st_json_count(t->frees));
	SET(out, "bytes_freed", st_json_count(t->freed));
	SET(out, "peak", st_json_count(t->peak));
	SET(out, "live", st_json_count(t->live));
	SET(out, "live_blocks", st_json_count(t->live_blocks));
	SET(out, "reallocations_in_place", st_json_count(t->in_place));
	SET(out, "reallocations_moved", st_json_count(t->moved));
	SET(out, "failed", st_json_count(t->failed));
	SET(out, "unknown_frees", st_json_count(t->unknown));
	SET(out, "short_lived", st_json_count(t->short_lived));
	SET(out, "sizes", mem_json_sizes(t));
	return json_or_nothing(out, bad);
}

static json_t *
mem_json_frame(const struct st_mem_frame *f)
{
	json_t *out = json_object();
	int bad = 0;
	SET(out, "function", st_json_text(f->function));
	SET(out, "image", *f->image ? st_json_text(f->image) : json_null());
	SET(out, "offset", st_json_count(f->offset));
	SET(out, "file", *f->file ? st_json_text(f->file) : json_null());
	SET(out, "line", f->line ? st_json_count(f->line) : json_null());
	SET(out, "inlined", json_boolean(f->inlined));
	SET(out, "parent", f->parent == ST_MEM_NONE ? json_null() : st_json_count(f->parent));
	return json_or_nothing(out, bad);
}

static void
set_sums(json_t *out, const struct st_mem_context *c, int *failed)
{
	int bad = 0;
	SET(out, "kind", json_string(c->mapped ? "mapped" : "heap"));
	SET(out, "allocations", st_json_count(c->calls));
	SET(out, "bytes", st_json_count(c->bytes));
	SET(out, "peak", st_json_count(c->peak));
	SET(out, "live", st_json_count(c->live));
	SET(out, "live_blocks", st_json_count(c->live_blocks));
	SET(out, "short_lived", st_json_count(c->short_lived));
	SET(out, "largest", st_json_count(c->largest));
	*failed |= bad;
}

static json_t *
mem_json_contexts(const struct st_mem *m)
{
	json_t *out = json_array();
	int bad = 0;
	for (size_t i = 0; i < m->contexts.n; i++) {
		const struct st_mem_context *c = &m->contexts.v[i];
		json_t *row = json_object();
		SET(row, "frame", st_json_count(c->frame));
		SET(row, "site", st_json_count(st_mem_site(m, c)));
		set_sums(row, c, &bad);
		SET(row, "own_peak", st_json_count(c->own_peak));
		APPEND(out, row);
	}
	return json_or_nothing(out, bad);
}

static json_t *
mem_json_sites(const struct st_mem *m)
{
	struct st_mem_sites sites;
	json_t *out = json_array();
	int bad = st_mem_group(m, &sites);
	for (size_t i = 0; i < sites.rows.n; i++) {
		const struct st_mem_site_row *s = &sites.rows.v[i];
		json_t *row = json_object();
		struct st_mem_context sum = s->sum;
		sum.mapped = s->mapped;
		SET(row, "frame", st_json_count(s->frame));
		set_sums(row, &sum, &bad);
		APPEND(out, row);
	}
	free(sites.rows.v);
	return json_or_nothing(out, bad);
}

static json_t *
mem_json_shares(const struct st_mem *m, uint32_t snapshot, size_t *at)
{
	json_t *out = json_array();
	int bad = 0;
	for (; *at < m->shares.n && m->shares.v[*at].snapshot == snapshot; ++*at) {
		const struct st_mem_share *s = &m->shares.v[*at];
		json_t *row = json_object();
		SET(row, "context", st_json_count(s->context));
		SET(row, "live", st_json_count(s->live));
		APPEND(out, row);
	}
	return json_or_nothing(out, bad);
}

static json_t *
mem_json_snapshots(const struct st_mem *m)
{
	json_t *out = json_array();
	size_t share = 0;
	int bad = 0;
	for (uint32_t i = 0; i < m->snapshots.n; i++) {
		const struct st_mem_snapshot *s = &m->snapshots.v[i];
		json_t *row = json_object();
		SET(row, "time_ns", st_json_count(s->ns));
		SET(row, "live", st_json_count(s->live));
		SET(row, "live_blocks", st_json_count(s->blocks));
		SET(row, "mapped", st_json_count(s->mapped));
		SET(row, "contexts", mem_json_shares(m, i, &share));
		APPEND(out, row);
	}
	return json_or_nothing(out, bad);
}

json_t *
st_mem_object(const struct st_mem *m, const struct st_profile *p)
{
	json_t *out = json_object(), *frames = json_array(), *strobe = json_object();
	int bad = 0;
	SET(strobe, "version", json_integer(ST_JSON_VERSION));
	SET(strobe, "tool", json_string(st_mem_tool(p)));
	SET(out, "strobe", strobe);
	SET(out, "run", st_json_run(p));
	SET(out, "heap", mem_json_totals(&m->totals[ST_ALLOC_HEAP]));
	SET(out, "mapped", mem_json_totals(&m->totals[ST_ALLOC_MAPPED]));
	SET(out, "peak_after_ns", st_json_count(m->peak_from_ns));
	SET(out, "peak_before_ns", st_json_count(m->peak_to_ns));
	SET(out, "missed", st_json_count(m->missed));
	SET(out, "unknown_callers", st_json_count(m->cut));
	SET(out, "sites", mem_json_sites(m));
	SET(out, "contexts", mem_json_contexts(m));
	for (size_t i = 0; i < m->frames.n; i++)
		APPEND(frames, mem_json_frame(&m->frames.v[i]));
	SET(out, "frames", frames);
	SET(out, "interval_ns", st_json_count(m->interval_ns));
	SET(out, "snapshots", mem_json_snapshots(m));
	return json_or_nothing(out, bad);
}

st_status
st_mem_json(const struct st_mem *m, const struct st_profile *p, FILE *out, struct st_error *e)
{
	char *text = st_json_document(st_mem_object(m, p), ST_JSON_DOCUMENT, "the allocations", e);
	if (!text)
		return ST_FAILED;
	fputs(text, out);
	free(text);
	return ST_OK;
}
