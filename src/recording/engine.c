/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a program under the engine and receives the parts of records. */
#include "recording/engine.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/text.h"
#include "features/targets.h"
#include "recording/save.h"
#include "recording/silence.h"
#include "recording/targets.h"
#include "session/toolset.h"
#include "tools/records.h"

/* ---- functions ---- */

static bool
engine_chooses_image(const struct st_engine_recording *r, const char *path)
{
	struct st_region region = {.images = *r->request->images};
	if (!r->request->functions->n && !r->request->images->n)
		return !r->images.n; /* the program itself comes first */
	return st_region_chooses_image(&region, path);
}

/* The operations of a function for the tool, with addresses of the process. */
static struct st_record_plan *
engine_plan(const struct st_engine_recording *r, const struct st_engine_function *f, uint64_t bias,
            size_t *bytes)
{
	const size_t n = f->table.ops.n;
	*bytes = sizeof(struct st_record_plan) + n * sizeof(struct st_record_op);
	struct st_record_plan *p = calloc(1, *bytes);
	if (!p)
		return NULL;
	*p = (struct st_record_plan){.seed = (r->request->seed + f->entry) * 0x9e3779b97f4a7c15u,
	                             .index = (uint32_t)r->functions.n - 1,
	                             .keep = r->request->keep,
	                             .n_ops = (uint32_t)n,
	                             .n_kept = f->n_kept};
	for (size_t i = 0; i < n; i++) {
		p->ops[i] = f->table.ops.v[i];
		if (p->ops[i].kind == ST_RECORD_CONSTANT && p->ops[i].is_signed)
			p->ops[i].extra += bias;
	}
	return p;
}

static bool
engine_add_function(struct st_engine_recording *r, struct st_results_header *results,
                    const struct st_function *about, uint16_t map)
{
	const struct st_engine_image *image = &r->images.v[r->images.n - 1];
	struct st_engine_function *f = ST_PUSH(&r->functions);
	if (!f)
		return false;
	f->image = (uint32_t)r->images.n - 1;
	f->entry = about->offset;
	if (st_recorded_features(&f->table, &f->bare, image->image, f->entry, &r->request->limits))
		return false;
	f->n_kept = st_recorded_values(&f->table, f->table.ops.n);
	size_t bytes;
	struct st_record_plan *plan = engine_plan(r, f, image->bias, &bytes);
	if (!plan)
		return false;
	const struct st_entry entry = {.start = about->offset + image->bias,
	                               .end = about->offset + about->size + image->bias,
	                               .whole = about->offset + image->bias,
	                               .map = map,
	                               .what = ST_ENTRY_TOOL};
	st_results_add_entry_data(results, &entry, f->table.name, plan, bytes);
	free(plan);
	return true;
}

/* Code of the function that the compiler put elsewhere. */
static void
engine_add_parts(struct st_image *image, struct st_results_header *results,
                 const struct st_function *f, uint64_t bias, uint16_t map)
{
	enum { MOST_PARTS = 16 };
	const struct st_function *parts[MOST_PARTS];
	const size_t n = st_image_parts(image, f, parts, MOST_PARTS);
	for (size_t i = 0; i < n && i < MOST_PARTS; i++) {
		const struct st_entry part = {.start = parts[i]->offset + bias,
		                              .end = parts[i]->offset + parts[i]->size + bias,
		                              .whole = f->offset + bias,
		                              .map = map,
		                              .what = ST_ENTRY_PART};
		st_results_add_entry(results, &part, "");
	}
}

static st_status
engine_add_targets(struct st_engine_recording *r, struct st_results_header *results, uint16_t map)
{
	const struct st_patterns *patterns = r->request->functions;
	const struct st_engine_image *image = &r->images.v[r->images.n - 1];
	struct st_targets found = {0};
	st_status status = ST_OK;
	for (size_t i = 0; i < patterns->n && !status; i++) {
		const size_t before = found.entries.n;
		status = st_targets_find(&found, image->image, patterns->text[i]);
		r->matched[i] += found.entries.n - before;
	}
	if (!patterns->n)
		status = st_targets_find(&found, image->image, "*");
	for (size_t i = 0; i < found.entries.n && !status; i++) {
		const struct st_function *f = st_image_function(image->image, found.entries.v[i]);
		if (!f || f->offset != found.entries.v[i])
			continue;
		if (!engine_add_function(r, results, f, map))
			status = ST_FAILED;
		engine_add_parts(image->image, results, f, image->bias, map);
	}
	st_targets_free(&found);
	return status;
}

/* ---- processes ---- */

/* NULL: the process is not recorded. */
static struct st_engine_recording *
engine_recording_of(const struct st_engine_recordings *all, const void *results)
{
	for (size_t i = 0; i < all->processes.n; i++)
		if (all->processes.v[i]->process == results)
			return all->processes.v[i];
	return NULL;
}

