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

#endif
