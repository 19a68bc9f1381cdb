/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which function an execution's work is in. */
#ifndef STROBE_FUZZ_FUNCTIONS_H
#define STROBE_FUZZ_FUNCTIONS_H

#include "fuzz/execute.h"

struct st_fuzz_functions;

/* NULL: no memory. The places may become more, but not go before it is freed. */
struct st_fuzz_functions *st_fuzz_functions_new(const struct st_fuzz_places *places);
void st_fuzz_functions_free(struct st_fuzz_functions *f);

struct st_fuzz_hottest {
	const char *name;  /* lives as long as the functions; "[unknown]": the block is in none */
	const char *image; /* path */
	double share;      /* of the work that is more */
	uint64_t id;       /* differs for different functions */
};

/* The function in which x has most blocks more than `before` (NULL: than nothing). ST_FAILED: no
 * memory. */
st_status st_fuzz_hottest(struct st_fuzz_functions *f, const struct st_fuzz_execution *x,
                          const struct st_fuzz_execution *before, struct st_fuzz_hottest *out);

/* The function that has the code at that place of a file; "[unknown]": there is none. It lives as
 * long as the functions. */
const char *st_fuzz_function_name(struct st_fuzz_functions *f, const struct st_fuzz_place *p);
/* The function in which an input does more on the path, with the whole of `share`. */
void st_fuzz_path_function(struct st_fuzz_functions *f, uint32_t path, struct st_fuzz_hottest *out);

#endif
