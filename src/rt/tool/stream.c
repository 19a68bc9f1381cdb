/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Streams: rows in buffers of the threads. Translated code appends at the address in the thread's
 * counter ST_STREAM_ID(stream), and asks for space when the third byte of that address is not 0
 * (see ST_CHUNK_STRIDE): so does the first row of all, because NO_BUFFER is such an address.
 */
#include "rt/controller.h"
#include "rt/cost.h"
#include "rt/tool/tool.h"

enum { NO_BUFFER = ST_CHUNK_BYTES };

static uint32_t lock;    /* of what follows */
static strobe_map sites; /* by key: site + 1 */
static strobe_stream *declared[ST_MAX_STREAMS];
static uint8_t tool_of[ST_MAX_STREAMS];

static strobe_site *
site_table(void)
{
	return (strobe_site *)((char *)rt.results + rt.results->layout.off_sites);
}

static uint8_t
declare_stream(strobe_stream *s)
{
	struct st_results_header *r = rt.results;
	if (s->id)
		return (uint8_t)(s->id - 1);
	if (r->streams.n >= ST_MAX_STREAMS)
		return ST_MAX_STREAMS;
	struct st_stream *out = &r->streams.v[r->streams.n];
	*out = (struct st_stream){.name = text_add(s->name),
	                          .help = text_add(s->help),
	                          .consumed = s->consume != NULL,
	                          .lossy = s->lossy,
	                          .tool = tool_current()};
	for (unsigned i = 0; i < STROBE_MOST_COLUMNS && s->columns[i].name; i++)
		out->columns[out->n_columns++] = (struct st_column){text_add(s->columns[i].name),
		                                                    (uint16_t)s->columns[i].type,
		                                                    (uint16_t)s->columns[i].role};
	declared[r->streams.n] = s;
	tool_of[r->streams.n] = (uint8_t)tool_current();
	__atomic_store_n(&r->streams.n, r->streams.n + 1, __ATOMIC_RELEASE);
	s->id = r->streams.n;
	return (uint8_t)(s->id - 1);
}

uint8_t
stream_declare(strobe_stream *s)
{
	rt_lock(&lock);
	uint8_t i = declare_stream(s);
	rt_unlock(&lock);
	return i;
}

static uint32_t
find_row_site(uint64_t key, const strobe_site *site)
{
	struct st_results_header *r = rt.results;
	uint64_t *known = strobe_map_at(&sites, key);
	if (known && *known && memcmp(&site_table()[*known - 1], site, sizeof *site) == 0)
		return (uint32_t)*known - 1;
	uint32_t i = r->streams.n_sites < ST_MAX_SITES ? r->streams.n_sites : ST_MAX_SITES - 1;
	site_table()[i] = *site;
	if (i == r->streams.n_sites)
		__atomic_store_n(&r->streams.n_sites, i + 1, __ATOMIC_RELEASE);
	if (known)
		*known = i + 1;
	return i;
}

uint32_t
site_of(uint64_t key, const strobe_site *site)
{
	rt_lock(&lock);
	uint32_t i = find_row_site(key, site);
	rt_unlock(&lock);
	return i;
}

/* ---- buffers ---- */

static uint64_t *
fill_of(struct thread *t, unsigned stream)
{
	return thread_counter(t, ST_STREAM_ID(stream));
}

/* Memory for the rows of one stream of one thread: at a place whose address begins a stride. */
static uint64_t
new_private_buffer(void)
{
	uint64_t p = (uint64_t)rt_map_table(2ull * ST_CHUNK_STRIDE);
	if (!p)
		return 0;
	uint64_t at = (p + ST_CHUNK_STRIDE - 1) & ~(uint64_t)(ST_CHUNK_STRIDE - 1);
	return at;
}

static uint64_t
chunk_at(uint32_t chunk)
{
	return (uint64_t)rt.results + rt.results->layout.off_chunks +
	       (uint64_t)chunk * ST_CHUNK_STRIDE;
}

/* The chunk that an address lies in. */
static struct st_chunk *
chunk_of(uint64_t fill)
{
	uint64_t i = (fill - chunk_at(0)) / ST_CHUNK_STRIDE;
	return &rt.results->streams.chunks[i % ST_MAX_CHUNKS];
}

