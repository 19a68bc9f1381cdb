/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows from the program's chunks into a file and back: all of them, in their order, whatever
 * becomes of the program and of the disk. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#include "control/drain.h"
#include "fake.h"
#include "report/report.h"
#include "rows/rowcodec.h"
#include "rows/rowfile.h"
#include "rows/rowfile_out.h"
#include "rowsource.h"

/* ---- the codec ---- */

enum { ROWS = 2000, SITES = 40 };

static uint64_t
random_value(unsigned kind, uint64_t i)
{
	uint64_t wide = (uint64_t)rand() << 40 ^ (uint64_t)rand() << 20 ^ (uint64_t)rand();
	return kind == 0 ? 0 : kind == 1 ? 8 * i : kind == 2 ? wide : (uint64_t)rand() % 1000;
}

/* Random rows; returns where they end. */
static uint64_t *
make_rows(uint64_t *at, const strobe_site *sites, unsigned regular)
{
	for (uint64_t i = 0; i < ROWS; i++) {
		uint32_t s = (uint32_t)(regular ? i % 7 : (unsigned)rand()) % SITES;
		*at++ = (uint64_t)s << 4 | sites[s].n_values;
		for (unsigned k = 0; k < sites[s].n_values; k++)
			*at++ = random_value(regular ? 1 : (unsigned)rand() % 4, i);
	}
	return at;
}

/* The columns of a frame. */
struct frame {
	unsigned char bytes[ST_CODEC_COLUMNS][ST_CODEC_MOST(ROWS * 88)];
	struct st_encoded e;
};

static void
encode(struct st_codec *c, struct frame *f, const uint64_t *rows, size_t bytes,
       const strobe_site *sites)
{
	for (unsigned i = 0; i < ST_CODEC_COLUMNS; i++)
		f->e.at[i] = f->bytes[i];
	st_codec_encode(c, rows, bytes, sites, SITES, &f->e);
}

static size_t
encoded(const struct frame *f)
{
	size_t n = 0;
	for (unsigned i = 0; i < ST_CODEC_COLUMNS; i++)
		n += (size_t)(f->e.at[i] - f->bytes[i]);
	return n;
}

static void
assert_decoded(struct st_codec *c, const struct frame *f, const strobe_site *sites,
               const uint64_t *rows)
{
	struct st_decoding in = {.version = ST_ROWS_VERSION, .sites = sites, .n_sites = SITES};
	uint64_t values[STROBE_MOST_COLUMNS];
	uint32_t site;
	for (unsigned i = 0; i < ST_CODEC_COLUMNS; i++) {
		in.at[i] = f->bytes[i];
		in.end[i] = f->e.at[i];
		assert_true((size_t)(in.end[i] - in.at[i]) <= sizeof f->bytes[i] - 8);
	}
	st_codec_begin(&in, f->e.n_rows);
	for (uint32_t i = 0; i < f->e.n_rows; i++) {
		assert_int_equal(st_codec_decode(c, &in, &site, values), 1);
		assert_int_equal((uint64_t)site << 4 | sites[site].n_values, *rows);
		assert_memory_equal(values, rows + 1, sites[site].n_values * 8);
		rows += 1 + sites[site].n_values;
	}
	assert_int_equal(st_codec_decode(c, &in, &site, values), 0);
	for (unsigned i = 0; i < ST_CODEC_COLUMNS; i++)
		assert_ptr_equal(in.at[i], in.end[i]);
}

static void
rows_come_back_from_few_bytes(void **state)
{
	(void)state;
	static uint64_t rows[ROWS * 11];
	static struct frame f;
	strobe_site sites[SITES] = {0};
	struct st_codec *in = st_codec_new(), *out = st_codec_new();
	for (unsigned i = 0; i < SITES; i++)
		sites[i].n_values = (uint8_t)(i % 11);
	srand(1);
	for (unsigned round = 0; round < 40; round++) {
		uint64_t *end = make_rows(rows, sites, round % 2);
		size_t bytes = (size_t)(end - rows) * 8;
		if (round % 5 == 0) {
			st_codec_reset(in);
			st_codec_reset(out);
		}
		encode(in, &f, rows, bytes, sites);
		assert_true(f.e.whole);
		assert_int_equal(f.e.n_rows, ROWS);
		if (round % 2)
			assert_true(encoded(&f) < bytes / 16);
		assert_decoded(out, &f, sites, rows);
	}
	st_codec_free(in);
	st_codec_free(out);
}

