/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the file of records: docs/annotations-records.md. The process could write to the area, so
 * offsets in it are checked against the bounds of the area. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/frequency.h"
#include "base/number.h"
#include "recording/callees.h"
#include "recording/fields.h"
#include "recording/registers.h"

struct writing {
	const struct st_recording_targets *t;
	FILE *out;
	double tick_ns;
	bool locks_unknown; /* functions of locks were not observed */
	bool unfinished;    /* calls are made meanwhile */
	struct st_record_classes classes;
};

static const char *
class_in_process(const void *probes, uint64_t table)
{
	const struct st_probes *p = probes;
	const char *name = NULL;
	for (size_t i = 0; i < p->images.n && !name; i++)
		if (p->images.v[i].image)
			name = st_image_class_at(p->images.v[i].image, table - p->images.v[i].bias);
	return name;
}

/* ---- metrics ---- */

static const struct {
	const char *name, *unit;
} metrics[] = {
#define M(id, name, unit, what) {name, unit},
        ST_RECORD_METRICS(M)
#undef M
};

static bool
is_in_ticks(unsigned metric)
{
	return metric == ST_RECORD_TIME || metric == ST_RECORD_LOCK_WAIT ||
	       metric == ST_RECORD_CONDITION_WAIT || metric == ST_RECORD_LOCK_HELD;
}

/* value: time in ticks, or a number. */
static void
write_record_cost(const struct writing *w, unsigned metric, int64_t value)
{
	if (value == ST_RECORD_ABSENT || (metric == ST_RECORD_LOCK_HELD && w->locks_unknown))
		fputc(',', w->out);
	else if (is_in_ticks(metric))
		fprintf(w->out, ",%.2f", (double)value * w->tick_ns);
	else
		fprintf(w->out, ",%" PRId64, value);
}

static void
write_metric(const struct writing *w, unsigned metric, const struct st_record_row *row)
{
	if (metric == ST_RECORD_CPU)
		fprintf(w->out, ",%.2f",
		        (double)row->metrics[metric] - w->t->probes->process.cost_clock_left -
		                (double)(int64_t)row->spent / 256 * w->tick_ns);
	else
		write_record_cost(w, metric, row->metrics[metric]);
}

static void
write_callees(const struct writing *w, const struct st_callee_columns *c,
              const struct st_record_row *row)
{
	for (size_t i = 0; i < c->list.n; i++) {
		const struct st_callee_column *column = &c->list.v[i];
		const int64_t value = ((const int64_t *)row)[column->at];
		if (column->calls)
			fprintf(w->out, ",%" PRId64, value);
		else
			write_record_cost(w, column->metric, value);
	}
}

/* ---- rows ---- */

/* The rows of calls that have returned, in the order in which these began. */
struct rows {
	const struct st_record_row **v;
	size_t n;
	uint64_t open;    /* calls that have not returned */
	uint64_t *copies; /* of rows, which the program may change; NULL: it has ended */
};

static void
rows_free(struct rows *rows)
{
	free(rows->v);
	free(rows->copies);
}

/* Copies a row that was done after its serial was read. NULL: the program has begun to write
 * another call to it before all of it was copied. */
static const struct st_record_row *
copy_row(struct rows *rows, const struct st_record_row *row, uint32_t words, uint64_t serial)
{
	uint64_t *to = rows->copies + rows->n * words;
	const struct st_record_row *copy = (const void *)to;
	const volatile uint64_t *from = (const volatile void *)row;
	for (uint32_t i = 0; i < words; i++)
		to[i] = from[i];
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	const bool same = __atomic_load_n(&row->state, __ATOMIC_ACQUIRE) == ST_RECORD_DONE &&
	                  __atomic_load_n(&row->serial, __ATOMIC_RELAXED) == serial;
	return same ? copy : NULL;
}

static int
by_serial(const void *a, const void *b)
{
	const struct st_record_row *x = *(const struct st_record_row *const *)a,
	                           *y = *(const struct st_record_row *const *)b;
	return (x->serial > y->serial) - (x->serial < y->serial);
}

