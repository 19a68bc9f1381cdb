/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rowsource.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "control/internal.h"
#include "fake.h"

static uint32_t
add_string(struct st_results_header *h, const char *text)
{
	uint32_t at = h->strings.n;
	strcpy((char *)h + h->layout.off_strings + at, text);
	h->strings.n += (uint32_t)strlen(text) + 1;
	return at;
}

struct st_results_header *
row_source_new(uint32_t pid)
{
	struct st_results_header layout = {0};
	st_results_layout(&layout);
	struct st_results_header *h = mmap(NULL, layout.layout.file_size, PROT_READ | PROT_WRITE,
	                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (h == MAP_FAILED)
		abort();
	*h = layout;
	st_results_place(h, 0x7e9100003000);
	h->layout.pid = pid;
	h->run.tsc_begin = 1000000;
	struct st_map *maps = (struct st_map *)((char *)h + h->layout.off_maps);
	maps[h->maps.n++] = (struct st_map){.start = FIXTURE_BASE + 0x1000,
	                                    .end = FIXTURE_BASE + 0x2000,
	                                    .pgoff = 0x1000,
	                                    .path = add_string(h, fixture_path())};
	maps[h->maps.n++] = (struct st_map){.start = 0x7e0000000000, .end = 0x7e0000001000};
	struct st_thread *threads = (struct st_thread *)((char *)h + h->layout.off_threads);
	for (h->threads.n = 0; h->threads.n < 2; h->threads.n++)
		threads[h->threads.n] = (struct st_thread){.tid = pid + h->threads.n,
		                                           .state = ST_THREAD_LIVE,
		                                           .slot = h->threads.n + 1};
	h->threads.n_slots = 3;
	return h;
}

size_t
row_source_size(void)
{
	struct st_results_header layout = {0};
	st_results_layout(&layout);
	return layout.layout.file_size;
}

void
row_source_free(struct st_results_header *h)
{
	munmap(h, h->layout.file_size);
}

void
row_source_stream(struct st_results_header *h)
{
	struct st_stream *s = &h->streams.v[h->streams.n];
	*s = (struct st_stream){
	        .name = add_string(h, "trace"), .help = add_string(h, "a trace"), .n_columns = 4};
	s->columns[0] = (struct st_column){add_string(h, "site"), STROBE_ADDRESS, STROBE_IS_KEY};
	s->columns[1] = (struct st_column){add_string(h, "kind"), STROBE_TEXT, STROBE_IS_KEY};
	s->columns[2] = (struct st_column){add_string(h, "data"), STROBE_HEX, STROBE_IS_KEY};
	s->columns[3] = (struct st_column){add_string(h, "n"), STROBE_NUMBER, STROBE_IS_KEY};
	h->streams.n++;
}

uint32_t
row_source_site(struct st_results_header *h, uint64_t address, const char *kind)
{
	strobe_site *sites = (strobe_site *)((char *)h + h->layout.off_sites);
	sites[h->streams.n_sites] = (strobe_site){
	        .constant = {address, add_string(h, kind)}, .where = {-1, -1, 0, 1}, .n_values = 2};
	return h->streams.n_sites++;
}

uint64_t *
row_source_row(uint64_t *at, uint32_t site, uint64_t data, uint64_t n)
{
	at[0] = (uint64_t)site << 4 | 2;
	at[1] = data;
	at[2] = n;
	return at + 3;
}

uint64_t *
row_source_chunk(struct st_results_header *h, uint32_t chunk)
{
	return (uint64_t *)((char *)h + h->layout.off_chunks + (uint64_t)chunk * ST_CHUNK_STRIDE);
}

void
row_source_full(struct st_results_header *h, uint32_t chunk, uint32_t thread, const uint64_t *end)
{
	struct st_chunk *c = &h->streams.chunks[chunk];
	c->thread = thread;
	c->bytes = (uint32_t)((const char *)end - (const char *)row_source_chunk(h, chunk));
	c->sequence = ++h->streams.chunk_sequence;
	__atomic_store_n(&c->state, ST_CHUNK_FULL, __ATOMIC_SEQ_CST);
}

void
row_source_owned(struct st_results_header *h, uint32_t chunk, uint32_t thread, const uint64_t *end)
{
	uint64_t slot = thread + 1, *counters = (uint64_t *)((char *)h + h->layout.off_counters);
	h->streams.chunks[chunk] = (struct st_chunk){.state = ST_CHUNK_OWNED, .thread = thread};
	counters[slot * h->layout.counters_stride / 8 + ST_STREAM_ID(0)] =
	        h->layout.at + (uint64_t)((const char *)end - (const char *)h);
}