/* Each value by each of the ways to write it, and the longest columns that there can be. */
static void
all_lengths_of_values_come_back(void **state)
{
	(void)state;
	static uint64_t rows[ROWS * 11];
	static struct frame f;
	strobe_site sites[SITES] = {0};
	uint64_t *at = rows, value = 0;
	struct st_codec *in = st_codec_new(), *out = st_codec_new();
	for (unsigned i = 0; i < SITES; i++)
		sites[i].n_values = (uint8_t)(i == 1 ? 10 : 1);
	for (unsigned bit = 0; bit < 64; bit++)
		for (unsigned k = 0; k < 6; k++) {
			uint64_t power = 1ull << bit, by[] = {power, power - 1, power + 1};
			value += k < 3 ? by[k] : -by[k - 3];
			*at++ = 2 << 4 | 1;
			*at++ = value;
		}
	encode(in, &f, rows, (size_t)(at - rows) * 8, sites);
	assert_decoded(out, &f, sites, rows);
	srand(5);
	for (at = rows; at < rows + ROWS * 11;) {
		*at++ = 1 << 4 | 10;
		for (unsigned k = 0; k < 10; k++)
			*at++ = random_value(2, 0);
	}
	encode(in, &f, rows, sizeof rows, sites);
	assert_decoded(out, &f, sites, rows);
	st_codec_free(in);
	st_codec_free(out);
}

/* Many rows of one value in a row, which are encoded together, others between them: values that
 * grow steadily, by turns, as the one before, and by any amount. */
static void
rows_of_one_value_come_back(void **state)
{
	(void)state;
	static uint64_t rows[ROWS * 3];
	static struct frame f;
	strobe_site sites[SITES] = {0};
	uint64_t grown[SITES] = {0}, n = 0;
	struct st_codec *in = st_codec_new(), *out = st_codec_new();
	for (unsigned i = 0; i < SITES; i++)
		sites[i].n_values = i == 7 ? 2 : 1;
	srand(9);
	for (unsigned round = 0; round < 20; round++) {
		uint64_t *at = rows;
		for (; at < rows + ROWS * 3 - 2; n++) {
			uint32_t s = (uint32_t)(n % (rand() % 50 ? 6 : SITES));
			*at++ = (uint64_t)s << 4 | sites[s].n_values;
			grown[s] += (s % 3 == 0  ? 8
			             : n / 6 % 2 ? 4096
			                         : -4096ull) +
			            (rand() % 20 ? 0 : random_value((unsigned)rand() % 4, n));
			*at++ = grown[s];
			if (s == 7)
				*at++ = n;
		}
		encode(in, &f, rows, (size_t)(at - rows) * 8, sites);
		assert_true(f.e.whole);
		assert_decoded(out, &f, sites, rows);
	}
	st_codec_free(in);
	st_codec_free(out);
}

/* What is no row ends them, and what was before can be read; so can what is encoded next. */
static void
damaged_rows_are_left_out(void **state)
{
	(void)state;
	static uint64_t rows[ROWS * 11];
	static struct frame f;
	strobe_site sites[SITES] = {0};
	struct st_codec *in = st_codec_new(), *out = st_codec_new();
	for (unsigned i = 0; i < SITES; i++)
		sites[i].n_values = 2;
	uint64_t *end = make_rows(rows, sites, 1);
	size_t bytes = (size_t)(end - rows) * 8;
	const uint64_t wrong[] = {(uint64_t)SITES << 4 | 2, 3, 15, UINT64_MAX};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		uint64_t right = rows[300];
		rows[300] = wrong[i];
		encode(in, &f, rows, bytes, sites);
		assert_false(f.e.whole);
		assert_int_equal(f.e.n_rows, 100);
		assert_decoded(out, &f, sites, rows);
		rows[300] = right;
	}
	st_codec_free(in);
	st_codec_free(out);
}

