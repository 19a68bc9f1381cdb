/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Changes, removes and adds bytes of indices, objects and changes of Perun at random. Each result
 * is read, or refused with a cause, and nothing is read beyond its end.
 * usage: test_perun_store ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "import/perun_store.h"

static void
expect(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s\n", what);
	exit(1);
}

/* A changed copy, allocated with its exact size, so that a sanitizer detects reads beyond it. */
static unsigned char *
mutant_of(const unsigned char *bytes, size_t n, size_t *size)
{
	unsigned char *m = malloc(n + 8), *exact;
	memcpy(m, bytes, n);
	*size = n;
	for (int changes = rand() % 4; changes >= 0; changes--) {
		size_t at = *size ? (size_t)rand() % *size : 0;
		switch (rand() % 4) {
		case 0:
			*size = at;
			break;
		case 1:
			if (*size < n + 8)
				m[(*size)++] = (unsigned char)rand();
			break;
		default:
			if (*size)
				m[at] = rand() % 2 ? (unsigned char)rand() : 0xff;
		}
	}
	exact = malloc(*size ? *size : 1);
	memcpy(exact, m, *size);
	free(m);
	return exact;
}

static size_t
make_index(unsigned char *out, int texts)
{
	unsigned char *at = out;
	memcpy(at, "pidx\2\0\0\0\2\0\0\0", 12);
	at += 12;
	for (int i = 0; i < 2; i++) {
		memset(at, 17 + i, 24);
		memcpy(at + 24, "a.perf", 7);
		at += 31;
		for (int j = 0; j < texts; j++, at += 7)
			memcpy(at, "\3\0\0\0abc", 7);
	}
	return (size_t)(at - out);
}

static void
try_index(const unsigned char *bytes, size_t n, bool whole)
{
	struct st_perun_index index;
	struct st_error e = {0};
	bool good = !st_perun_index_read(&index, bytes, n, &e);
	expect(good || *e.text, "an index is refused without a cause");
	expect(!whole || (good && index.v.n == 2 && !strcmp(index.v.v[1].name, "a.perf") &&
	                  index.v.v[1].time == 0x12121212 &&
	                  strspn(index.v.v[1].object, "12") == ST_SHA1_HEX),
	       "a whole index is not read");
	st_perun_index_free(&index);
}

static void
try_object(const unsigned char *bytes, size_t n, const char *name, bool whole)
{
	struct st_error e = {0};
	size_t size;
	char *json = st_perun_object_unpack(bytes, n, name, &size, &e);
	expect(json || *e.text, "an object is refused without a cause");
	/* An object that is accepted has the contents of which its name is the SHA-1. */
	expect(!json || (size == 2 && !strcmp(json, "{}")), "an object has other contents");
	expect(json || !whole, "a whole object is not read");
	free(json);
}

static void
try_changes(const unsigned char *bytes, size_t n, bool whole)
{
	size_t good, bad;
	char *json = st_perun_changes_json((const char *)bytes, n, &good, &bad);
	expect(json && *json == '[', "changes are no list");
	expect(!whole || (good == 1 && bad == 1), "changes are not counted");
	free(json);
}

int
main(int argc, char **argv)
{
	static const char object[] = "profile time 2\0{}";
	static const char lines[] = "f g PerformanceChange.NoChange order 1 2 3 r_square 0.9 1 "
	                            "0123456789012345678901234567890123456789 ./f x\nnothing\n";
	unsigned char index[256], packed[128];
	char name[ST_SHA1_HEX + 1];
	uLongf n_packed = sizeof packed;
	int rounds = argc > 1 ? atoi(argv[1]) : 1000;
	srand(3);
	expect(compress(packed, &n_packed, (const unsigned char *)object, sizeof object - 1) ==
	               Z_OK,
	       "zlib");
	st_sha1_hex(object, sizeof object - 1, "", 0, name);
	for (int texts = 5; texts <= 7; texts++) {
		size_t n = make_index(index, texts), size;
		try_index(index, n, true);
		for (int i = 0; i < rounds; i++) {
			unsigned char *m = mutant_of(index, n, &size);
			try_index(m, size, false);
			free(m);
		}
	}
	try_object(packed, n_packed, name, true);
	try_changes((const unsigned char *)lines, sizeof lines - 1, true);
	for (int i = 0; i < rounds; i++) {
		size_t size;
		unsigned char *m = mutant_of(packed, n_packed, &size);
		try_object(m, size, name, false);
		free(m);
		m = mutant_of((const unsigned char *)lines, sizeof lines - 1, &size);
		try_changes(m, size, false);
		free(m);
	}
	return 0;
}
