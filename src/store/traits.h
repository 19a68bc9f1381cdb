/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What two profiles must have in common to be compared: what was run and how (the configuration),
 * and on which machine. */
#ifndef STROBE_STORE_TRAITS_H
#define STROBE_STORE_TRAITS_H

#include "base/status.h"
#include "profile/profile.h"

struct st_traits {
	char *collector;  /* the tools: "hot" */
	char *command;    /* program without its folder, and arguments */
	char *workload;   /* "": none was named */
	char *parameters; /* options of the tools and of the measurement */
	char *machine;    /* lines NAME=VALUE */
};

/* ST_FAILED: memory is exhausted. The caller frees in both cases. */
st_status st_traits_of(struct st_traits *t, const struct st_profile *p, const char *workload);
void st_traits_free(struct st_traits *t);

/* The first field, from *at on, that two machines both have with different values; NULL: there is
 * no further one. What only one of them knows is no difference. name and values point into a and b
 * and are not NUL-terminated. */
struct st_trait_difference {
	const char *name, *a, *b;
	int name_length, a_length, b_length;
};
bool st_traits_differ(const char *a, const char *b, const char **at, struct st_trait_difference *d);
/* All differences, "cpu: A, here B; kernel: C, here D" if `between` is ", here ". malloc'ed; NULL:
 * there is none, or memory is exhausted. */
char *st_traits_differences(const char *a, const char *b, const char *between);

#endif