/* ---- files ---- */

struct setup {
	char directory[32], before[64];
	struct st_row_place place;
	struct st_row_writer *writer;
	struct st_row_sink sink;
	struct st_drain *drain;
	struct st_profile *profile;
};

static void
begin(struct setup *s)
{
	static const char *const tools[] = {"tool"};
	*s = (struct setup){.directory = "/tmp/strobe-rows-XXXXXX"};
	assert_non_null(mkdtemp(s->directory));
	snprintf(s->before, sizeof s->before, "%s/x.", s->directory);
	s->place = (struct st_row_place){.before = s->before, .behind = ".db", .with_pid = true};
	s->writer = st_row_writer_new(&s->place, tools, 1);
	s->sink = (struct st_row_sink){st_row_writer_begin, st_row_writer_take, st_row_writer_end,
	                               s->writer};
	s->drain = st_drain_new(&s->sink);
	s->profile = st_profile_new();
	s->profile->run.tsc_hz = 1e9;
}

/* Returns the file of rows. */
static const char *
finish(struct setup *s)
{
	st_drain_free(s->drain);
	assert_int_equal(st_row_writer_finish(s->writer, s->profile), 0);
	assert_int_equal(s->profile->streams.n, 1);
	return s->profile->streams.v[0].file;
}

static void
leave(struct setup *s)
{
	char command[64];
	st_row_writer_free(s->writer);
	st_profile_free(s->profile);
	snprintf(command, sizeof command, "rm -r %s", s->directory);
	assert_int_equal(system(command), 0);
}

static void
expect_row(struct st_row_reader *r, int64_t tid, const char *function, const char *kind,
           uint64_t data, uint64_t n)
{
	struct st_row_shown row;
	struct st_error e = {0};
	if (st_row_reader_next(r, &row, &e) != 1)
		fail_msg("no row: %s", e.text);
	assert_int_equal(row.tid, tid);
	if (function)
		assert_string_equal(row.values[0].text, function);
	else
		assert_null(row.values[0].text);
	assert_string_equal(row.values[1].text, kind);
	assert_int_equal(row.values[2].number, data);
	assert_int_equal(row.values[3].number, n);
}

static struct st_row_reader *
open_rows(const char *path)
{
	struct st_error e = {0};
	struct st_row_reader *r = st_row_reader_open(path, &e);
	if (!r)
		fail_msg("%s", e.text);
	return r;
}

/* In the order in which chunks were filled; then what threads have in theirs that are not full. */
static void
rows_keep_their_order(void **state)
{
	(void)state;
	struct setup s;
	struct st_row_shown row;
	struct st_error e = {0};
	begin(&s);
	struct st_results_header *h = row_source_new(4711);
	row_source_stream(h);
	uint32_t a = row_source_site(h, fixture_address("spin", 2), "read");
	st_drain_add(s.drain, h, h->layout.file_size);
	uint64_t *late = row_source_chunk(h, 0), *early = row_source_chunk(h, 7);
	uint64_t *end = row_source_row(early, a, 0x1000, 1);
	row_source_full(h, 7, 0, row_source_row(end, a, 0x1008, 2));
	row_source_full(h, 0, 0, row_source_row(late, a, 0x1010, 3));
	uint32_t b = row_source_site(h, 0x7e0000000010, "write");
	uint64_t *rest = row_source_chunk(h, 3);
	row_source_owned(h, 3, 1, row_source_row(rest, b, 5, UINT64_MAX));
	st_drain_end(s.drain, h);
	assert_int_equal(h->streams.chunks[7].state, ST_CHUNK_FREE);
	row_source_free(h);
	const char *path = finish(&s);
	assert_non_null(strstr(path, "/x.4711.db.trace.rows"));
	assert_int_equal(s.profile->streams.v[0].rows, 4);
	assert_string_equal(s.profile->streams.v[0].tool, "tool");
	assert_int_equal(s.profile->notes.n, 0);
	struct st_row_reader *r = open_rows(path);
	assert_int_equal(st_row_reader_rows(r), 4);
	assert_string_equal(st_row_reader_stream(r)->name, "trace");
	assert_string_equal(st_row_reader_stream(r)->help, "a trace");
	expect_row(r, 4711, "spin", "read", 0x1000, 1);
	expect_row(r, 4711, "spin", "read", 0x1008, 2);
	expect_row(r, 4711, "spin", "read", 0x1010, 3);
	expect_row(r, 4712, NULL, "write", 5, UINT64_MAX);
	assert_int_equal(st_row_reader_next(r, &row, &e), 0);
	st_row_reader_close(r);
	leave(&s);
}

