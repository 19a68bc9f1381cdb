/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What changed between two versions, by profiles of one configuration: the few rules that status
 * applies. A method that finds more takes the place of st_changes_find.
 *
 * A function has changed when the means of the two sides differ by the threshold or more, and by a
 * thousandth of the whole or more, and the values of one side are all less than those of the other.
 * Values with noise need five on each side: of two samples of five from one distribution, all
 * values of one are beyond all of the other in 2 of 252 cases (0.8 %).
 */
#ifndef STROBE_STORE_CHANGES_H
#define STROBE_STORE_CHANGES_H

#include "store/quantities.h"

enum st_change_kind { ST_CHANGE_MORE, ST_CHANGE_LESS, ST_CHANGE_NEW, ST_CHANGE_GONE };
extern const char *const st_change_names[];

struct st_change {
	enum st_change_kind kind;
	char *name, *image; /* image "": in none */
	struct st_value_range from, to;
};

struct st_changes {
	const char *metric;         /* NULL: there is nothing to compare */
	bool exact;                 /* counts: else noise was taken into account by the spread */
	uint64_t noisy;             /* items that have too few values to say anything of them */
	ST_VEC(struct st_change) v; /* the greatest difference first */
};

/* Profiles of the baseline, and of the version: of one configuration each. percent: the threshold.
 * 0, or -1 with *e. The caller frees in both cases. */
st_status st_changes_find(struct st_store *s, const struct st_stored_list *from,
                          const struct st_stored_list *to, double percent, struct st_changes *out,
                          struct st_error *e);
void st_changes_free(struct st_changes *c);

/* The nearest ancestor with profiles that may be compared with one. */
struct st_baseline {
	struct st_version version; /* name NULL: there is none */
	uint64_t steps;
	struct st_stored_list profiles;
	/* The nearest one that was refused because of another machine: NULL, or its name and the
	 * differences, "cpu: A, here B; ...". */
	char *refused, *differences;
};

/* any_machine: of all machines. depth: versions that are looked at, most. */
st_status st_baseline_find(struct st_store *s, const struct st_version *from,
                           const struct st_stored *like, uint64_t depth, bool any_machine,
                           struct st_baseline *out, struct st_error *e);
/* The same of one version, which need not be an ancestor. */
st_status st_baseline_at(struct st_store *s, const char *rev, const struct st_version *head,
                         const struct st_stored *like, bool any_machine, struct st_baseline *out,
                         struct st_error *e);
void st_baseline_free(struct st_baseline *b);

#endif
