/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import/functions.h"

#include <stdlib.h>
#include <string.h>

/* ST_THREAD_ENDED of a run, of which a file says nothing else. */
enum { THREAD_ENDED = 2, PLACE = 16 };

uint32_t
st_import_function(struct st_import_functions *f, const char *image, const char *name,
                   const char *file, uint32_t line)
{
	uint32_t hash = st_hash_numbers(st_hash_text(image), st_hash_text(name));
	uint32_t found =
	        ST_HASHMAP_FIND(&f->by_name, hash, at,
	                        !strcmp(f->v.v[at].name, name) && !strcmp(f->v.v[at].image, image));
	if (found == ST_HASHMAP_NONE) {
		struct st_import_function *new = ST_PUSH(&f->v);
		if (!new || st_hashmap_add(&f->by_name, hash, (uint32_t)(f->v.n - 1)))
			return UINT32_MAX;
		*new = (struct st_import_function){.image = st_profile_text(f->p, image),
		                                   .name = st_profile_text(f->p, name)};
		found = (uint32_t)(f->v.n - 1);
	}
	if (file && !f->v.v[found].file) {
		f->v.v[found].file = st_profile_text(f->p, file);
		f->v.v[found].line = line;
	}
	return found;
}

uint32_t
st_import_thread(struct st_import_functions *f, const char *name, int64_t tid)
{
	struct st_profile *p = f->p;
	if (!p->processes.n) {
		struct st_profile_process *process = ST_PUSH(&p->processes);
		if (!process)
			return UINT32_MAX;
		*process = (struct st_profile_process){.pid = tid, .command = "", .wall_ns = -1};
	}
	for (size_t i = 0; i < p->threads.n; i++)
		if (p->threads.v[i].tid == tid && !strcmp(p->threads.v[i].name, name))
			return (uint32_t)i;
	struct st_profile_thread *t = ST_PUSH(&p->threads);
	if (!t)
		return UINT32_MAX;
	*t = (struct st_profile_thread){.tid = tid,
	                                .name = st_profile_text(p, name),
	                                .state = THREAD_ENDED,
	                                .begin_ns = -1,
	                                .end_ns = -1};
	return (uint32_t)(p->threads.n - 1);
}

/* The context of a function below another one; UINT32_MAX: no memory. */
static uint32_t
import_context(struct st_import_functions *f, uint32_t thread, uint32_t parent, uint32_t function)
{
	struct st_profile *p = f->p;
	uint64_t above = parent == UINT32_MAX ? ~(uint64_t)thread : parent;
	uint32_t hash = st_hash_numbers(above, function);
	uint32_t found = ST_HASHMAP_FIND(&f->by_place, hash, at,
	                                 p->contexts.v[at].parent == parent &&
	                                         p->contexts.v[at].label == function &&
	                                         p->contexts.v[at].thread == thread);
	if (found != ST_HASHMAP_NONE)
		return found;
	struct st_profile_context *c = ST_PUSH(&p->contexts);
	if (!c || st_hashmap_add(&f->by_place, hash, (uint32_t)(p->contexts.n - 1)))
		return UINT32_MAX;
	*c = (struct st_profile_context){
	        .thread = thread, .parent = parent, .label = function, .link = UINT32_MAX};
	return (uint32_t)(p->contexts.n - 1);
}

/* A function that is on the stack several times counts once. */
static void
count_functions(struct st_import_functions *f, struct st_import_weight weight)
{
	f->stacks++;
	for (size_t i = 0; i < f->stack.n; i++) {
		struct st_import_function *function = &f->v.v[f->stack.v[i]];
		if (function->seen != f->stacks)
			function->samples_total += weight.count;
		function->seen = f->stacks;
	}
	struct st_import_function *own = &f->v.v[f->stack.v[f->stack.n - 1]];
	own->samples += weight.count;
	own->instructions += weight.instructions;
	f->p->run.samples_code += weight.count;
	f->p->run.stacks += weight.count;
}

