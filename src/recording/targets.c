/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the functions that are recorded and describes them to the runtime. */
#include "recording/targets.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "recording/registers.h"

/* ---- memory of the area ---- */

/* Offset / 8; 0: there is no space. A quarter of the area is left for the threads' own cells. */
static uint32_t
take_area(struct st_probes *p, uint64_t bytes)
{
	struct st_probe_area *a = p->process.area;
	const uint64_t most = ST_PROBE_AREA_BYTES / 4 * 3;
	if (bytes > most || a->used > most - bytes)
		return 0;
	return (uint32_t)(__atomic_fetch_add(&a->used, (bytes + 7) & ~7ull, __ATOMIC_RELAXED) / 8);
}

struct st_record_function *
st_recorded_function(const struct st_probes *probes, const struct st_recorded *f)
{
	return f->function ? (void *)((uint64_t *)probes->process.area + f->function) : NULL;
}

uint32_t
st_recorded_values(const struct st_feature_table *t, size_t ops)
{
	uint32_t n = 0;
	for (size_t i = 0; i < ops; i++)
		n += t->ops.v[i].kept;
	return n;
}

/* Adds the load bias to link-time addresses. */
static void
write_ops(struct st_record_function *to, const struct st_feature_table *t, uint64_t bias)
{
	for (size_t i = 0; i < t->ops.n; i++) {
		to->ops[i] = t->ops.v[i];
		if (to->ops[i].kind == ST_RECORD_CONSTANT && to->ops[i].is_signed)
			to->ops[i].extra += bias;
	}
}

/* Does the runtime make a system call before the function is entered? */
static bool
asks_kernel(const struct st_record_function *r)
{
	bool reads = r->metrics & (ST_RECORD_USAGE | ST_RECORD_IO | 1u << ST_RECORD_CPU);
	for (uint32_t i = 0; i < r->n_ops; i++)
		reads |= r->ops[i].kind == ST_RECORD_LOAD || r->ops[i].kind == ST_RECORD_STACK ||
		         r->ops[i].kind == ST_RECORD_LENGTH || r->ops[i].kind == ST_RECORD_SUM ||
		         r->ops[i].kind == ST_RECORD_MACHINE;
	return reads;
}

uint32_t
st_recorded_callee_words(const struct st_recording_request *r)
{
	return r->metrics & ST_RECORD_CALLEES
	               ? 1 + (uint32_t)__builtin_popcount(r->metrics & ST_RECORD_OF_CALLEES)
	               : 0;
}

/* Returns the size, divided by 8, of a row with this number of values. */
static uint32_t
words_of_row(const struct st_recording_request *r, uint32_t values)
{
	const uint32_t callee = st_recorded_callee_words(r);
	return (uint32_t)(sizeof(struct st_record_row) / 8) + values +
	       (callee ? (ST_RECORD_MOST_NAMED + 1) * callee + ST_RECORD_METRIC_COUNT : 0);
}

/* Begins to read the state of the machine if it is among the features. A process without recorded
 * functions, such as a shell, needs no thread that reads it. */
static void
watch_machine_of(struct st_recording_targets *t)
{
	if (!t->request->limits.machine || t->machine)
		return;
	t->machine = take_area(t->probes, sizeof(struct st_machine));
	if (t->machine)
		st_machine_watch_begin(
		        &t->watch,
		        (struct st_machine *)((uint64_t *)t->probes->process.area + t->machine));
}

static void
describe_to_runtime(struct st_recording_targets *t, struct st_recorded *f, uint64_t bias)
{
	const struct st_recording_request *r = t->request;
	const uint32_t n = st_recorded_values(&f->table, f->table.ops.n),
	               callee_words = st_recorded_callee_words(r),
	               callees_at = (uint32_t)(sizeof(struct st_record_row) / 8) + n,
	               words = words_of_row(r, n);
	const uint32_t rows = take_area(t->probes, (uint64_t)t->keep * words * 8);
	f->function = rows ? take_area(t->probes, sizeof(struct st_record_function)) : 0;
	watch_machine_of(t);
	struct st_record_function *to = st_recorded_function(t->probes, f);
	if (!to) {
		t->crowded++;
		return;
	}
	*to = (struct st_record_function){.seed = (r->seed + f->entry) * 0x9e3779b97f4a7c15u,
	                                  .keep = t->keep,
	                                  .metrics = r->metrics,
	                                  .again = r->twice,
	                                  .machine = t->machine,
	                                  .present = 16,
	                                  .n_ops = (uint32_t)f->table.ops.n,
	                                  .n_kept = n,
	                                  .rows = rows,
	                                  .row_words = words,
	                                  .callees_at = callees_at,
	                                  .callee_words = callee_words};
	write_ops(to, &f->table, bias);
	if (asks_kernel(to))
		to->cost_within = t->probes->process.cost_reading;
}

/* ---- functions by name ---- */

static void
find_allocating(struct st_recording_targets *t, const struct st_probed_image *image)
{
	struct st_alloc_area *a = st_mem_area(t->probes);
	if (a)
		a->without_callers = 1;
	st_mem_mapped(&t->mem, image);
}

/* ---- targets ---- */

static bool
is_program_itself(const struct st_recording_targets *t, const struct st_probed_image *image)
{
	return image == &t->probes->images.v[0];
}