static void
processes_share_a_file(void **state)
{
	(void)state;
	struct setup s;
	begin(&s);
	struct st_results_header *h[2] = {row_source_new(10), row_source_new(20)};
	for (unsigned i = 0; i < 2; i++) {
		row_source_stream(h[i]);
		if (i) /* so that numbers mean something else */
			row_source_site(h[i], 1, "other");
		uint32_t site = row_source_site(h[i], fixture_address("spin", 0), i ? "b" : "a");
		st_drain_add(s.drain, h[i], h[i]->layout.file_size);
		row_source_full(h[i], 0, 0, row_source_row(row_source_chunk(h[i], 0), site, i, 0));
		h[i]->streams.v[0].dropped = 5;
	}
	for (unsigned i = 0; i < 2; i++) {
		st_drain_end(s.drain, h[i]);
		row_source_free(h[i]);
	}
	struct st_row_reader *r = open_rows(finish(&s));
	assert_int_equal(s.profile->streams.v[0].dropped, 10);
	assert_int_equal(s.profile->notes.n, 1);
	expect_row(r, 10, "spin", "a", 0, 0);
	expect_row(r, 20, "spin", "b", 1, 0);
	st_row_reader_close(r);
	leave(&s);
}

/* The rows of a child may be written before those of its parent. */
static void
starts_count_from_the_first_process(void **state)
{
	(void)state;
	struct setup s;
	struct st_row_shown row;
	struct st_error e = {0};
	begin(&s);
	struct st_results_header *h[2] = {row_source_new(10), row_source_new(20)};
	for (unsigned i = 0; i < 2; i++) {
		row_source_stream(h[i]);
		st_drain_add(s.drain, h[i], h[i]->layout.file_size);
		h[i]->run.tsc_begin = 1000 + 4000 * i;
	}
	for (unsigned i = 2; i-- > 0;) {
		uint32_t site = row_source_site(h[i], 0x7e0000000010, "a");
		row_source_full(h[i], 0, 0, row_source_row(row_source_chunk(h[i], 0), site, i, 0));
		st_drain_end(s.drain, h[i]);
		row_source_free(h[i]);
	}
	struct st_row_reader *r = open_rows(finish(&s));
	static const struct {
		int64_t pid;
		uint64_t start_ns;
	} wanted[] = {{20, 4000}, {10, 0}};
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(st_row_reader_next(r, &row, &e), 1);
		assert_int_equal(row.pid, wanted[i].pid);
		assert_int_equal(row.start_ns, wanted[i].start_ns);
	}
	assert_int_equal(st_row_reader_next(r, &row, &e), 0);
	st_row_reader_close(r);
	leave(&s);
}

