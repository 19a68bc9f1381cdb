/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows are written as those of a process in the code cache are, from a results file (control/run.h)
 * that is made here. An image has an address range of its own in it, because in the process another
 * one may have come to its place. A row with few values is written fast and takes little space:
 * events that differ in their time only share a site.
 */
#include "trace/probe_rows.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/hashmap.h"
#include "control/probe_events.h"

enum { THREAD, TIME, EVENT, FUNCTION, DEPTH, COLUMNS }; /* of src/tools/calltimes.c */
enum { MOST_ROWS = ST_CHUNK_BYTES / (8 * (1 + COLUMNS)) };

/* The calls of a thread that are under way. */
struct lane {
	ST_VEC(uint32_t) functions;
	uint64_t last; /* time of its last event */
};

struct st_probe_rows {
	struct st_probes *probes;
	struct st_row_writer *writer;
	struct st_probe_drain *drain;
	struct st_results_header *results;
	size_t bytes;
	uint32_t texts[2];         /* "entry", "return" */
	struct st_hashmap index;   /* of sites */
	uint32_t whole;            /* a site whose rows have all values */
	ST_VEC(struct lane) lanes; /* by record */
	bool any, no_memory;       /* any: there was an event */
	uint64_t rows[ST_CHUNK_BYTES / 8];
	pthread_t thread;
	bool runs, stop;
};

/* ---- the results file ---- */

static uint64_t
section(uint64_t *end, uint64_t bytes)
{
	const uint64_t at = *end;
	*end += (bytes + 4095) & ~4095ull;
	return at;
}

