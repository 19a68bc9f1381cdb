/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the file of records that the engine has made: docs/annotations-records.md. */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "recording/engine.h"
#include "recording/fields.h"
#include "recording/registers.h"
#include "recording/targets.h"
#include "tools/records.h"

struct engine_writing {
	struct st_engine_recording *r;
	FILE *out;
	double tick_ns;
	struct st_record_classes classes;
};

const struct st_engine_metric st_engine_metrics[ST_ENGINE_METRICS] = {
#define M(id, name, bit) {name, 1u << (bit)},
        ST_RECORD_ENGINE_METRICS(M)
#undef M
};

static const char *
class_under_engine(const void *arg, uint64_t table)
{
	const struct st_engine_recording *r = arg;
	const char *name = NULL;
	for (size_t i = 0; i < r->images.n && !name; i++)
		name = st_image_class_at(r->images.v[i].image, table - r->images.v[i].bias);
	return name;
}

/* ---- records ---- */

/* "1*57" for 57 equal outcomes; ?*3: three that are not known. */
static void
write_run(FILE *out, const struct st_branch_name *name, const struct st_branch_run *run,
          const struct st_engine_branch *b)
{
	uint64_t number = run->outcome;
	if (!b->to && run->order == RECORDS_IN_ORDER)
		for (number = 0; number < name->ways.n; number++)
			if (name->ways.v[number].target == run->outcome)
				break;
	if (run->order == RECORDS_NOT_KNOWN)
		fprintf(out, ",?");
	else
		fprintf(out, ",%" PRIu64, number);
	if (run->times > 1)
		fprintf(out, "*%" PRIu64, run->times);
}

static void
write_branches(const struct engine_writing *w, const struct st_engine_function *f,
               const struct st_branch_names *names, const struct st_engine_record *record)
{
	for (size_t i = 0; i < names->list.n; i++) {
		const struct st_branch_name *name = &names->list.v[i];
		bool ordered = true;
		for (size_t k = 0; k < record->runs.n; k++) {
			const struct st_branch_run *run = &record->runs.v[k];
			if (run->branch != name->branch)
				continue;
			if (ordered && run->order != RECORDS_IN_ORDER)
				fprintf(w->out, ",~");
			ordered = run->order == RECORDS_IN_ORDER;
			write_run(w->out, name, run, &f->branches.v[name->branch]);
		}
		fprintf(w->out, ",#");
	}
}

static void
write_engine_record(struct engine_writing *w, size_t id, const struct st_engine_function *f,
                    const struct st_branch_names *names, const struct st_engine_record *record)
{
	const uint32_t metrics = w->r->request->metrics;
	fprintf(w->out, "%zu", id);
	if (metrics & 1u << ST_RECORD_TIME)
		fprintf(w->out, ",%.2f", (double)record->ticks * w->tick_ns);
	for (size_t i = 0; i < ST_ENGINE_METRICS; i++)
		if (metrics & st_engine_metrics[i].bit)
			fprintf(w->out, ",%" PRIu64, record->counts[i]);
	for (size_t i = 0; i < f->table.features.n; i++) {
		const struct st_feature *feature = &f->table.features.v[i];
		const uint32_t n = st_recorded_values(&f->table, feature->op);
		fputc(',', w->out);
		if (!(record->absent[n / 64] >> n % 64 & 1))
			st_record_value(w->out, &w->classes, feature, f->table.image,
			                record->values[n]);
	}
	write_branches(w, f, names, record);
	fputc('\n', w->out);
}

/* ---- the header ---- */

static void
write_branch_header(FILE *out, size_t id, const struct st_branch_name *name)
{
	fprintf(out, "#branch,%zu,", id);
	st_record_text(out, name->name);
	for (size_t i = 0; i < name->ways.n; i++) {
		fprintf(out, ",%zu,", i);
		st_record_text(out, name->ways.v[i].where);
	}
	fputc('\n', out);
}

static void
write_engine_header(const struct engine_writing *w, size_t id, const struct st_engine_function *f,
                    const struct st_branch_names *names, uint64_t calls, size_t records)
{
	st_record_function(w->out, id, &f->table, w->r->images.v[f->image].path, f->entry);
	if (w->r->request->metrics & 1u << ST_RECORD_TIME)
		fprintf(w->out, "#metric,%zu,time,ns\n", id);
	for (size_t i = 0; i < ST_ENGINE_METRICS; i++)
		if (w->r->request->metrics & st_engine_metrics[i].bit)
			fprintf(w->out, "#metric,%zu,%s\n", id, st_engine_metrics[i].name);
	for (size_t i = 0; i < f->table.features.n; i++)
		st_record_feature(w->out, id, &f->table.features.v[i]);
	for (size_t i = 0; i < names->list.n; i++)
		write_branch_header(w->out, id, &names->list.v[i]);
	fprintf(w->out, "#calls,%zu,%" PRIu64 ",%zu,%" PRIu64 "\n", id, calls, records,
	        f->opened > f->ended ? f->opened - f->ended : 0);
}

