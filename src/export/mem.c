/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/mem.h"

#include "base/hashmap.h"

struct exported {
	const struct st_mem *m;
	struct st_contexts *c;
	bool lines; /* calls from several lines of a function are several contexts */
	ST_VEC(struct st_context_label) labels;
	struct st_hashmap index; /* of labels */
	uint32_t *node_of;       /* of frames: 1 + the node */
};

static bool
is_label_of(const struct exported *x, const struct st_context_label *l,
            const struct st_mem_frame *f)
{
	return (!x->lines || l->line == f->line) && !strcmp(l->name, f->function) &&
	       !strcmp(l->file ? l->file : "", f->file) &&
	       !strcmp(l->image ? l->image : "", f->image);
}

/* A function at a line; ST_NO_NODE: no memory. */
static uint32_t
label_of_frame(struct exported *x, const struct st_mem_frame *f)
{
	uint32_t hash = st_hash_numbers(x->lines ? f->line : 0, 0);
	for (const char *p = f->function; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 16777619u;
	const uint32_t at = ST_HASHMAP_FIND(&x->index, hash, i, is_label_of(x, &x->labels.v[i], f));
	if (at != ST_HASHMAP_NONE)
		return at;
	struct st_context_label *l = ST_PUSH(&x->labels);
	if (!l || st_hashmap_add(&x->index, hash, (uint32_t)x->labels.n - 1))
		return ST_NO_NODE;
	*l = (struct st_context_label){.name = f->function,
	                               .image = *f->image ? f->image : NULL,
	                               .file = *f->file ? f->file : NULL,
	                               .offset = f->offset,
	                               .line = f->line,
	                               .function = (uint32_t)x->labels.n - 1,
	                               .in_image = UINT32_MAX,
	                               .in_function = UINT32_MAX,
	                               .seen = true};
	return (uint32_t)x->labels.n - 1;
}

static st_status
export_frames(struct exported *x, struct st_forest *f)
{
	for (size_t i = 0; i < x->m->frames.n; i++) {
		const struct st_mem_frame *frame = &x->m->frames.v[i];
		const uint32_t label = label_of_frame(x, frame);
		const uint32_t parent =
		        frame->parent == ST_MEM_NONE ? ST_NO_NODE : x->node_of[frame->parent] - 1;
		const uint32_t node =
		        label == ST_NO_NODE ? ST_NO_NODE : st_forest_child(f, parent, label);
		if (node == ST_NO_NODE)
			return ST_FAILED;
		x->node_of[i] = node + 1;
	}
	return ST_OK;
}

static st_status
export_contexts(struct exported *x, enum st_mem_metric metric)
{
	struct st_context_group *g = ST_PUSH(&x->c->groups);
	if (!g)
		return ST_FAILED;
	*g = (struct st_context_group){.thread = UINT32_MAX, .function = UINT32_MAX};
	st_forest_init(&g->ksf);
	st_forest_init(&g->kccf);
	x->node_of = calloc(x->m->frames.n + 1, sizeof *x->node_of);
	if (!x->node_of || export_frames(x, &g->ksf))
		return ST_FAILED;
	for (size_t i = 0; i < x->m->contexts.n; i++) {
		const struct st_mem_context *c = &x->m->contexts.v[i];
		const struct st_weight w = {.count = st_mem_value(c, metric)};
		st_forest_add(&g->ksf, x->node_of[c->frame] - 1, &w);
	}
	st_forest_total(&g->ksf);
	x->c->n_ksf = g->ksf.n;
	return g->ksf.out_of_memory ? ST_FAILED : ST_OK;
}

st_status
st_mem_contexts_make(struct st_contexts *c, const struct st_mem *m, const struct st_profile *p,
                     enum st_mem_metric metric, bool lines, struct st_error *e)
{
	struct exported x = {.m = m, .c = c, .lines = lines};
	*c = (struct st_contexts){.profile = p,
	                          .mode = ST_CONTEXT_FUNC,
	                          .k = ST_K_INFINITE,
	                          .join_threads = true,
	                          .counted = st_mem_metric_name(metric),
	                          .unit = metric == ST_MEM_CALLS ? "count" : "bytes"};
	const st_status status = export_contexts(&x, metric);
	c->labels = x.labels.v;
	c->n_labels = c->n_functions = x.labels.n;
	st_hashmap_free(&x.index);
	free(x.node_of);
	return status ? st_fail(e, ST_EXIT_FAILED, "no memory left for the allocations") : ST_OK;
}

st_status
st_mem_write_contexts(const struct st_mem *m, const struct st_profile *p, enum st_mem_metric metric,
                      const struct st_context_format *format, FILE *out, struct st_error *e)
{
	struct st_contexts c;
	const st_status status = st_mem_contexts_make(&c, m, p, metric, true, e);
	if (!status)
		format->write(&c, out);
	st_contexts_free(&c);
	return status;
}