/* How many chunks are in use: one for each thread and stream, and those that may wait. More
 * would only mean that rows are written to the memory and read from there, not from a cache. */
static uint32_t
chunks_in_use(const struct st_results_header *r)
{
	uint32_t n = ST_CHUNK_QUEUE + r->threads.n_slots * r->streams.n;
	return n < ST_MAX_CHUNKS ? n : ST_MAX_CHUNKS;
}

/* A free chunk becomes the thread's; 0 when there is none. The lowest first: few pages are used as
 * long as the controller keeps up. */
static uint64_t
take_chunk(struct thread *t, unsigned stream)
{
	struct st_results_header *r = rt.results;
	for (uint32_t i = 0; i < chunks_in_use(r); i++) {
		struct st_chunk *c = &r->streams.chunks[i];
		uint32_t free = ST_CHUNK_FREE;
		if (c->state != ST_CHUNK_FREE ||
		    !__atomic_compare_exchange_n(&c->state, &free, ST_CHUNK_OWNED, false,
		                                 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			continue;
		c->stream = stream;
		c->thread = t->record;
		return chunk_at(i);
	}
	return 0;
}

static bool
has_free_chunk(void)
{
	const struct st_results_header *r = rt.results;
	for (uint32_t i = 0; i < chunks_in_use(r); i++)
		if (r->streams.chunks[i].state == ST_CHUNK_FREE)
			return true;
	return false;
}

static bool
is_chunk(uint64_t address)
{
	return address - chunk_at(0) < ST_MAX_CHUNKS * (uint64_t)ST_CHUNK_STRIDE;
}

static uint64_t
rows_in(uint64_t begin, uint64_t fill)
{
	uint64_t n = 0;
	for (const strobe_row *r = (const strobe_row *)begin; (uint64_t)r < fill;
	     r = strobe_next_row(r))
		n++;
	return n;
}

/* The rows up to there are the controller's; if they lie where it cannot see them, they are lost.
 */
static void
give_rows(unsigned stream, uint64_t fill)
{
	struct st_chunk *c = chunk_of(fill);
	if (!is_chunk(fill)) {
		uint64_t begin = fill & ~(uint64_t)(ST_CHUNK_STRIDE - 1);
		__atomic_fetch_add(&rt.results->streams.v[stream].dropped, rows_in(begin, fill),
		                   __ATOMIC_RELAXED);
		return;
	}
	c->bytes = (uint32_t)(fill & (ST_CHUNK_STRIDE - 1));
	c->sequence = __atomic_add_fetch(&rt.results->streams.chunk_sequence, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&c->state, ST_CHUNK_FULL, __ATOMIC_SEQ_CST);
}

static void
nap(void)
{
	enum { PAUSE_NS = 200000 };
	rt_pause(PAUSE_NS); /* also of a thread that is parked */
}

/* Waits for the controller to free a chunk; 0 when it has gone, or does nothing for a long time. */
static uint64_t
wait_for_chunk(struct thread *t, unsigned stream)
{
	for (int tries = 0; tries < 50000; tries++) {
		uint64_t at = take_chunk(t, stream);
		if (at || controller_is_gone())
			return at;
		nap();
	}
	return 0;
}

/* ---- streams that are consumed in the program ---- */

static void
consume_rows(struct thread *t, unsigned stream, uint64_t begin, uint64_t fill)
{
	const strobe_rows rows = {(const strobe_row *)begin, (const strobe_row *)fill,
	                          site_table()};
	if (fill > begin)
		tool_call(tool_of[stream], (void (*)(void))declared[stream]->consume, t, &rows);
}

/* The begin of the part of the buffer that has not been consumed. */
static uint64_t
rest_of(const struct thread *t, unsigned stream)
{
	return t->tools.streams.consumed[stream] ? t->tools.streams.consumed[stream]
	                                         : t->tools.streams.buffers[stream];
}

static void
consume_rest(struct thread *t, unsigned stream)
{
	uint64_t begin = rest_of(t, stream), fill = *fill_of(t, stream);
	*fill_of(t, stream) = t->tools.streams.buffers[stream];
	t->tools.streams.consumed[stream] = 0;
	consume_rows(t, stream, begin, fill);
}

/* The average ticks to consume a KiB of a stream; at first a guess. */
static uint64_t pace[ST_MAX_STREAMS] = {[0 ... ST_MAX_STREAMS - 1] = 1000};

static uint64_t
ticks_for(unsigned stream, uint64_t bytes)
{
	return bytes * pace[stream] / 1024;
}

/* The end of a few rows. */
static uint64_t
rows_at_once(uint64_t begin, uint64_t fill)
{
	enum { AT_ONCE = 2048 };
	const strobe_row *r = (const strobe_row *)begin;
	while ((uint64_t)r < fill && (uint64_t)r < begin + AT_ONCE)
		r = strobe_next_row(r);
	return (uint64_t)r;
}

static bool
pays_for_fragment(const struct thread *t, uint64_t ticks)
{
	return !budget_is_short(t, budget_at_most(ticks));
}

/* As far as the budget lasts, if there is one. Returns whether that was all. */
static bool
consume_paid(struct thread *t, unsigned stream)
{
	uint64_t at = rest_of(t, stream), fill = *fill_of(t, stream);
	while (at < fill) {
		bool nearly = budget_is_short(t, 2 * ticks_for(stream, fill - at));
		uint64_t end = nearly ? rows_at_once(at, fill) : fill, begin = rt_tsc();
		t->tools.streams.consumed[stream] = at;
		if (nearly && !pays_for_fragment(t, ticks_for(stream, end - at)))
			return false;
		consume_rows(t, stream, at, end);
		budget_learn(&pace[stream], (rt_tsc() - begin) * 1024 / (end - at));
		at = end;
	}
	t->tools.streams.consumed[stream] = 0;
	*fill_of(t, stream) = t->tools.streams.buffers[stream];
	return true;
}

/* Space in the buffer, which there may be none of yet. */
static void
empty_buffer(struct thread *t, unsigned stream)
{
	if (t->tools.streams.buffers[stream])
		consume_rest(t, stream);
	else
		t->tools.streams.buffers[stream] = new_private_buffer();
	if (!t->tools.streams.buffers[stream]) /* the program has limited its memory */
		t->tools.streams.buffers[stream] = wait_for_chunk(t, stream);
	*fill_of(t, stream) = t->tools.streams.buffers[stream];
}

/* ---- space ---- */

/* Empties the buffer, and leaves space in one, which is another for rows that go to the controller.
 */
static void
turn_over(struct thread *t, unsigned stream)
{
	uint64_t *fill = fill_of(t, stream), now = *fill;
	uint64_t begin = now & ~(uint64_t)(ST_CHUNK_STRIDE - 1);
	struct st_stream *s = &rt.results->streams.v[stream];
	if (s->consumed) {
		empty_buffer(t, stream);
		return;
	}
	uint64_t fresh = 0;
	if (t->tools.streams.buffers[stream]) {
		fresh = take_chunk(t, stream);
		if (!fresh && !s->lossy)
			fresh = wait_for_chunk(t, stream);
		if (fresh)
			give_rows(stream, now);
		else
			__atomic_fetch_add(&s->dropped, rows_in(begin, now), __ATOMIC_RELAXED);
	} else {
		fresh = wait_for_chunk(t, stream);
	}
	if (!fresh && !t->tools.streams.buffers[stream])
		fresh = new_private_buffer(); /* never seen by anyone */
	*fill = fresh ? fresh : begin;
	t->tools.streams.buffers[stream] = *fill;
}

static bool
is_full(uint64_t fill)
{
	return (fill >> 16 & 0xff) != 0;
}

static bool
needs_space(struct thread *t, unsigned s, uint32_t set)
{
	return (set >> s & 1) && (!t->tools.streams.buffers[s] || is_full(*fill_of(t, s)));
}

void
streams_make_space(struct thread *t, uint32_t set)
{
	for (unsigned s = 0; s < ST_MAX_STREAMS; s++)
		if (needs_space(t, s, set))
			turn_over(t, s);
}

/* Waits for a free chunk, but not for ever. To sleep takes CPU time, too: false, when too little is
 * left for that. */
static bool
pays_for_chunk(const struct thread *t)
{
	for (int tries = 0; tries < 256 && !has_free_chunk() && !controller_is_gone(); tries++) {
		if (budget_is_short(t, budget_at_most(UINT64_MAX)))
			return false;
		nap();
	}
	return true;
}

bool
streams_try_space(struct thread *t, uint32_t set)
{
	for (unsigned s = 0; s < ST_MAX_STREAMS; s++) {
		bool consumed = rt.results->streams.v[s].consumed;
		if (!needs_space(t, s, set) || !t->tools.streams.buffers[s])
			continue;
		bool waits = !consumed && !rt.results->streams.v[s].lossy;
		if ((consumed && !consume_paid(t, s)) || (waits && !pays_for_chunk(t)))
			return false;
	}
	streams_make_space(t, set);
	return true;
}

void
streams_consume(struct thread *t)
{
	for (unsigned s = 0; s < ST_MAX_STREAMS; s++)
		if (t->tools.streams.buffers[s] && rt.results->streams.v[s].consumed)
			consume_rest(t, s);
}

void
streams_finish(struct thread *t)
{
	streams_consume(t); /* which may make rows of another */
	for (unsigned s = 0; s < ST_MAX_STREAMS; s++) {
		if (!t->tools.streams.buffers[s] || rt.results->streams.v[s].consumed)
			continue;
		give_rows(s, *fill_of(t, s));
		*fill_of(t, s) = NO_BUFFER;
		t->tools.streams.buffers[s] = 0;
	}
}

void
streams_begin(struct thread *t)
{
	for (unsigned s = 0; s < ST_MAX_STREAMS; s++)
		*fill_of(t, s) =
		        t->tools.streams.buffers[s] ? t->tools.streams.buffers[s] : NO_BUFFER;
}

void
streams_forget(struct thread *t)
{
	lock = 0; /* another thread of the parent may have held it */
	if (sites.slots)
		rt_unmap_memory(sites.slots, 2 * sites.size * sizeof(uint64_t));
	sites = (strobe_map){0};
	for (unsigned s = 0; s < ST_MAX_STREAMS; s++) {
		/* Rows that its parent made before the fork; and the streams' order may change. */
		if (t->tools.streams.buffers[s] && declared[s] && declared[s]->consume &&
		    !is_chunk(t->tools.streams.buffers[s]))
			rt_unmap_memory((void *)t->tools.streams.buffers[s], ST_CHUNK_STRIDE);
		t->tools.streams.buffers[s] = t->tools.streams.consumed[s] = 0;
		*fill_of(t, s) = NO_BUFFER;
		if (declared[s])
			declared[s]->id = 0;
		declared[s] = NULL;
	}
}

void
stream_append(struct thread *t, unsigned stream, uint32_t site, unsigned n, const uint64_t *values)
{
	streams_make_space(t, 1u << stream);
	uint64_t *fill = fill_of(t, stream);
	strobe_row *row = (strobe_row *)*fill;
	row->tag = (uint64_t)site << 4 | n;
	for (unsigned i = 0; i < n; i++)
		row->value[i] = values[i];
	*fill += 8 + 8 * n;
}

void
strobe_write(strobe_thread *handle, strobe_stream *stream, const uint64_t *values)
{
	struct thread *t = (struct thread *)handle;
	uint8_t s = stream_declare(stream);
	if (s >= ST_MAX_STREAMS)
		return;
	unsigned n = rt.results->streams.v[s].n_columns;
	strobe_site site = {.stream = s, .n_values = (uint8_t)n};
	for (unsigned i = 0; i < n; i++)
		site.where[i] = (int8_t)i;
	uint32_t number = site_of(1u + s, &site);
	stream_append(t, s, number, n, values);
	t->tools.streams.written[s] = *fill_of(t, s);
}

int
strobe_take_back(strobe_thread *handle, strobe_stream *stream)
{
	struct thread *t = (struct thread *)handle;
	uint8_t s = stream_declare(stream);
	if (s >= ST_MAX_STREAMS || !t->tools.streams.buffers[s] ||
	    t->tools.streams.written[s] != *fill_of(t, s))
		return -1;
	*fill_of(t, s) -= 8 + 8ull * rt.results->streams.v[s].n_columns;
	t->tools.streams.written[s] = 0;
	return 0;
}