static struct st_engine_recording *
engine_add_process(struct st_engine_recordings *all, const void *results)
{
	struct st_engine_recording *r = calloc(1, sizeof *r), **slot = NULL;
	size_t *matched = calloc(all->request->functions->n + 1, sizeof *matched);
	if (r && matched)
		slot = ST_PUSH(&all->processes);
	if (!slot) {
		free(r);
		free(matched);
		all->no_memory = true;
		return NULL;
	}
	*r = (struct st_engine_recording){
	        .request = all->request, .matched = matched, .process = results};
	*slot = r;
	return r;
}

static void
engine_add_image(struct st_engine_recordings *all, struct st_results_header *results,
                 uint32_t index)
{
	struct st_engine_recording *r = engine_recording_of(all, results);
	struct st_map map;
	char path[PATH_MAX];
	struct st_error ignored;
	if (!r)
		r = engine_add_process(all, results);
	if (!r || !st_results_copy_map(results, index, &map) || !map.path ||
	    !*st_results_copy_text(results, map.path, path, sizeof path))
		return;
	const bool chosen = engine_chooses_image(r, path);
	struct st_image *image = st_image_open(path, &ignored);
	const uint64_t linked = image ? st_image_offset_of_code(image, map.pgoff) : UINT64_MAX;
	struct st_engine_image *to = linked != UINT64_MAX ? ST_PUSH(&r->images) : NULL;
	if (!to) {
		st_image_close(image);
		return;
	}
	*to = (struct st_engine_image){strdup(path), image, map.start - linked};
	r->no_memory |=
	        !to->path || (chosen && engine_add_targets(r, results, (uint16_t)index) != ST_OK);
}

static void
engine_on_image(void *arg, struct st_results_header *results, uint32_t index)
{
	struct st_engine_recordings *all = arg;
	pthread_mutex_lock(&all->lock);
	engine_add_image(all, results, index);
	pthread_mutex_unlock(&all->lock);
}

/* ---- parts of records; the program could write to them ---- */

static void
engine_record_free(struct st_engine_record *record)
{
	free(record->values);
	free(record->runs.v);
	*record = (struct st_engine_record){0};
}

/* The record of a thread of which parts come. NULL: there is no memory. */
static struct st_engine_pending *
engine_pending(struct st_engine_recording *r, uint32_t thread, uint32_t function, uint64_t serial)
{
	while (r->pending.n <= thread)
		if (!ST_PUSH(&r->pending))
			return NULL;
	struct st_engine_pending *p = &r->pending.v[thread];
	if (p->used && p->function == function && p->record.serial == serial)
		return p;
	engine_record_free(&p->record);
	*p = (struct st_engine_pending){.used = true, .function = function};
	p->record.serial = serial;
	const uint32_t n = r->functions.v[function].n_kept;
	p->record.values = calloc(n + n / 64 + 1, sizeof *p->record.values);
	p->record.absent = p->record.values ? p->record.values + n : NULL;
	return p->record.values ? p : NULL;
}

static void
engine_take_values(const struct st_engine_function *f, struct st_engine_record *record,
                   const uint64_t *v)
{
	for (uint64_t i = 0; i < RECORDS_VALUES && v[3] < f->n_kept && v[3] + i < f->n_kept; i++) {
		const uint64_t at = v[3] + i;
		record->values[at] = v[5 + i];
		record->absent[at / 64] |= (v[4] >> i & 1) << at % 64;
	}
}

static bool
engine_take_outcome(struct st_engine_function *f, struct st_engine_record *record,
                    const uint64_t *v)
{
	uint32_t i = 0;
	while (i < f->branches.n && f->branches.v[i].address != v[3])
		i++;
	if (i == RECORDS_MOST_BRANCHES)
		return true;
	if (i == f->branches.n) {
		struct st_engine_branch *b = ST_PUSH(&f->branches);
		if (!b)
			return false;
		*b = (struct st_engine_branch){v[3], v[4], v[5]};
	}
	struct st_branch_run *run = ST_PUSH(&record->runs);
	if (!run)
		return false;
	*run = (struct st_branch_run){i, (uint32_t)v[8], v[6], v[7]};
	return true;
}

static bool
engine_take_end(struct st_engine_recording *r, struct st_engine_pending *p, const uint64_t *v)
{
	struct st_engine_function *f = &r->functions.v[p->function];
	if (!f->records) /* few of many functions are called */
		f->records = calloc(r->request->keep, sizeof *f->records);
	if (!f->records)
		return false;
	if (v[3] < r->request->keep && f->records[v[3]].serial <= p->record.serial) {
		engine_record_free(&f->records[v[3]]);
		f->records[v[3]] = p->record;
		f->records[v[3]].ticks = v[4];
		f->records[v[3]].counts[0] = v[5];
		f->records[v[3]].counts[1] = v[7];
		f->records[v[3]].counts[2] = v[8];
		f->records[v[3]].tid = (uint32_t)v[6];
		f->records[v[3]].complete = true;
		p->record = (struct st_engine_record){0};
	}
	p->used = false;
	return true;
}