/* Many frames, from a thread that drains while they are made. */
static uint64_t
make_many(struct setup *s, struct st_results_header *h, uint32_t site, uint64_t chunks)
{
	uint64_t n = 0;
	srand(3);
	for (uint64_t c = 0; c < chunks; c++) {
		uint32_t i = (uint32_t)(c % 8);
		while (__atomic_load_n(&h->streams.chunks[i].state, __ATOMIC_ACQUIRE) !=
		       ST_CHUNK_FREE)
			usleep(100);
		uint64_t *at = row_source_chunk(h, i), *end = at + ST_CHUNK_BYTES / 8;
		while (at < end)
			at = row_source_row(at, site, (uint64_t)rand() << 32 | (uint32_t)rand(),
			                    n++);
		row_source_full(h, i, 0, at);
		if (!c)
			st_drain_wake(s->drain);
	}
	return n;
}

static void
a_file_that_was_cut_is_read_up_to_there(void **state)
{
	(void)state;
	struct setup s;
	struct st_row_shown row;
	struct st_error e = {0};
	struct stat st;
	begin(&s);
	struct st_results_header *h = row_source_new(1);
	row_source_stream(h);
	uint32_t site = row_source_site(h, 0x7e0000000010, "x");
	st_drain_add(s.drain, h, h->layout.file_size);
	uint64_t n = make_many(&s, h, site, 100), k = 0;
	st_drain_end(s.drain, h);
	row_source_free(h);
	const char *path = finish(&s);
	assert_int_equal(s.profile->streams.v[0].rows, n);
	struct st_row_reader *r = open_rows(path);
	for (; st_row_reader_next(r, &row, &e) > 0; k++)
		assert_int_equal(row.values[3].number, k);
	assert_int_equal(k, n);
	st_row_reader_close(r);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, st.st_size - 1000), 0);
	r = open_rows(path);
	for (k = 0; st_row_reader_next(r, &row, &e) > 0; k++)
		assert_int_equal(row.values[3].number, k);
	assert_true(k > n / 2 && k < n);
	assert_int_equal(k, st_row_reader_rows(r));
	assert_non_null(strstr(e.text, "it ends within a frame"));
	assert_non_null(strstr(e.text, "the rows before that are correct"));
	st_row_reader_close(r);
	leave(&s);
}

static void
a_full_disk_costs_rows_and_no_more(void **state)
{
	(void)state;
	struct setup s;
	struct st_row_shown row;
	struct st_error e;
	struct rlimit before, low = {3 << 20, RLIM_INFINITY};
	begin(&s);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
	struct st_results_header *h = row_source_new(1);
	row_source_stream(h);
	uint32_t site = row_source_site(h, 0x7e0000000010, "x");
	st_drain_add(s.drain, h, h->layout.file_size);
	uint64_t n = make_many(&s, h, site, 200), k = 0;
	st_drain_end(s.drain, h);
	row_source_free(h);
	const char *path = finish(&s);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	const struct st_profile_stream *stream = &s.profile->streams.v[0];
	assert_int_equal(stream->rows + stream->dropped, n);
	assert_true(stream->rows && stream->dropped);
	assert_int_equal(s.profile->notes.n, 1);
	assert_non_null(strstr(s.profile->notes.v[0], "File too large"));
	struct st_row_reader *r = open_rows(path);
	while (st_row_reader_next(r, &row, &e) > 0)
		k++;
	assert_int_equal(k, stream->rows);
	st_row_reader_close(r);
	leave(&s);
}

/* Rows of two values, and what version 2 of the format had for them. */
static const uint64_t rows_2[7][3] = {
        {0 << 4 | 2, 0x1000, 1},        {1 << 4 | 2, 0x2000, UINT64_MAX},
        {0 << 4 | 2, 0x1008, 2},        {1 << 4 | 2, 0x2008, 7},
        {0 << 4 | 2, 0x1010, 3},        {1 << 4 | 2, 0x12345678, 8},
        {1 << 4 | 2, 0x123456789abc, 8}};