/* The complete records of a function in the order of their calls. */
struct engine_records {
	const struct st_engine_record **v;
	size_t n;
};

static int
engine_record_order(const void *a, const void *b)
{
	const struct st_engine_record *x = *(const struct st_engine_record *const *)a,
	                              *y = *(const struct st_engine_record *const *)b;
	return (x->serial > y->serial) - (x->serial < y->serial);
}

static st_status
engine_complete_records(const struct st_engine_function *f, uint32_t keep,
                        struct engine_records *out)
{
	*out = (struct engine_records){0};
	if (!f->records)
		return ST_OK;
	out->v = calloc(keep, sizeof *out->v);
	if (!out->v)
		return ST_FAILED;
	for (uint32_t i = 0; i < keep; i++)
		if (f->records[i].complete)
			out->v[out->n++] = &f->records[i];
	if (out->n)
		qsort(out->v, out->n, sizeof *out->v, engine_record_order);
	return ST_OK;
}

static void
note_engine_function(const struct engine_writing *w, const struct st_engine_function *f,
                     size_t records)
{
	const char *path = w->r->images.v[f->image].path;
	const bool is_named = w->r->request->functions->n != 0;
	if (is_named && !records)
		st_record_note_silent(w->out, f->table.name, path, f->calls != 0);
	if (records && f->bare)
		st_record_note_bare(w->out, f->table.name, path);
}

static st_status
decide_engine_registers(struct st_engine_function *f, const struct engine_records *records)
{
	struct st_registers_seen seen = {0};
	for (size_t i = 0; i < records->n; i++)
		st_registers_see(&seen, records->v[i]->values, records->v[i]->absent);
	return st_registers_decide(&seen, &f->table);
}

/* A process that was killed has not written its number of calls: it is at least the number of the
 * latest record. */
static uint64_t
count_engine_calls(const struct st_engine_function *f, const struct engine_records *records)
{
	uint64_t calls = f->calls;
	for (size_t i = 0; i < records->n; i++)
		if (records->v[i]->serial > calls)
			calls = records->v[i]->serial;
	return calls;
}

static st_status
write_engine_function(struct engine_writing *w, struct st_engine_function *f,
                      struct st_recording_outcome *outcome)
{
	struct st_branch_names names = {0};
	struct engine_records records;
	if (engine_complete_records(f, w->r->request->keep, &records))
		return ST_FAILED;
	const uint64_t calls = count_engine_calls(f, &records);
	note_engine_function(w, f, records.n);
	st_status status = records.n ? st_branch_names_find(w->r, f, &names) : ST_OK;
	if (f->bare && !status)
		status = decide_engine_registers(f, &records);
	if (records.n && !status) {
		const size_t id = ++outcome->functions;
		outcome->records += records.n;
		outcome->calls += calls;
		write_engine_header(w, id, f, &names, calls, records.n);
		for (size_t i = 0; i < records.n; i++)
			write_engine_record(w, id, f, &names, records.v[i]);
	}
	st_branch_names_free(&names);
	free(records.v);
	return status;
}

static st_status
write_engine_process(struct st_engine_recording *r, double tick_ns, FILE *out,
                     struct st_recording_outcome *outcome)
{
	struct engine_writing w = {.r = r,
	                           .out = out,
	                           .tick_ns = tick_ns,
	                           .classes = {.find = class_under_engine, .arg = r}};
	st_status status = ST_OK;
	for (size_t i = 0; i < r->functions.n && !status; i++)
		status = write_engine_function(&w, &r->functions.v[i], outcome);
	free(w.classes.known.v);
	return status;
}

st_status
st_engine_write(const struct st_engine_recordings *all, const struct st_run *run, int64_t start,
                FILE *out, struct st_recording_outcome *outcome)
{
	st_status status = ST_OK;
	st_record_origin(out, all->request->program, start);
	if (all->unfinished > 0)
		st_record_unfinished(out, all->unfinished);
	if (all->request->metrics & 1u << ST_RECORD_TIME)
		st_record_note(out,
		               "the times were measured with instrumented code, which is slower");
	for (size_t i = 0; i < all->processes.n && !status; i++)
		status = write_engine_process(
		        all->processes.v[i], run->tsc_hz > 0 ? 1e9 / run->tsc_hz : 1, out, outcome);
	return status;
}