st_status
st_import_stack(struct st_import_functions *f, uint32_t thread, struct st_import_weight weight)
{
	uint32_t at = UINT32_MAX;
	if (!f->stack.n)
		return ST_OK;
	for (size_t i = 0; i < f->stack.n; i++)
		if ((at = import_context(f, thread, at, f->stack.v[i])) == UINT32_MAX)
			return ST_FAILED;
	f->p->contexts.v[at].count += weight.count;
	f->p->contexts.v[at].self_ns += weight.ns;
	f->p->contexts.v[at].instructions += weight.instructions;
	count_functions(f, weight);
	f->stack.n = 0;
	return ST_OK;
}

/* ---- into the profile ---- */

static int
import_function_order(const void *a, const void *b, void *functions)
{
	const struct st_import_function *v = functions;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int by_image = strcmp(v[i].image, v[j].image);
	return by_image ? by_image : strcmp(v[i].name, v[j].name);
}

/* The image of this path, which is added unless it is the last one. */
static st_status
import_add_image(struct st_profile *p, const char *path)
{
	if (p->images.n && !strcmp(p->images.v[p->images.n - 1].path, path))
		return ST_OK;
	struct st_profile_image *image = ST_PUSH(&p->images);
	if (!image)
		return ST_FAILED;
	*image = (struct st_profile_image){.path = path, .build_id = "", .symbols = "symbols"};
	return ST_OK;
}

static st_status
import_add_function(struct st_profile *p, struct st_import_function *in)
{
	struct st_profile_function *out = ST_PUSH(&p->functions);
	if (!out || import_add_image(p, in->image))
		return ST_FAILED;
	struct st_profile_image *image = &p->images.v[p->images.n - 1];
	in->number = (uint32_t)(p->functions.n - 1);
	*out = (struct st_profile_function){.image = (uint32_t)(p->images.n - 1),
	                                    .line = in->line,
	                                    .offset = PLACE * (uint64_t)p->functions.n,
	                                    .size = PLACE,
	                                    .name = in->name,
	                                    .file = in->file,
	                                    .calls = in->calls,
	                                    .calls_exact = in->calls > 0,
	                                    .instructions = in->instructions,
	                                    .samples = in->samples,
	                                    .samples_total = in->samples_total};
	image->samples += in->samples;
	image->instructions += in->instructions;
	return ST_OK;
}

/* A label for each function, in their order. */
static st_status
import_label(struct st_profile *p, const struct st_profile_function *f, uint32_t number)
{
	struct st_profile_label *l = ST_PUSH(&p->labels);
	if (!l)
		return ST_FAILED;
	*l = (struct st_profile_label){.image = f->image,
	                               .function = number,
	                               .offset = f->offset,
	                               .file = f->file,
	                               .line = f->line,
	                               .next = UINT32_MAX};
	return ST_OK;
}

static st_status
finish_contexts(struct st_import_functions *f)
{
	struct st_profile *p = f->p;
	for (uint32_t i = 0; i < p->functions.n; i++)
		if (import_label(p, &p->functions.v[i], i))
			return ST_FAILED;
	for (size_t i = 0; i < p->contexts.n; i++)
		p->contexts.v[i].label = f->v.v[p->contexts.v[i].label].number;
	st_profile_add_tool(p, "contexts");
	st_profile_add_option(p, 0, "mode", "func");
	st_profile_add_option(p, 0, "k", "inf");
	st_profile_add_option(p, 0, "time", f->timed ? "1" : "0");
	st_profile_add_option(p, 0, "instructions", f->with_instructions ? "1" : "0");
	return ST_OK;
}

st_status
st_import_functions_finish(struct st_import_functions *f)
{
	uint32_t n = (uint32_t)f->v.n, *order = malloc((n + 1) * sizeof *order);
	if (!order)
		return ST_FAILED;
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	if (n)
		qsort_r(order, n, sizeof *order, import_function_order, f->v.v);
	st_status status = ST_OK;
	for (uint32_t i = 0; i < n && !status; i++)
		status = import_add_function(f->p, &f->v.v[order[i]]);
	free(order);
	f->p->run.has_functions = true;
	if (!status && f->p->contexts.n)
		status = finish_contexts(f);
	return status;
}

void
st_import_functions_free(struct st_import_functions *f)
{
	free(f->v.v);
	free(f->stack.v);
	st_hashmap_free(&f->by_name);
	st_hashmap_free(&f->by_place);
}