static bool
is_image_chosen(const struct st_recording_targets *t, const struct st_probed_image *image)
{
	struct st_region region = {.images = *t->request->images};
	if (!t->request->functions->n && !t->request->images->n)
		return is_program_itself(t, image);
	return st_region_chooses_image(&region, image->path);
}

st_status
st_recorded_features(struct st_feature_table *table, bool *bare, struct st_image *image,
                     uint64_t entry, const struct st_feature_limits *limits)
{
	struct st_error ignored;
	*bare = false;
	if (!st_features_find(table, image, entry, limits, &ignored))
		return ST_OK;
	st_features_free(table);
	*bare = true;
	if (st_registers_find(table, image, entry))
		return ST_FAILED;
	return limits->machine ? st_features_add_machine(table) : ST_OK;
}

static void
add_recorded(struct st_recording_targets *t, const struct st_probed_image *image, uint64_t entry)
{
	struct st_recorded *f = ST_PUSH(&t->list);
	if (!f) {
		t->no_memory = true;
		return;
	}
	f->image = (uint32_t)(image - t->probes->images.v);
	f->entry = entry;
	t->no_memory |= st_recorded_features(&f->table, &f->bare, image->image, entry,
	                                     &t->request->limits) != ST_OK;
	describe_to_runtime(t, f, image->bias);
}

/* Gives each of many functions fewer rows, so that the area has space for all of them. */
static void
share_rows(struct st_recording_targets *t, size_t n)
{
	const uint64_t share = ST_PROBE_AREA_BYTES / 2 / (n + 1),
	               most = share / (8ull * words_of_row(t->request, t->request->limits.most +
	                                                                       ST_MACHINE_COUNT));
	t->keep = t->request->keep < most ? t->request->keep : (uint32_t)most;
}

/* The targets of a process, made when it is first seen. NULL: no memory. */
static struct st_recording_targets *
targets_of_process(struct st_recording *r, struct st_probes *probes)
{
	for (size_t i = 0; i < r->processes.n; i++)
		if (r->processes.v[i]->probes == probes)
			return r->processes.v[i];
	struct st_recording_targets *t = calloc(1, sizeof *t), **slot = NULL;
	if (t && !st_recording_targets_begin(t, r->request, probes))
		slot = ST_PUSH(&r->processes);
	if (slot)
		return *slot = t;
	if (t)
		st_recording_targets_free(t);
	free(t);
	r->no_memory = true;
	return NULL;
}

static void
add_targets_of_image(struct st_recording_targets *t, const struct st_probed_image *image)
{
	const struct st_patterns *patterns = t->request->functions;
	struct st_targets found = {0};
	t->current = t->list.n;
	if (t->request->metrics & ST_RECORD_HEAP)
		find_allocating(t, image);
	st_recording_find_waiting(t, image->image);
	if (!is_image_chosen(t, image))
		return;
	for (size_t i = 0; i < patterns->n; i++) {
		const size_t before = found.entries.n;
		t->no_memory |= st_targets_find(&found, image->image, patterns->text[i]) != ST_OK;
		t->matched[i] += found.entries.n - before;
	}
	if (!patterns->n)
		t->no_memory |= st_targets_find(&found, image->image, "*") != ST_OK;
	share_rows(t, t->list.n + found.entries.n);
	for (size_t i = 0; i < found.entries.n; i++)
		add_recorded(t, image, found.entries.v[i]);
	st_targets_free(&found);
}

void
st_recording_mapped(void *recording, const struct st_probed_image *image)
{
	struct st_recording_targets *t = targets_of_process(recording, image->probes);
	if (t)
		add_targets_of_image(t, image);
}

struct st_probe_action
st_recording_choose(void *recording, const struct st_probed_image *image,
                    const struct st_function *f)
{
	struct st_recording_targets *t = targets_of_process(recording, image->probes);
	if (!t)
		return (struct st_probe_action){0};
	for (size_t low = t->current, high = t->list.n; low < high;) {
		const size_t middle = low + (high - low) / 2;
		const struct st_recorded *r = &t->list.v[middle];
		if (r->entry == f->offset)
			return (struct st_probe_action){
			        r->function ? ST_PROBE_RECORD : ST_PROBE_NOTHING, r->function};
		if (r->entry < f->offset)
			low = middle + 1;
		else
			high = middle;
	}
	const struct st_probe_action waits = st_recording_choose_waiting(t, f->offset);
	return waits.kind ? waits : st_mem_choose(&t->mem, image, f);
}

st_status
st_recording_targets_begin(struct st_recording_targets *t, const struct st_recording_request *r,
                           struct st_probes *probes)
{
	*t = (struct st_recording_targets){.request = r, .probes = probes, .keep = r->keep};
	t->mem.probes = probes;
	t->matched = calloc(r->functions->n + 1, sizeof *t->matched);
	return t->matched ? ST_OK : ST_FAILED;
}

void
st_recording_targets_free(struct st_recording_targets *t)
{
	st_machine_watch_end(&t->watch);
	for (size_t i = 0; i < t->list.n; i++)
		st_features_free(&t->list.v[i].table);
	st_mem_images_free(&t->mem);
	free(t->list.v);
	free(t->waiting.v);
	free(t->matched);
}

void
st_recording_free(struct st_recording *r)
{
	for (size_t i = 0; i < r->processes.n; i++) {
		st_recording_targets_free(r->processes.v[i]);
		free(r->processes.v[i]);
	}
	free(r->processes.v);
}