static const unsigned char runs_2[] = {1, 1, 2, 1, 1, 4, 2, 1},
                           controls_2[] = {0xaa, 0x92, 0x60, 0x0a},
                           lengths_2[] = {0x11, 0xf0, 0x00},
                           values_2[] = {0x00, 0x20, 0x02, 0x00, 0x40, 0x01, 0x10, 0x10, 0xe0,
                                         0x6c, 0x68, 0x24, 0x00, 0x00, 0x00, 0x00, 0x88, 0x88,
                                         0x88, 0x88, 0x68, 0x24, 0x00, 0x00, 0x00};
static const struct {
	const unsigned char *bytes;
	uint32_t n;
} columns_2[ST_CODEC_COLUMNS] = {{runs_2, sizeof runs_2},
                                 {controls_2, sizeof controls_2},
                                 {lengths_2, sizeof lengths_2},
                                 {values_2, sizeof values_2}};

/* Makes a file that has these rows one of version 2. */
static void
make_old(const char *path)
{
	static unsigned char file[1 << 16], content[1 << 16];
	struct st_rows_header *head = (struct st_rows_header *)file;
	struct st_rows_frame *frame = (struct st_rows_frame *)(head + 1);
	struct st_rows_columns columns;
	FILE *f = fopen(path, "r+");
	assert_non_null(f);
	assert_true(fread(file, 1, sizeof file, f) > sizeof *head + sizeof *frame);
	size_t n = ZSTD_decompress(content, sizeof content, frame + 1, frame->bytes);
	assert_int_equal(n, frame->content);
	n = frame->records + sizeof columns;
	for (unsigned i = 0; i < ST_CODEC_COLUMNS; i++) {
		columns.bytes[i] = columns_2[i].n;
		memcpy(content + n, columns_2[i].bytes, columns_2[i].n);
		n += columns_2[i].n;
	}
	memcpy(content + frame->records, &columns, sizeof columns);
	head->version = 2;
	frame->content = (uint32_t)n;
	frame->bytes = (uint32_t)ZSTD_compress(frame + 1, 1 << 15, content, n, 1);
	rewind(f);
	n = sizeof *head + sizeof *frame + frame->bytes;
	assert_int_equal(fwrite(file, 1, n, f), n);
	assert_int_equal(ftruncate(fileno(f), (off_t)n), 0);
	fclose(f);
}

static void
files_of_version_2_are_read(void **state)
{
	(void)state;
	struct setup s;
	struct st_row_shown row;
	struct st_error e = {0};
	begin(&s);
	struct st_results_header *h = row_source_new(1);
	row_source_stream(h);
	row_source_site(h, 0x7e0000000010, "a");
	row_source_site(h, 0x7e0000000020, "b");
	st_drain_add(s.drain, h, h->layout.file_size);
	uint64_t *at = row_source_chunk(h, 0);
	for (unsigned i = 0; i < 7; i++)
		at = row_source_row(at, (uint32_t)(rows_2[i][0] >> 4), rows_2[i][1], rows_2[i][2]);
	row_source_full(h, 0, 0, at);
	st_drain_end(s.drain, h);
	row_source_free(h);
	const char *path = finish(&s);
	make_old(path);
	struct st_row_reader *r = open_rows(path);
	for (unsigned i = 0; i < 7; i++)
		expect_row(r, 1, NULL, rows_2[i][0] >> 4 ? "b" : "a", rows_2[i][1], rows_2[i][2]);
	assert_int_equal(st_row_reader_next(r, &row, &e), 0);
	st_row_reader_close(r);
	leave(&s);
}

static void
no_place_for_rows_is_told(void **state)
{
	(void)state;
	struct setup s;
	begin(&s);
	s.place.before = "/nonexistent/x.";
	st_row_writer_free(s.writer);
	s.writer = st_row_writer_new(&s.place, NULL, 0);
	s.sink.arg = s.writer;
	struct st_results_header *h = row_source_new(1);
	row_source_stream(h);
	uint32_t site = row_source_site(h, 1, "x");
	st_drain_add(s.drain, h, h->layout.file_size);
	row_source_full(h, 0, 0, row_source_row(row_source_chunk(h, 0), site, 0, 0));
	st_drain_end(s.drain, h);
	row_source_free(h);
	assert_null(finish(&s));
	assert_int_equal(s.profile->streams.v[0].dropped, 1);
	assert_non_null(strstr(s.profile->notes.v[0], "No such file or directory; 1 row was lost"));
	leave(&s);
}

