/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tests of this folder share: sample programs, and other tools' output as the truth. */
#ifndef STROBE_TESTS_SYMBOL_SUPPORT_H
#define STROBE_TESTS_SYMBOL_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/symbol.h"

struct output {
	char **line;
	size_t n;
};

/* Where samples.sh put the programs: the test's first argument, made absolute. */
extern const char *samples;
void use_samples(int argc, char **argv);

bool sample_exists(const char *name);
struct st_image *open_sample(const char *name);
/* The path of a sample; valid until the fourth next call. */
const char *sample(const char *name);

/* Runs a shell command and returns its lines. Fails the test when it fails. */
__attribute__((format(printf, 1, 2))) struct output run(const char *format, ...);
void output_free(struct output *output);

/* A symbol as nm knows it. */
struct nm_symbol {
	uint64_t address;
	uint64_t size;
	char type;
	bool weak;
	bool local;
	char *raw;   /* with version */
	char *plain; /* demangled, without version */
};

struct nm_symbols {
	struct nm_symbol *v;
	size_t n;
};

/* Symbols in code, ordered by address; options for nm, such as -D. */
struct nm_symbols nm_code(const char *path, const char *options);
void nm_free(struct nm_symbols *symbols);

/* The function of that name; fails the test when there is none. */
const struct st_function *function_named(struct st_image *image, const char *name);

/* Fails unless the functions are ordered, not empty and do not overlap, and lookups find them. */
void check_table(struct st_image *image);

#endif
