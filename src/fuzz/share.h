/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inputs that searches share by files, so that each begins with what all have found. A file has a
 * line "executions N", a line "rules" with two numbers for each rule, how often it was tried and
 *how often it hit, and for each input a line
 *
 *	input RATIO SEED BYTES RULE..
 *
 * with its chain of rules since that seed, followed by its bytes and a newline. RATIO is that of
 * its work to the base; "inf" stands for an input that the program does not survive.
 */
#ifndef STROBE_FUZZ_SHARE_H
#define STROBE_FUZZ_SHARE_H

#include <stdio.h>

#include "fuzz/campaign.h"

/* By rule: the inputs that it was the last rule of, and those of them that were interesting. */
struct st_fuzz_rule_uses {
	struct {
		size_t tried, hits;
	} * v;
	size_t n, cap;
};

struct st_fuzz_shared {
	ST_VEC(struct st_fuzz_input) list; /* each once */
	size_t executions;                 /* of all files */
	struct st_fuzz_rule_uses uses;     /* of all searches */
	struct st_fuzz_rule_uses imported; /* of the inputs that were imported from here */
};

/* Adds the inputs that a campaign has found, or those of a file, each once; and the uses of rules,
 * without those of the inputs that the campaign has imported. -1 with *e. */
st_status st_fuzz_shared_take(struct st_fuzz_shared *s, const struct st_fuzz_campaign *c,
                              const struct st_fuzz_shared *imported, struct st_error *e);
st_status st_fuzz_shared_read(struct st_fuzz_shared *s, const char *path, struct st_error *e);
/* Puts them in order, the greatest ratio first, and drops what is too much. */
void st_fuzz_shared_choose(struct st_fuzz_shared *s);
/* fatal: also the inputs that the program does not survive, which nothing can be made of. */
void st_fuzz_shared_write(const struct st_fuzz_shared *s, bool fatal, FILE *out);
/* Executes them and takes them as children of their seeds, after the seeds were executed. -1 with
 * *e. */
st_status st_fuzz_shared_import(struct st_fuzz_shared *s, struct st_fuzz_campaign *c,
                                struct st_error *e);
/* Replaces the campaign's uses of rules by those of all searches. */
void st_fuzz_shared_count_uses(const struct st_fuzz_shared *s, struct st_fuzz_campaign *c);
void st_fuzz_shared_free(struct st_fuzz_shared *s);

#endif