/* What lies where rows are to go is neither written into nor followed. */
static void
links_are_not_followed_for_rows(void **state)
{
	(void)state;
	char directory[] = "/tmp/strobe-rows-XXXXXX", target[64], link[64], text[16] = "";
	struct st_row_out out;
	struct stat st;
	assert_non_null(mkdtemp(directory));
	snprintf(target, sizeof target, "%s/target", directory);
	snprintf(link, sizeof link, "%s/link", directory);
	FILE *f = fopen(target, "w");
	assert_non_null(f);
	fputs("precious", f);
	fclose(f);
	assert_int_equal(symlink(target, link), 0);
	for (int again = 0; again < 2; again++) { /* the second time it is a file of rows */
		st_row_out_open(&out, strdup(link));
		assert_int_equal(out.error, 0);
		st_row_out_close(&out);
		assert_int_equal(lstat(link, &st), 0);
		assert_true(S_ISREG(st.st_mode) && st.st_size > 0);
	}
	f = fopen(target, "r");
	assert_non_null(f);
	assert_int_equal(fread(text, 1, sizeof text - 1, f), 8);
	assert_string_equal(text, "precious");
	fclose(f);
	unlink(link);
	assert_int_equal(mkfifo(link, 0600), 0);
	st_row_out_open(&out, strdup(link));
	assert_int_equal(out.error, EEXIST);
	st_row_out_close(&out);
	unlink(link);
	unlink(target);
	rmdir(directory);
}

/* The program may have written over all that says where rows are. */
static void
wild_chunks_are_survived(void **state)
{
	(void)state;
	struct setup s;
	begin(&s);
	srand(7);
	for (unsigned round = 0; round < 200; round++) {
		struct st_results_header *h = row_source_new(1 + round);
		row_source_stream(h);
		uint32_t site = row_source_site(h, 1, "x");
		uint64_t *at = row_source_chunk(h, 0);
		row_source_full(h, 0, 0, row_source_row(at, site, 0, 0));
		row_source_owned(h, 1, 1, row_source_chunk(h, 1));
		if (round % 2)
			st_drain_add(s.drain, h, h->layout.file_size);
		unsigned char *bytes = (unsigned char *)h;
		for (unsigned i = 0; i < 30; i++) {
			size_t k = (size_t)rand() % (sizeof h->streams.chunks[0] * 4);
			((unsigned char *)h->streams.chunks)[k] = (unsigned char)rand();
			((unsigned char *)at)[rand() % 24] = (unsigned char)rand();
			bytes[offsetof(struct st_results_header, layout.off_maps) +
			      (size_t)rand() % 200] = (unsigned char)rand();
			bytes[offsetof(struct st_results_header, streams.v) +
			      (size_t)rand() % 100] = (unsigned char)rand();
		}
		h->streams.chunks[0].state = ST_CHUNK_FULL;
		h->streams.n = 1;
		if (round % 2 == 0)
			st_drain_add(s.drain, h, row_source_size());
		st_drain_end(s.drain, h);
		h->layout.file_size = row_source_size();
		row_source_free(h);
	}
	st_drain_free(s.drain);
	assert_int_equal(st_row_writer_finish(s.writer, s.profile), 0);
	leave(&s);
}

