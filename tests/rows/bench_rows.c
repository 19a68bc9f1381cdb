/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How fast rows get from the program into a file: a producer that fills chunks as a program in a
 * nest of loops would, and the controller's thread that empties them. Millions of rows: 100, or the
 * first argument; then the file, or none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "control/drain.h"
#include "rows/rowfile.h"
#include "rowsource.h"

enum { SITES = 300, INNER = 12 };

static double
seconds(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Twelve sites in an inner loop over arrays; a walk over others, some at random addresses, between.
 */
static uint64_t *
fill(uint64_t *at, const uint64_t *end, uint64_t *step)
{
	while (at < end) {
		uint64_t i = *step += 1;
		for (uint32_t s = 0; s < INNER; s++)
			at = row_source_row(at, s, 0x10000000 * s + 8 * i, 8);
		if (i % 16 == 0)
			for (uint32_t s = INNER; s < INNER + 20; s++)
				at = row_source_row(at, INNER + (uint32_t)(s * i % (SITES - INNER)),
				                    i * s * 0x9e3779b97f4a7c15u >> 40, 4);
	}
	return at;
}

int
main(int argc, char **argv)
{
	double millions = argc > 1 ? atof(argv[1]) : 100, rows = 0;
	const char *tools[] = {"bench"};
	struct st_row_place place = {.before = argc > 2 ? argv[2] : "/tmp/strobe-bench",
	                             .behind = ""};
	struct st_results_header *h = row_source_new(1);
	struct st_row_writer *w = st_row_writer_new(&place, tools, 1);
	struct st_row_sink sink = {st_row_writer_begin, st_row_writer_take, st_row_writer_end, w};
	struct st_drain *d = st_drain_new(&sink);
	struct st_profile *p = st_profile_new();
	row_source_stream(h);
	for (uint32_t i = 0; i < SITES; i++)
		row_source_site(h, 0x1000 + 4 * i, i % 3 ? "read" : "write");
	st_drain_add(d, h, h->layout.file_size);
	st_drain_wake(d);
	double begin = seconds(CLOCK_MONOTONIC), produced = seconds(CLOCK_THREAD_CPUTIME_ID);
	uint64_t step = 0;
	while (rows < millions * 1e6)
		for (uint32_t c = 0; c < 64; c++) {
			if (__atomic_load_n(&h->streams.chunks[c].state, __ATOMIC_ACQUIRE) !=
			    ST_CHUNK_FREE)
				continue;
			uint64_t *at = row_source_chunk(h, c);
			uint64_t *end = fill(at, at + ST_CHUNK_BYTES / 8, &step);
			rows += (double)(end - at) / 3;
			row_source_full(h, c, 0, end);
		}
	produced = seconds(CLOCK_THREAD_CPUTIME_ID) - produced;
	st_drain_end(d, h);
	st_drain_free(d);
	ST_IGNORE(st_row_writer_finish(w, p));
	double wall = seconds(CLOCK_MONOTONIC) - begin;
	double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - produced;
	const struct st_profile_stream *s = &p->streams.v[0];
	printf("%.0f million rows: %.1f million a second, %.1f ns of CPU each, %.3f bytes each\n",
	       rows / 1e6, rows / wall / 1e6, cpu / rows * 1e9, (double)s->bytes / (double)s->rows);
	unlink(s->file);
	st_profile_free(p);
	st_row_writer_free(w);
	row_source_free(h);
	return 0;
}