static void
engine_take_row(struct st_engine_recording *r, uint32_t thread, const uint64_t *v)
{
	if (v[1] >= r->functions.n)
		return;
	struct st_engine_function *f = &r->functions.v[v[1]];
	if (v[0] == RECORDS_PART_TOTALS) {
		f->calls = v[3];
		f->opened = v[4];
		f->ended = v[5];
		return;
	}
	struct st_engine_pending *p = engine_pending(r, thread, (uint32_t)v[1], v[2]);
	if (!p) {
		r->no_memory = true;
		return;
	}
	if (v[0] == RECORDS_PART_VALUES)
		engine_take_values(f, &p->record, v);
	else if (v[0] == RECORDS_PART_OUTCOME)
		r->no_memory |= !engine_take_outcome(f, &p->record, v);
	else if (v[0] == RECORDS_PART_END)
		r->no_memory |= !engine_take_end(r, p, v);
}

static void
engine_begin_rows(void *arg, const struct st_results_header *results, size_t size)
{
	(void)arg, (void)results, (void)size;
}

/* Another process may have its results at this address from now on. */
static void
engine_end_rows(void *arg, const struct st_results_header *results)
{
	struct st_engine_recordings *all = arg;
	pthread_mutex_lock(&all->lock);
	struct st_engine_recording *r = engine_recording_of(all, results);
	if (r)
		r->process = NULL;
	pthread_mutex_unlock(&all->lock);
}

static void
engine_take_chunk(struct st_engine_recordings *all, const struct st_results_header *results,
                  const struct st_row_chunk *chunk)
{
	struct st_engine_recording *r = engine_recording_of(all, results);
	const uint64_t *at = chunk->rows, *end = at + chunk->bytes / sizeof *at;
	if (!r || chunk->thread >= ST_MAX_THREADS)
		return;
	while (at < end) {
		const uint64_t n = *at & 15;
		if (n > (uint64_t)(end - at) - 1)
			return;
		if (n == STROBE_MOST_COLUMNS)
			engine_take_row(r, chunk->thread, at + 1);
		at += 1 + n;
	}
}

/* ---- the run ---- */

static bool
engine_is_matched(const struct st_engine_recordings *all, size_t pattern)
{
	for (size_t i = 0; i < all->processes.n; i++)
		if (all->processes.v[i]->matched[pattern])
			return true;
	return false;
}

static st_status
engine_complain_of_pattern(const struct st_engine_recordings *all, const char *pattern,
                           struct st_error *e)
{
	struct st_inlined_note note = {0};
	for (size_t i = 0; i < all->processes.n; i++)
		for (size_t k = 0; k < all->processes.v[i]->images.n; k++)
			st_inlined_note_take(&note, all->processes.v[i]->images.v[k].image,
			                     pattern);
	return st_targets_missing(&note, all->request->program[0], pattern, e);
}

static struct st_program_end
engine_end(const struct st_engine_recordings *all, const struct st_run *run)
{
	if (all->request->pid || !run->n_processes)
		return (struct st_program_end){0};
	return (struct st_program_end){run->exit_code, st_run_last(run)->signal};
}

static st_status
engine_complain(const struct st_engine_recordings *all, const struct st_run *run, FILE *out,
                struct st_error *e)
{
	const struct st_patterns *patterns = all->request->functions;
	struct st_silence silence = {.end = engine_end(all, run)};
	for (size_t i = 0; i < patterns->n; i++)
		if (!engine_is_matched(all, i))
			return engine_complain_of_pattern(all, patterns->text[i], e);
	for (size_t i = 0; i < all->processes.n; i++) {
		const struct st_engine_recording *r = all->processes.v[i];
		silence.functions += r->functions.n;
		for (size_t k = 0; k < r->functions.n; k++) {
			if (!silence.function)
				silence.function = r->functions.v[k].table.name;
			silence.calls += r->functions.v[k].calls;
		}
	}
	if (!silence.function)
		silence.function = "a function with a name";
	return st_silence_explain(all->request, &silence, out, e);
}

struct engine_result {
	const struct st_engine_recordings *all;
	const struct st_run *run;
};