static struct st_results_header *
make_row_results(size_t *bytes)
{
	struct st_layout l = {0};
	uint64_t end = 0;
	section(&end, sizeof(struct st_results_header));
	l.off_strings = section(&end, ST_STRINGS_BYTES);
	l.off_maps = section(&end, ST_MAX_MAPS * sizeof(struct st_map));
	l.off_threads = section(&end, ST_MAX_THREADS * sizeof(struct st_thread));
	l.off_sites = section(&end, ST_MAX_SITES * sizeof(strobe_site));
	struct st_results_header *h = mmap(NULL, end, PROT_READ | PROT_WRITE,
	                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (h == MAP_FAILED)
		return NULL;
	h->layout = l;
	h->strings.n = 1; /* 0 is no text */
	*bytes = end;
	return h;
}

static uint32_t
probe_row_text(struct st_results_header *h, const char *text)
{
	const uint32_t at = h->strings.n, n = (uint32_t)strlen(text) + 1;
	if (n > ST_STRINGS_BYTES - at)
		return 0;
	memcpy((char *)h + h->layout.off_strings + at, text, n);
	h->strings.n += n;
	return at;
}

static void
describe_stream(struct st_results_header *h)
{
	static const struct {
		const char *name;
		enum strobe_type type;
	} columns[COLUMNS] = {{"thread", STROBE_THREAD},
	                      {"time", STROBE_TICKS},
	                      {"event", STROBE_TEXT},
	                      {"function", STROBE_FUNCTION},
	                      {"depth", STROBE_NUMBER}};
	struct st_stream *s = &h->streams.v[0];
	h->streams.n = 1;
	s->name = probe_row_text(h, "events");
	s->help = probe_row_text(h, "entries and returns");
	s->n_columns = COLUMNS;
	for (uint32_t i = 0; i < COLUMNS; i++) {
		s->columns[i].name = probe_row_text(h, columns[i].name);
		s->columns[i].type = columns[i].type;
	}
}

/* ---- images, functions, threads ---- */

static uint64_t
address_of_image(uint32_t image)
{
	return (uint64_t)(image + 1) << 40;
}

/* Those up to that one are known from now on. */
static void
know_row_image(struct st_probe_rows *r, uint32_t image)
{
	struct st_results_header *h = r->results;
	struct st_map *maps = (struct st_map *)((char *)h + h->layout.off_maps);
	for (; h->maps.n <= image && h->maps.n < ST_MAX_MAPS; h->maps.n++) {
		const struct st_probed_image *i = &r->probes->images.v[h->maps.n];
		const uint64_t at = address_of_image(h->maps.n);
		maps[h->maps.n] = (struct st_map){.start = at,
		                                  .end = at + i->to - i->from,
		                                  .pgoff = i->file_offset,
		                                  .dev = 1,
		                                  .ino = h->maps.n + 1,
		                                  .path = i->path ? probe_row_text(h, i->path) : 0};
	}
}

static uint64_t
address_of_function(struct st_probe_rows *r, uint32_t function)
{
	uint64_t at = 0;
	pthread_mutex_lock(&r->probes->lock);
	if (function < r->probes->functions.n) {
		const struct st_probed_function *f = &r->probes->functions.v[function];
		const struct st_probed_image *i = &r->probes->images.v[f->image];
		know_row_image(r, f->image);
		at = address_of_image(f->image) + i->bias + f->offset - i->from;
	}
	pthread_mutex_unlock(&r->probes->lock);
	return at;
}

static void
know_thread(struct st_probe_rows *r, uint32_t record)
{
	struct st_results_header *h = r->results;
	struct st_thread *threads = (struct st_thread *)((char *)h + h->layout.off_threads);
	threads[record].tid = r->probes->process.area->records[record].tid;
	if (h->threads.n <= record)
		h->threads.n = record + 1;
}

/* ---- rows ---- */

static strobe_site *
site_at(const struct st_probe_rows *r, uint32_t index)
{
	return (strobe_site *)((char *)r->results + r->results->layout.off_sites) + index;
}

static void
values_of(struct st_probe_rows *r, const struct st_probe_event *e, uint64_t v[COLUMNS])
{
	v[THREAD] = e->record;
	v[TIME] = e->ticks;
	v[EVENT] = r->texts[e->returns];
	v[FUNCTION] = address_of_function(r, e->function);
	v[DEPTH] = e->depth;
}

static bool
is_site_of(const struct st_probe_rows *r, uint32_t site, const struct st_probe_event *e)
{
	const strobe_site *s = site_at(r, site);
	/* The time is no constant of a site: its element has the function instead. */
	return s->constant[TIME] == e->function && s->constant[THREAD] == e->record &&
	       s->constant[DEPTH] == e->depth && s->constant[EVENT] == r->texts[e->returns];
}

/* The site of such events; `whole` when there is no space for one. */
static uint32_t
site_of_event(struct st_probe_rows *r, const struct st_probe_event *e)
{
	struct st_stream_results *streams = &r->results->streams;
	const uint32_t hash = st_hash_numbers((uint64_t)e->record << 32 | e->function,
	                                      (uint64_t)e->depth << 1 | e->returns);
	const uint32_t at = ST_HASHMAP_FIND(&r->index, hash, i, is_site_of(r, i, e));
	if (at != ST_HASHMAP_NONE)
		return at;
	if (streams->n_sites == ST_MAX_SITES || st_hashmap_add(&r->index, hash, streams->n_sites))
		return r->whole;
	strobe_site *s = site_at(r, streams->n_sites);
	*s = (strobe_site){.n_values = 1, .where = {-1, 0, -1, -1, -1}};
	values_of(r, e, s->constant);
	s->constant[TIME] = e->function;
	return streams->n_sites++;
}

/* Returns behind it. */
static uint64_t *
put_event_row(struct st_probe_rows *r, const struct st_probe_event *e, uint64_t *at)
{
	const uint32_t site = site_of_event(r, e);
	if (site != r->whole) {
		*at++ = (uint64_t)site << 4 | 1;
		*at++ = e->ticks;
		return at;
	}
	*at++ = (uint64_t)site << 4 | COLUMNS;
	values_of(r, e, at);
	return at + COLUMNS;
}

static void
write_events(struct st_probe_rows *r, uint32_t record, const struct st_probe_event *events,
             size_t n)
{
	for (size_t i = 0; i < n;) {
		uint64_t *at = r->rows;
		for (size_t k = 0; i < n && k < MOST_ROWS; k++)
			at = put_event_row(r, &events[i++], at);
		const struct st_row_chunk chunk = {0, record, r->rows,
		                                   (size_t)((char *)at - (char *)r->rows)};
		st_row_writer_take(r->writer, r->results, &chunk);
	}
}

static struct lane *
lane_of_record(struct st_probe_rows *r, uint32_t record)
{
	while (r->lanes.n <= record)
		if (!ST_PUSH(&r->lanes))
			return NULL;
	return &r->lanes.v[record];
}

/* Calls at its depth or deeper have been left. */
static st_status
follow_event(struct lane *l, const struct st_probe_event *e)
{
	while (l->functions.n && l->functions.n >= e->depth)
		l->functions.n--;
	l->last = e->ticks;
	uint32_t *function = e->returns ? NULL : ST_PUSH(&l->functions);
	if (function)
		*function = e->function;
	return e->returns || function ? ST_OK : ST_FAILED;
}

static void
take_events(void *arg, uint32_t record, const struct st_probe_event *events, size_t n)
{
	struct st_probe_rows *r = arg;
	r->any = true;
	struct lane *l = lane_of_record(r, record);
	know_thread(r, record);
	for (size_t i = 0; i < n; i++)
		r->no_memory |= !l || follow_event(l, &events[i]);
	write_events(r, record, events, n);
}

/* ---- the end ---- */

/* Calls that are under way end with the process, or with their thread, which is where it was seen
 * last: as in the tables. */
static void
end_probe_calls(struct st_probe_rows *r, uint32_t record)
{
	const struct st_probing *p = &r->probes->process;
	struct lane *l = &r->lanes.v[record];
	const bool is_first = p->area->records[record].tid == (uint32_t)p->pid;
	for (; l->functions.n; l->functions.n--) {
		const struct st_probe_event e = {.ticks = is_first ? p->end : l->last,
		                                 .record = record,
		                                 .function = l->functions.v[l->functions.n - 1],
		                                 .depth = (uint32_t)l->functions.n,
		                                 .returns = true};
		write_events(r, record, &e, 1);
	}
}

static void
end_all_calls(struct st_probe_rows *r)
{
	for (uint32_t i = 0; i < r->lanes.n; i++) {
		end_probe_calls(r, i);
		free(r->lanes.v[i].functions.v);
	}
	free(r->lanes.v);
}

/* ---- the whole ---- */

static void
free_rows(struct st_probe_rows *r)
{
	if (r->results)
		munmap(r->results, r->bytes);
	st_probe_drain_free(r->drain);
	st_hashmap_free(&r->index);
	free(r);
}

struct st_probe_rows *
st_probe_rows_begin(struct st_probes *probes, struct st_row_writer *writer)
{
	struct st_probe_rows *r = calloc(1, sizeof *r);
	if (!r)
		return NULL;
	r->probes = probes;
	r->writer = writer;
	r->results = make_row_results(&r->bytes);
	r->drain = st_probe_drain_new(probes->process.area, take_events, r);
	if (!r->results || !r->drain) {
		free_rows(r);
		return NULL;
	}
	describe_stream(r->results);
	r->texts[0] = probe_row_text(r->results, "entry");
	r->texts[1] = probe_row_text(r->results, "return");
	*site_at(r, 0) = (strobe_site){.n_values = COLUMNS, .where = {0, 1, 2, 3, 4}};
	r->results->streams.n_sites = 1;
	r->results->layout.pid = (uint32_t)probes->process.pid;
	r->results->run.tsc_begin = probes->process.begin.ticks;
	st_row_writer_begin(writer, r->results, r->bytes);
	if (st_probe_drain_start(r->drain))
		return r;
	free_rows(r);
	return NULL;
}

st_status
st_probe_rows_end(struct st_probe_rows *r)
{
	st_probe_drain_finish(r->drain);
	end_all_calls(r);
	if (!r->any && !r->probes->process.area->lost_words)
		r->results->streams.n = 0; /* nothing was called: there is no file */
	r->results->streams.v[0].dropped = r->probes->process.area->lost_words;
	st_row_writer_end(r->writer, r->results);
	const st_status status = r->no_memory ? ST_FAILED : ST_OK;
	free_rows(r);
	return status;
}