static void
other_programs_read_rows(void **state)
{
	(void)state;
	struct setup s;
	struct st_error e;
	struct st_style plain = {0};
	static const enum st_report_format formats[] = {ST_FORMAT_CSV, ST_FORMAT_JSON,
	                                                ST_FORMAT_TEXT};
	char *text[3] = {NULL};
	size_t size;
	begin(&s);
	struct st_results_header *h = row_source_new(4711);
	row_source_stream(h);
	uint32_t site = row_source_site(h, fixture_address("spin", 2), "a,b");
	st_drain_add(s.drain, h, h->layout.file_size);
	uint64_t *at = row_source_chunk(h, 0);
	at = row_source_row(at, site, 0xabc, 7);
	row_source_full(h, 0, 0, row_source_row(at, site, 0xabd, 8));
	st_drain_end(s.drain, h);
	row_source_free(h);
	const char *path = finish(&s);
	for (unsigned i = 0; i < 3; i++) {
		struct st_row_reader *r = open_rows(path);
		FILE *out = open_memstream(&text[i], &size);
		assert_int_equal(st_report_rows(r, out, formats[i], 1, plain, &e), 0);
		fclose(out);
		st_row_reader_close(r);
	}
	char csv[1000], json[1000];
	unsigned long long offset = fixture_offset("spin") + 2;
	const char *image = fixture_path();
	snprintf(csv, sizeof csv,
	         "pid,tid,site,site_image,site_function,image,kind,data,n\n"
	         "4711,4711,%llu,%s,spin,%s,\"a,b\",0xabc,7\n",
	         offset, image, image);
	snprintf(json, sizeof json,
	         "{\"site\":%llu,\"site_image\":\"%s\",\"site_function\":\"spin\",\"image\":\"%s\","
	         "\"kind\":\"a,b\",\"data\":\"0xabc\",\"n\":7,\"pid\":4711,\"tid\":4711}\n",
	         offset, image, image);
	assert_string_equal(text[0], csv);
	assert_string_equal(text[1], json);
	assert_non_null(strstr(text[2], "a,b   0xabc  7\n"));
	assert_non_null(strstr(text[2], "... and 1 more (--top, --all)\n"));
	for (unsigned i = 0; i < 3; i++)
		free(text[i]);
	leave(&s);
}

static void
foreign_files_are_refused(void **state)
{
	(void)state;
	struct st_error e;
	char path[] = "/tmp/strobe-rows-XXXXXX";
	int fd = mkstemp(path);
	assert_null(st_row_reader_open("/nonexistent", &e));
	assert_non_null(strstr(e.text, "No such file"));
	assert_null(st_row_reader_open(path, &e));
	assert_non_null(strstr(e.text, "is not a file of rows"));
	struct st_rows_header head = {ST_ROWS_MAGIC, 9, sizeof head, {0}};
	assert_int_equal(write(fd, &head, sizeof head), sizeof head);
	assert_null(st_row_reader_open(path, &e));
	assert_non_null(strstr(e.text, "newer strobe (version 9"));
	head.version = 1;
	assert_int_equal(pwrite(fd, &head, sizeof head, 0), sizeof head);
	assert_null(st_row_reader_open(path, &e));
	assert_non_null(strstr(e.text, "older strobe (version 1"));
	head.version = 3;
	assert_int_equal(pwrite(fd, &head, sizeof head, 0), sizeof head);
	assert_null(st_row_reader_open(path, &e));
	assert_non_null(strstr(e.text, "does not say what its rows are; run the program again"));
	close(fd);
	unlink(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(rows_come_back_from_few_bytes),
	        cmocka_unit_test(all_lengths_of_values_come_back),
	        cmocka_unit_test(rows_of_one_value_come_back),
	        cmocka_unit_test(damaged_rows_are_left_out),
	        cmocka_unit_test(rows_keep_their_order),
	        cmocka_unit_test(processes_share_a_file),
	        cmocka_unit_test(starts_count_from_the_first_process),
	        cmocka_unit_test(a_file_that_was_cut_is_read_up_to_there),
	        cmocka_unit_test(a_full_disk_costs_rows_and_no_more),
	        cmocka_unit_test(files_of_version_2_are_read),
	        cmocka_unit_test(no_place_for_rows_is_told),
	        cmocka_unit_test(links_are_not_followed_for_rows),
	        cmocka_unit_test(wild_chunks_are_survived),
	        cmocka_unit_test(other_programs_read_rows),
	        cmocka_unit_test(foreign_files_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
