/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files of rows with bytes changed at random, within the frames too, which are packed again so that
 * their checksums hold: read to the end or refused. Rounds: 400, or the first argument.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "control/drain.h"
#include "fake.h"
#include "report/report.h"
#include "rows/rowfile.h"
#include "rowsource.h"

enum { MOST = 1 << 20, ROOM = 4 << 20 };

static unsigned char original[MOST];
static size_t original_size;

static void
die(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static void
make_original(const char *path)
{
	struct st_row_place place = {.before = path, .behind = ""};
	struct st_row_writer *w = st_row_writer_new(&place, NULL, 0);
	struct st_row_sink sink = {st_row_writer_begin, st_row_writer_take, st_row_writer_end, w};
	struct st_drain *d = st_drain_new(&sink);
	struct st_profile *p = st_profile_new();
	for (uint32_t k = 0; k < 2; k++) {
		struct st_results_header *h = row_source_new(100 + k);
		row_source_stream(h);
		for (unsigned i = 0; i < 5; i++)
			row_source_site(h, fixture_address("spin", i), i % 2 ? "read" : "write");
		st_drain_add(d, h, h->layout.file_size);
		for (uint32_t c = 0; c < 2; c++) {
			uint64_t *at = row_source_chunk(h, c);
			for (unsigned i = 0; i < 200; i++)
				at = row_source_row(at, i % 3 + c, 8 * i, i % 50 ? 8 : ~0ull * i);
			row_source_full(h, c, c, at);
		}
		st_drain_end(d, h);
		row_source_free(h);
	}
	st_drain_free(d);
	if (st_row_writer_finish(w, p) || !p->streams.v[0].file)
		die("cannot make a file of rows");
	FILE *in = fopen(p->streams.v[0].file, "r");
	original_size = in ? fread(original, 1, sizeof original, in) : 0;
	if (!original_size)
		die("cannot read it back");
	fclose(in);
	unlink(p->streams.v[0].file);
	st_profile_free(p);
	st_row_writer_free(w);
}

static void
change(unsigned char *bytes, size_t size)
{
	static const uint64_t odd[] = {0, 1, 0xff, 0xffff, UINT32_MAX, UINT64_MAX, 1ull << 63};
	for (int n = rand() % 4; n >= 0; n--) {
		size_t at = (size_t)rand() % size, length = (size_t[]){1, 4, 8}[rand() % 3];
		if (rand() % 2)
			at &= ~(size_t)7;
		uint64_t value = rand() % 2 ? odd[rand() % 7] : (uint64_t)rand();
		memcpy(bytes + at, &value, length < size - at ? length : size - at);
	}
}

/* Changes the content of the only frame; returns the size of the file. */
static size_t
change_within(unsigned char *file)
{
	static unsigned char content[ROOM];
	struct st_rows_frame head;
	size_t at = sizeof(struct st_rows_header);
	memcpy(&head, original + at, sizeof head);
	size_t n =
	        ZSTD_decompress(content, sizeof content, original + at + sizeof head, head.bytes);
	if (ZSTD_isError(n))
		die("cannot unpack a frame");
	change(content, n);
	size_t packed =
	        ZSTD_compress(file + at + sizeof head, ROOM - at - sizeof head, content, n, 1);
	head.bytes = (uint32_t)packed;
	if (rand() % 8 == 0)
		head.records = (uint32_t)rand() % (uint32_t)(n + 8);
	memcpy(file + at, &head, sizeof head);
	return at + sizeof head + packed;
}

static size_t
write_mutant(const char *path)
{
	static unsigned char mutant[ROOM];
	memcpy(mutant, original, original_size);
	size_t size = original_size;
	if (rand() % 4 == 0) /* the columns then mean something else */
		mutant[offsetof(struct st_rows_header, version)] = ST_ROWS_OLDEST;
	if (rand() % 4)
		size = change_within(mutant);
	else
		change(mutant + 16, size - 16);
	if (rand() % 10 == 0)
		size -= (size_t)rand() % (size / 2);
	FILE *out = fopen(path, "w");
	if (!out || fwrite(mutant, 1, size, out) != size)
		die("cannot write the mutant");
	fclose(out);
	return size;
}

int
main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 400, whole = 0, refused = 0;
	char path[] = "/tmp/strobe-fuzz-XXXXXX";
	FILE *nowhere = fopen("/dev/null", "w");
	close(mkstemp(path));
	make_original(path);
	srand(argc > 2 ? (unsigned)atoi(argv[2]) : 1);
	for (int i = 0; i < rounds; i++) {
		struct st_error e = {0};
		struct st_style plain = {0};
		write_mutant(path);
		struct st_row_reader *r = st_row_reader_open(path, &e);
		int status =
		        r ? st_report_rows(r, nowhere, (enum st_report_format)(i % 3), 0, plain, &e)
		          : -1;
		if (status && (e.code != ST_EXIT_FAILED || !*e.text))
			die("refused without a cause");
		whole += !status;
		refused += status != 0;
		st_row_reader_close(r);
	}
	unlink(path);
	fclose(nowhere);
	printf("%d read, %d refused\n", whole, refused);
	return whole && refused ? 0 : 1; /* both, or the mutants prove nothing */
}
