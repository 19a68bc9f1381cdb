/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of one location and metric are separate series if they differ in their variant: the
 * labels, the command without its workload, the collector and its parameters. */
#ifndef STROBE_CLI_PLOT_VARIANTS_H
#define STROBE_CLI_PLOT_VARIANTS_H

#include "cli/model.h"

/* Sets the variants of the entries from `first` on, which are of the i-th of n profiles. A word of
 * the command that changes with the size of the input, and alone, is its workload: "*" stands for
 * it. ST_FAILED: memory is exhausted. */
st_status st_plot_set_variants(struct st_model_entries *entries, size_t first,
                               const struct st_profile *const *profiles, size_t n, size_t i);
/* A name for one of the n groups that begin with these entries: the location, labels, command,
 * collector and parameters in which they differ. malloc'ed; NULL: memory is exhausted. */
char *st_plot_variant_name(const struct st_model_entry *const *groups, size_t n, size_t i);
/* Adds the names of all profiles of a version in the store to the list, malloc'ed. */
struct st_plot_names {
	ST_VEC(char *) v;
};
st_status st_plot_names_of(struct st_plot_names *names, const char *rev, struct st_error *e);
void st_plot_names_free(struct st_plot_names *names);

#endif
