/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/trace_events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "base/vec.h"
#include "report/json.h"
#include "rows/rowfile.h"

/* Columns of the stream `events` of src/tools/calltimes.c. */
enum { THREAD, TIME, EVENT, FUNCTION, DEPTH, COLUMNS };

st_status
st_trace_check_events(struct st_row_reader *rows, struct st_error *e)
{
	const struct st_profile_table *s = st_row_reader_stream(rows);
	if (!strcmp(s->tool, "calltimes") && !strcmp(s->name, "events") && s->n_columns == COLUMNS)
		return ST_OK;
	return st_fail(
	        e, ST_EXIT_FAILED,
	        "the rows are those of '%s' of the tool %s, not the entries and returns that "
	        "strobe trace --events records",
	        s->name, s->tool);
}

static struct st_trace_call_event
event_of(const struct st_row_shown *row, const struct st_profile *p)
{
	const struct st_profile_value *f = &row->values[FUNCTION];
	const char *kind = row->values[EVENT].text;
	return (struct st_trace_call_event){
	        .pid = row->pid,
	        .process = row->process,
	        .tid = (int64_t)row->values[THREAD].number,
	        .ns = row->values[TIME].number + row->start_ns,
	        .name = f->text,
	        .offset = f->number,
	        .image_index = f->image,
	        .image = f->image < p->images.n ? p->images.v[f->image].path : NULL,
	        .returns = kind && !strcmp(kind, "return"),
	        .depth = row->values[DEPTH].number};
}

int
st_trace_next_event(struct st_row_reader *rows, struct st_trace_call_event *event,
                    struct st_error *e)
{
	struct st_row_shown row;
	const int more = st_row_reader_next(rows, &row, e);
	if (more <= 0)
		return more;
	*event = event_of(&row, st_row_reader_profile(rows));
	if (!event->name) {
		snprintf(event->room, sizeof event->room, "0x%" PRIx64, event->offset);
		event->name = event->room;
	}
	return more;
}

/* ---- raw ---- */

/* A line is an event: what ends it is not part of a name. */
static void
print_name(const char *name, FILE *out)
{
	for (; *name; name++)
		putc(*name == '\n' || *name == '\r' ? ' ' : *name, out);
}

st_status
st_trace_write_raw(struct st_row_reader *rows, FILE *out, struct st_error *e)
{
	struct st_trace_call_event v;
	int more;
	if (st_trace_check_events(rows, e))
		return ST_FAILED;
	fputs("#unit ns\n", out);
	while ((more = st_trace_next_event(rows, &v, e)) > 0) {
		fprintf(out, "%d %" PRId64 " %" PRIu64 ";", v.returns, v.tid, v.ns);
		print_name(v.name, out);
		putc('\n', out);
	}
	return more < 0 ? ST_FAILED : ST_OK;
}

/* ---- timeline ---- */

struct thread {
	int64_t pid, tid;
	uint64_t open; /* slices that have begun and not ended */
	uint64_t last_ns;
};

struct timeline {
	FILE *out;
	ST_VEC(struct thread) threads;
	struct st_hashmap index;
	bool any; /* an event has been written */
};

static struct thread *
trace_events_thread_of(struct timeline *t, int64_t pid, int64_t tid)
{
	const uint32_t hash = st_hash_numbers((uint64_t)pid, (uint64_t)tid);
	const uint32_t at = ST_HASHMAP_FIND(
	        &t->index, hash, i, t->threads.v[i].pid == pid && t->threads.v[i].tid == tid);
	if (at != ST_HASHMAP_NONE)
		return &t->threads.v[at];
	struct thread *new = ST_PUSH(&t->threads);
	if (!new || st_hashmap_add(&t->index, hash, (uint32_t)t->threads.n - 1))
		return NULL;
	new->pid = pid;
	new->tid = tid;
	return new;
}

static void
begin_object(struct timeline *t, char phase, const struct thread *of)
{
	fprintf(t->out, "%s{\"ph\":\"%c\",\"pid\":%" PRId64 ",\"tid\":%" PRId64,
	        t->any ? ",\n" : "", phase, of->pid, of->tid);
	t->any = true;
}

/* Times are in microseconds. */
static void
print_time(struct timeline *t, uint64_t ns)
{
	fprintf(t->out, ",\"ts\":%" PRIu64 ".%03u", ns / 1000, (unsigned)(ns % 1000));
}

/* Ends slices, the innermost first, until `open` of them are left. */
static void
close_down_to(struct timeline *t, struct thread *of, uint64_t open, uint64_t ns)
{
	for (; of->open > open; of->open--) {
		begin_object(t, 'E', of);
		print_time(t, ns);
		putc('}', t->out);
	}
}

static st_status
add_event(struct timeline *t, const struct st_trace_call_event *v)
{
	struct thread *of = trace_events_thread_of(t, v->pid, v->tid);
	if (!of)
		return ST_FAILED;
	/* Deeper activations were left without a return. */
	const uint64_t around = v->depth ? v->depth - 1 : 0;
	close_down_to(t, of, around, v->ns);
	of->last_ns = v->ns;
	if (v->returns)
		return ST_OK;
	begin_object(t, 'B', of);
	print_time(t, v->ns);
	fputs(",\"name\":", t->out);
	st_json_print(v->name, t->out);
	if (v->image) {
		fputs(",\"args\":{\"image\":", t->out);
		st_json_print(v->image, t->out);
		putc('}', t->out);
	}
	putc('}', t->out);
	of->open++;
	return ST_OK;
}

/* The names of processes, for those who look at it. */
static void
name_processes(struct timeline *t, const struct st_profile *p)
{
	for (size_t i = 0; i < p->processes.n; i++) {
		const struct thread of = {.pid = p->processes.v[i].pid,
		                          .tid = p->processes.v[i].pid};
		begin_object(t, 'M', &of);
		fputs(",\"name\":\"process_name\",\"args\":{\"name\":", t->out);
		st_json_print(p->processes.v[i].command ? p->processes.v[i].command : "", t->out);
		fputs("}}", t->out);
	}
}

st_status
st_trace_write_timeline(const struct st_profile *run, struct st_row_reader *rows, FILE *out,
                        struct st_error *e)
{
	struct timeline t = {.out = out};
	struct st_trace_call_event v;
	int more;
	if (st_trace_check_events(rows, e))
		return ST_FAILED;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
	while ((more = st_trace_next_event(rows, &v, e)) > 0) {
		if (add_event(&t, &v)) {
			st_cause(e, ST_EXIT_FAILED, "no memory left to write the timeline");
			more = -1;
			break;
		}
	}
	for (size_t i = 0; i < t.threads.n; i++)
		close_down_to(&t, &t.threads.v[i], 0, t.threads.v[i].last_ns);
	name_processes(&t, run);
	fputs("\n]}\n", out);
	free(t.threads.v);
	st_hashmap_free(&t.index);
	return more < 0 ? ST_FAILED : ST_OK;
}