/* Begins the list of a function's rows. v: NULL: no memory. */
static struct rows
rows_begin(const struct writing *w, uint64_t most, uint32_t row_words)
{
	struct rows rows = {.v = calloc(most + 1, sizeof *rows.v)};
	if (rows.v && w->unfinished)
		rows.copies = calloc(most + 1, row_words * sizeof *rows.copies);
	if (w->unfinished && !rows.copies) {
		free(rows.v);
		rows.v = NULL;
	}
	return rows;
}

static struct rows
rows_that_are_done(const struct writing *w, const struct st_record_function *r, uint32_t n_kept)
{
	const struct st_recording_targets *t = w->t;
	const uint64_t words = ST_PROBE_AREA_BYTES / 8;
	const uint32_t keep = r->keep < t->request->keep ? r->keep : t->request->keep,
	               row_words = r->row_words, first = r->rows;
	const uint64_t calls = r->calls, most = calls < keep ? calls : keep;
	const bool fits = first + most * row_words <= words &&
	                  row_words >= sizeof(struct st_record_row) / 8 + n_kept +
	                                       (ST_RECORD_MOST_NAMED + 1) *
	                                               st_recorded_callee_words(t->request);
	struct rows rows = rows_begin(w, fits ? most : 0, row_words);
	for (uint64_t i = 0; rows.v && fits && i < most; i++) {
		const struct st_record_row *row =
		        (const void *)((uint64_t *)t->probes->process.area + first + i * row_words);
		const uint64_t serial = __atomic_load_n(&row->serial, __ATOMIC_ACQUIRE);
		const uint32_t state = __atomic_load_n(&row->state, __ATOMIC_ACQUIRE);
		rows.open += state == ST_RECORD_OPEN || state == ST_RECORD_BUSY;
		if (state == ST_RECORD_DONE && w->unfinished)
			row = copy_row(&rows, row, row_words, serial);
		if (state == ST_RECORD_DONE && row)
			rows.v[rows.n++] = row;
	}
	if (rows.n)
		qsort(rows.v, rows.n, sizeof *rows.v, by_serial);
	return rows;
}

static void
write_row(struct writing *w, size_t id, const struct st_recorded *f, const uint32_t *ordinals,
          const struct st_callee_columns *callees, const struct st_record_row *row)
{
	fprintf(w->out, "%zu", id);
	for (unsigned m = 0; m < ST_RECORD_METRIC_COUNT; m++)
		if (w->t->request->metrics >> m & 1)
			write_metric(w, m, row);
	write_callees(w, callees, row);
	for (size_t i = 0; i < f->table.features.n; i++) {
		const uint32_t n = ordinals[i];
		fputc(',', w->out);
		if (!(row->absent[n / 64] >> n % 64 & 1))
			st_record_value(w->out, &w->classes, &f->table.features.v[i],
			                f->table.image, row->values[n]);
	}
	fputc('\n', w->out);
}

/* ---- the header ---- */

static void
write_metrics(const struct writing *w, size_t id, const struct st_callee_columns *callees)
{
	for (unsigned m = 0; m < ST_RECORD_METRIC_COUNT; m++)
		if (w->t->request->metrics >> m & 1)
			fprintf(w->out, "#metric,%zu,%s%s%s\n", id, metrics[m].name,
			        *metrics[m].unit ? "," : "", metrics[m].unit);
	for (size_t i = 0; i < callees->list.n; i++) {
		const struct st_callee_column *c = &callees->list.v[i];
		fprintf(w->out, "#metric,%zu,%s,%s,%s,", id, c->name,
		        c->calls ? "" : metrics[c->metric].unit,
		        c->calls ? "calls" : metrics[c->metric].name);
		st_record_text(w->out, c->callee);
		fputc('\n', w->out);
	}
}

/* Writes the mean time of the loop. One that was interrupted counts at most four times the least.
 */
