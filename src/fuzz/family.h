/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inputs of growing size that are made after one input: what comes before its repeated part, the
 * part k times, and what comes behind; and the law by which work follows from k.
 */
#ifndef STROBE_FUZZ_FAMILY_H
#define STROBE_FUZZ_FAMILY_H

#include <stdio.h>

#include "fuzz/bytes.h"
#include "stats/robust.h"

enum { ST_FAMILY_VARIED = 4 };

struct st_fuzz_family {
	struct st_fuzz_bytes before, token, behind;
	size_t times;  /* of the token in the input that it was made after */
	bool repeated; /* else the token is the whole input, which has no part that repeats */
	/* Positions of the token whose letters and digits count, so that the repetitions differ:
	 * the first one counts fastest. */
	size_t varied[ST_FAMILY_VARIED], n_varied;
};

/* Finds the part of at most 64 bytes whose repetitions cover most of the input, at least
 * half of it. ST_FAILED: no memory. The caller frees in any case. */
st_status st_fuzz_family_find(struct st_fuzz_family *f, const struct st_fuzz_bytes *b);
/* The whole input is the part. ST_FAILED: no memory. The caller frees in any case. */
st_status st_fuzz_family_whole(struct st_fuzz_family *f, const struct st_fuzz_bytes *b);
void st_fuzz_family_free(struct st_fuzz_family *f);
st_status st_fuzz_family_make(const struct st_fuzz_family *f, size_t times,
                              struct st_fuzz_bytes *out);
/* A family whose repetitions differ: a word of letters and digits, with the byte that follows it;
 * varied is to be chosen. The token is empty if there is no word. ST_FAILED: no memory. The caller
 * frees in any case. */
st_status st_fuzz_family_different(struct st_fuzz_family *f, const struct st_fuzz_bytes *b);
/* How many repetitions differ from each other; SIZE_MAX: they are all equal. */
size_t st_fuzz_family_most(const struct st_fuzz_family *f);
/* The next size to measure after k: each of the first 12, then a third more. */
size_t st_fuzz_family_next(size_t k);
/* A shell script that writes the input with as many repetitions as its argument says. */
void st_fuzz_family_script(const struct st_fuzz_family *f, FILE *out);
/* Bytes as printf(1) takes them, without a % or \ that means something. */
void st_fuzz_bytes_print_escaped(const struct st_fuzz_bytes *b, size_t most, FILE *out);

/* Shortens a token that does not repeat to an eighth, one half of which are its first bytes and the
 * other its last, so that a family has more members that are small. false: the token repeats, or it
 * is short already. */
bool st_fuzz_family_shorten(struct st_fuzz_family *f);

/* A law is fitted to at least this many members of a family. */
enum { ST_LAW_FEWEST_POINTS = 6 };

enum st_law_form { ST_LAW_UNKNOWN, ST_LAW_POWER, ST_LAW_EXPONENTIAL };

struct st_law {
	enum st_law_form form;
	/* Of a power: the exponent; of an exponential: by how much one repetition multiplies work.
	 */
	struct st_interval of;
	bool superlinear; /* certainly more than n log n; of a power, at the largest sizes */
	size_t from, to;  /* repetitions */
	size_t points;
};

/* times and work: n of them, times growing. An exponential is a law only if a power fits clearly
 * worse. */
void st_law_find(struct st_law *law, const double *times, const double *work, size_t n);
/* A power whose exponent is at most that of n log n is "linear". */
const char *st_law_form_name(const struct st_law *law);

#endif