static st_status
engine_write_records(const void *arg, FILE *out, struct st_recording_outcome *outcome,
                     struct st_error *e)
{
	const struct engine_result *r = arg;
	bool no_memory = r->all->no_memory;
	for (size_t i = 0; i < r->all->processes.n; i++)
		no_memory |= r->all->processes.v[i]->no_memory;
	if (no_memory || st_engine_write(r->all, r->run, r->all->started, out, outcome))
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the records");
	for (size_t i = 0; i < r->all->request->functions->n; i++)
		r->all->request->functions->matched[i] += engine_is_matched(r->all, i);
	if (outcome->records)
		return ST_OK;
	return e ? engine_complain(r->all, r->run, out, e)
	         : ST_FAILED; /* finding the cause takes time */
}

/* Writes what has been recorded so far, so that it is not lost if strobe is killed. */
static void
engine_save_so_far(struct st_engine_recordings *all)
{
	if (!st_recording_interim_due(&all->interim))
		return;
	const struct st_run run = {.tsc_hz = st_moments_frequency(all->begin, st_moment_now())};
	const struct engine_result so_far = {all, &run};
	all->unfinished = st_now_raw() - all->interim.begin;
	(void)st_recording_interim_save(&all->interim, all->request->output, engine_write_records,
	                                &so_far);
	all->unfinished = 0;
}

static void
engine_take_rows(void *arg, const struct st_results_header *results,
                 const struct st_row_chunk *chunk)
{
	struct st_engine_recordings *all = arg;
	pthread_mutex_lock(&all->lock);
	engine_take_chunk(all, results, chunk);
	engine_save_so_far(all);
	pthread_mutex_unlock(&all->lock);
}

static st_status
engine_execute(struct st_engine_recordings *all, const struct st_toolset *tools, struct st_run *run,
               struct st_error *e)
{
	const struct st_recording_request *r = all->request;
	const struct st_row_sink sink = {engine_begin_rows, engine_take_rows, engine_end_rows, all};
	const struct st_run_options options = {
	        .argv = r->pid ? NULL : r->program,
	        .tools = tools->tools,
	        .n_tools = tools->n,
	        .follow = r->follow,
	        .follow_exec = !r->pid,
	        .own_group = r->own_group,
	        .rows = &sink,
	        .on_image = engine_on_image,
	        .image_arg = all,
	        .length = r->pid ? 0 : r->seconds,
	        .region_by = !r->pid && r->seconds > 0 ? ST_REGION_BY_CONTROLLER : 0};
	return r->pid ? st_attach_process(r->pid, r->seconds, &options, run, e)
	              : st_run_program(&options, run, e);
}

static st_status
engine_run(struct st_engine_recordings *all, const struct st_toolset *tools,
           struct st_recording_outcome *outcome, struct st_error *e)
{
	struct st_run run = {0};
	struct timespec start;
	clock_gettime(CLOCK_REALTIME, &start);
	all->started = (int64_t)start.tv_sec;
	all->begin = st_moment_now();
	if (engine_execute(all, tools, &run, e))
		return ST_FAILED;
	outcome->pid = run.n_processes ? run.processes[0].pid : 0;
	outcome->exit_code = all->request->pid ? 0 : run.exit_code;
	const struct engine_result result = {all, &run};
	const st_status status =
	        st_recording_save(all->request->output, engine_write_records, &result, outcome, e);
	st_run_free(&run);
	return status;
}

static void
engine_free(struct st_engine_recording *r)
{
	for (size_t i = 0; i < r->functions.n; i++) {
		struct st_engine_function *f = &r->functions.v[i];
		for (uint32_t k = 0; f->records && k < r->request->keep; k++)
			engine_record_free(&f->records[k]);
		free(f->records);
		free(f->branches.v);
		st_features_free(&f->table);
	}
	for (size_t i = 0; i < r->images.n; i++) {
		free(r->images.v[i].path);
		st_image_close(r->images.v[i].image);
	}
	for (size_t i = 0; i < r->pending.n; i++)
		engine_record_free(&r->pending.v[i].record);
	free(r->functions.v);
	free(r->images.v);
	free(r->pending.v);
	free(r->matched);
	free(r);
}

st_status
st_engine_record(const struct st_recording_request *request, struct st_recording_outcome *outcome,
                 struct st_error *e)
{
	struct st_engine_recordings all = {.request = request, .lock = PTHREAD_MUTEX_INITIALIZER};
	const struct st_tool_setting settings[] = {
	        {"branches", request->metrics & ST_RECORD_BRANCHES ? "1" : "0"},
	        {"blocks", request->metrics & ST_RECORD_BLOCKS ? "1" : "0"}};
	struct st_toolset tools = {0};
	st_status status =
	        st_toolset_use(&tools, "records", settings, sizeof settings / sizeof *settings, e);
	if (!status)
		status = engine_run(&all, &tools, outcome, e);
	for (size_t i = 0; i < all.processes.n; i++)
		engine_free(all.processes.v[i]);
	free(all.processes.v);
	st_toolset_free(&tools);
	return status;
}