static void
write_pace(const struct writing *w, size_t id, const struct st_record_function *r)
{
	enum { LONGEST = 4 };
	const uint32_t n = r->paces < ST_RECORD_PACES ? r->paces : ST_RECORD_PACES;
	uint32_t least = UINT32_MAX;
	double sum = 0;
	for (uint32_t i = 0; i < n; i++)
		least = r->pace[i] < least ? r->pace[i] : least;
	for (uint32_t i = 0; i < n; i++)
		sum += fmin(r->pace[i], LONGEST * (double)least);
	if (n)
		fprintf(w->out, "#pace,%zu,%.2f,%" PRIu32 "\n", id, sum / n * w->tick_ns, n);
}

static void
write_record_header(struct writing *w, size_t id, const struct st_recorded *f,
                    const struct st_callee_columns *callees, const struct rows *rows)
{
	const struct st_record_function *r = st_recorded_function(w->t->probes, f);
	const struct st_probing *process = &w->t->probes->process;
	st_record_function(w->out, id, &f->table, w->t->probes->images.v[f->image].path, f->entry);
	write_metrics(w, id, callees);
	for (size_t i = 0; i < f->table.features.n; i++)
		st_record_feature(w->out, id, &f->table.features.v[i]);
	fprintf(w->out, "#calls,%zu,%" PRIu64 ",%zu,%" PRIu64 "\n", id, r->calls, rows->n,
	        rows->open);
	write_pace(w, id, r);
	if (w->t->request->metrics & 1u << ST_RECORD_TIME)
		fprintf(w->out, "#overhead,%zu,time,%.2f,%.2f\n", id,
		        (process->cost_within + r->cost_within) / 256.0 * w->tick_ns,
		        process->cost_error * w->tick_ns);
	if (w->t->request->metrics & 1u << ST_RECORD_CPU)
		fprintf(w->out, "#overhead,%zu,cpu,%.2f,%.2f\n", id, process->cost_clock,
		        process->cost_clock_error);
}

const char *
st_recorded_refusal(const struct st_probes *p, const struct st_recorded *f)
{
	for (size_t i = 0; i < p->refused.n; i++)
		if (p->refused.v[i].image == f->image && p->refused.v[i].offset == f->entry)
			return p->refused.v[i].refused;
	for (size_t i = 0; i < p->functions.n; i++)
		if (p->functions.v[i].image == f->image && p->functions.v[i].offset == f->entry)
			return p->functions.v[i].refused;
	return NULL;
}

/* Notes why a function that the user named has no records, or has fewer than it could have. */
static void
note_missing_records(struct writing *w, const struct st_recorded *f, const struct rows *rows)
{
	const char *why = st_recorded_refusal(w->t->probes, f);
	const struct st_record_function *r = st_recorded_function(w->t->probes, f);
	const char *path = w->t->probes->images.v[f->image].path;
	/* Without names all functions are chosen, and most of them are not called. */
	const bool is_named = w->t->request->functions->n != 0;
	if (why)
		st_record_note(w->out, "%s of %s was not recorded: %s", f->table.name, path, why);
	else if (is_named && !rows->n && r)
		st_record_note_silent(w->out, f->table.name, path, r->calls != 0);
	if (rows->n && f->bare)
		st_record_note_bare(w->out, f->table.name, path);
	if (r && r->missed)
		st_record_note(w->out,
		               "%" PRIu64
		               " calls of %s were not kept, because another record was being "
		               "written at that time",
		               r->missed, f->table.name);
}

/* Makes flags of registers that hold addresses. */
static st_status
decide_registers(struct st_recorded *f, const struct rows *rows)
{
	struct st_registers_seen seen = {0};
	if (!f->bare)
		return ST_OK;
	for (size_t i = 0; i < rows->n; i++)
		st_registers_see(&seen, rows->v[i]->values, rows->v[i]->absent);
	return st_registers_decide(&seen, &f->table);
}

