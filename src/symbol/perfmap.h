/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of generated code, from the file that just-in-time compilers write for perf: a line
 * "START SIZE name" for each function, numbers in hex. Lines that are not of that form are skipped.
 * Where functions overlap, the later line holds.
 */
#ifndef STROBE_SYMBOL_PERFMAP_H
#define STROBE_SYMBOL_PERFMAP_H

#include <stdio.h>

#include "symbol/symbol.h"

struct st_perf_map;

/* Reads the file to its end, but not more than 512 MiB and 16 million lines. NULL when memory is
 * exhausted. The caller closes. */
struct st_perf_map *st_perf_map_read(FILE *file);
/* Was there more? */
bool st_perf_map_is_cut(const struct st_perf_map *map);
void st_perf_map_free(struct st_perf_map *map);

/* The function that holds the program address, or NULL. Functions do not overlap: of one whose
 * memory was used again in part, each piece that is left is a function of its name. */
const struct st_function *st_perf_map_function(const struct st_perf_map *map, uint64_t address);
/* All of them, ordered. */
const struct st_function *st_perf_map_functions(const struct st_perf_map *map, size_t *n);

#endif
