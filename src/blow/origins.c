/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What has created the threads of a run, by the calls that the probes have kept. */
#include "blow/origins.h"

#include <stdlib.h>
#include <string.h>

#include "blow/stacks.h"

bool
st_blow_creates_threads(const struct st_function *f)
{
	static const char name[] = "pthread_create";
	const size_t n = strcspn(f->raw_name, "@");
	return f->source != ST_SYM_PLT && n == sizeof name - 1 && !memcmp(f->raw_name, name, n);
}

static uint32_t
origins_records_of(const struct st_probe_area *a)
{
	const uint32_t n = __atomic_load_n(&a->n_records, __ATOMIC_ACQUIRE);
	return n < ST_PROBE_MOST_RECORDS ? n : ST_PROBE_MOST_RECORDS;
}

static bool
is_first_thread(const struct st_probe_area *a, uint32_t record)
{
	return record < origins_records_of(a) && a->records[record].tid == a->pid;
}

uint32_t
st_blow_thread_number(const struct st_probe_area *a, uint32_t record)
{
	return is_first_thread(a, record) ? 0 : record + 1;
}

/* ---- calls that have created threads ---- */

struct creation {
	uint32_t record; /* of the thread that has made the call */
	uint32_t nth;    /* among those of the thread with the same start and call */
	const struct st_probe_arguments *row;
	const struct st_probed_image *start, *back; /* NULL: code that belongs to no file */
};

enum { START_ROUTINE = 2 }; /* the argument of pthread_create */

static struct st_probed_image *
image_of_address(const struct st_probes *probes, uint64_t at)
{
	return at ? st_blow_image_at(probes, at) : NULL;
}

struct creations {
	ST_VEC(struct creation) list; /* by thread and time */
};

static bool
is_of_creating_call(const struct st_probes *p, const struct st_probe_arguments *row)
{
	const uint32_t function = row->function - 1;
	return function < p->functions.n &&
	       p->process.area->actions[function].kind == ST_PROBE_CREATE;
}

static int
creation_order(const void *a, const void *b)
{
	const struct creation *x = a, *y = b;
	if (x->record != y->record)
		return x->record < y->record ? -1 : 1;
	return (x->row->ticks > y->row->ticks) - (x->row->ticks < y->row->ticks);
}

static void
number_creations(struct creations *c)
{
	for (size_t i = 0; i < c->list.n; i++) {
		struct creation *one = &c->list.v[i];
		for (size_t k = i; k-- && c->list.v[k].record == one->record;) {
			const struct creation *before = &c->list.v[k];
			if (before->row->registers[START_ROUTINE] !=
			            one->row->registers[START_ROUTINE] ||
			    before->row->back != one->row->back)
				continue;
			one->nth = before->nth + 1;
			break;
		}
	}
}

static st_status
list_creations(const struct st_probes *p, struct creations *c)
{
	const uint32_t records = origins_records_of(p->process.area);
	for (uint32_t i = 0; i < records; i++) {
		struct st_probe_reading reading = st_probe_reading_of(p, i);
		for (const struct st_probe_arguments *row; (row = st_probe_next_row(&reading));) {
			if (!is_of_creating_call(p, row) || !row->made)
				continue;
			struct creation *slot = ST_PUSH(&c->list);
			if (!slot)
				return ST_FAILED;
			*slot = (struct creation){
			        .record = i,
			        .row = row,
			        .start = image_of_address(p, row->registers[START_ROUTINE]),
			        .back = image_of_address(p, row->back)};
		}
	}
	if (c->list.n)
		qsort(c->list.v, c->list.n, sizeof *c->list.v, creation_order);
	number_creations(c);
	return ST_OK;
}

/* The call that has created the thread: the C library may give a thread the control block of one
 * that has ended, so it is the last call before the thread began. NULL: it is not known. */
static const struct creation *
creation_of(const struct creations *c, const struct st_probe_record *r)
{
	const struct creation *found = NULL;
	for (size_t i = 0; i < c->list.n; i++) {
		const struct creation *one = &c->list.v[i];
		if (one->row->made == r->fs && one->row->ticks <= r->began &&
		    (!found || one->row->ticks > found->row->ticks))
			found = one;
	}
	return found;
}

/* ---- origins ---- */

static void
place_of_address(const struct st_probed_image *image, uint64_t at, struct st_blow_place *to)
{
	const uint64_t offset = image ? at - image->bias : 0;
	const struct st_function *f = image ? st_image_function(image->image, offset) : NULL;
	*to = (struct st_blow_place){.image = strdup(image ? image->path : ""),
	                             .function = strdup(f ? f->name : ""),
	                             .offset = offset};
}

static st_status
add_origin(struct st_blow_run *run, const struct st_probe_area *a, uint32_t record,
           const struct creation *c)
{
	struct st_blow_origin *o = ST_PUSH(&run->origins);
	if (!o)
		return ST_FAILED;
	*o = (struct st_blow_origin){.thread = st_blow_thread_number(a, record),
	                             .creator =
	                                     c ? st_blow_thread_number(a, c->record) : ST_BLOW_NONE,
	                             .nth = c ? c->nth : 0};
	place_of_address(c ? c->start : NULL, c ? c->row->registers[START_ROUTINE] : 0, &o->start);
	/* The address before that to which the call returns, since the call may be the last
	 * instruction of its function. */
	place_of_address(c ? c->back : NULL, c ? c->row->back - 1 : 0, &o->call);
	return st_blow_origin_check(o);
}

st_status
st_blow_origins_of(const struct st_probes *probes, struct st_blow_run *run)
{
	const struct st_probe_area *a = probes->process.area;
	const uint32_t records = origins_records_of(a);
	struct creations c = {0};
	st_status status = list_creations(probes, &c);
	for (uint32_t i = 0; i < records && !status; i++)
		if (!is_first_thread(a, i))
			status = add_origin(run, a, i, creation_of(&c, &a->records[i]));
	free(c.list.v);
	return status;
}