static st_status
write_recorded(struct writing *w, struct st_recorded *f, struct st_recording_outcome *outcome)
{
	const struct st_record_function *r = st_recorded_function(w->t->probes, f);
	struct rows rows = {0};
	struct st_callee_columns callees;
	uint32_t *ordinals = calloc(f->table.features.n + 1, sizeof *ordinals);
	if (r)
		rows = rows_that_are_done(w, r, st_recorded_values(&f->table, f->table.ops.n));
	if (st_callee_columns_find(w->t, f, &callees) || !ordinals || (r && !rows.v) ||
	    decide_registers(f, &rows)) {
		st_callee_columns_free(&callees);
		free(ordinals);
		rows_free(&rows);
		return ST_FAILED;
	}
	for (size_t i = 0; i < f->table.features.n; i++)
		ordinals[i] = st_recorded_values(&f->table, f->table.features.v[i].op);
	note_missing_records(w, f, &rows);
	if (rows.n) {
		const size_t id = ++outcome->functions;
		outcome->records += rows.n;
		outcome->calls += r->calls;
		write_record_header(w, id, f, &callees, &rows);
		for (size_t i = 0; i < rows.n; i++)
			write_row(w, id, f, ordinals, &callees, rows.v[i]);
	}
	st_callee_columns_free(&callees);
	free(ordinals);
	rows_free(&rows);
	return ST_OK;
}

/* Notes the first function of locks that was not observed, because of which the times that locks
 * were held are not known. */
static bool
note_unseen_locks(const struct st_recording_targets *t, FILE *out)
{
	const char *why = NULL, *name = NULL;
	if (t->request->metrics >> ST_RECORD_LOCK_HELD & 1)
		name = st_recording_unseen_lock(t, &why);
	if (name)
		st_record_note(out, "lock_held was not measured, because %s was not observed: %s",
		               name, why);
	return name != NULL;
}

/* Returns the frequency of the ticks, also before the end. p: the program, which was started before
 * its children, so that its frequency is more exact than theirs. */
static double
record_ticks_hz(const struct st_probing *p)
{
	return p->tsc_hz > 0 ? p->tsc_hz : st_moments_frequency(p->begin, st_moment_now());
}

static st_status
write_recorded_process(const struct st_recording *r, const struct st_recording_targets *t,
                       FILE *out, struct st_recording_outcome *outcome)
{
	const double hz = record_ticks_hz(&r->probes->process);
	struct writing w = {.t = t,
	                    .out = out,
	                    .tick_ns = hz > 0 ? 1e9 / hz : 1,
	                    .locks_unknown = note_unseen_locks(t, out),
	                    .unfinished = r->unfinished > 0,
	                    .classes = {.find = class_in_process, .arg = t->probes}};
	st_status status = ST_OK;
	for (size_t i = 0; i < t->list.n && !status; i++)
		status = write_recorded(&w, &t->list.v[i], outcome);
	if (t->probes->process.area->sandboxed)
		st_record_note(
		        out, "calls were recorded until the seccomp filter of the program forbade "
		             "the system calls of the recording");
	if (t->crowded)
		st_record_note(out,
		               "%s not recorded, because there was no space for the "
		               "records: choose fewer functions, or a smaller --keep",
		               ST_COUNT(t->crowded, "function was", "functions were"));
	free(w.classes.known.v);
	return status;
}

st_status
st_recording_write(const struct st_recording *r, FILE *out, struct st_recording_outcome *outcome,
                   struct st_error *e)
{
	st_status status = ST_OK;
	if (r->processes.n)
		st_record_origin(out, r->request->program,
		                 r->processes.v[0]->probes->process.start_ns / 1000000000);
	if (r->unfinished > 0)
		st_record_unfinished(out, r->unfinished);
	for (size_t i = 0; i < r->processes.n && !status; i++)
		status = write_recorded_process(r, r->processes.v[i], out, outcome);
	return status ? st_fail(e, ST_EXIT_FAILED, "no memory left for the records") : ST_OK;
}
