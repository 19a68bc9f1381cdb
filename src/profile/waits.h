/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Wall time of sampled stacks, where `hot:wall` has recorded what threads waited for. Contexts have
 * the time of their own then: CPU time, and below the functions that waited, one for each kind of
 * waiting. What follows from that is kept with functions, threads and the run.
 */
#ifndef STROBE_PROFILE_WAITS_H
#define STROBE_PROFILE_WAITS_H

#include "base/status.h"
#include "profile/profile.h"
#include "wire/results/samples.h"

/* The kind of time that a label stands for, such as sleeping; ST_STACK_CODE: it is a function. */
enum st_stack_kind st_profile_label_kind(const struct st_profile_label *l);
/* Its name in a tree of stacks, "[sleep]". */
const char *st_stack_kind_name(enum st_stack_kind kind);
/* Whether it is a kind of waiting. */
static inline bool
st_stack_kind_waits(enum st_stack_kind kind)
{
	return kind > ST_STACK_KERNEL;
}

/* Whether the run has recorded what threads waited for. */
bool st_profile_has_waits(const struct st_profile *p);
/* Fills in the times of functions, threads and the run. 0, or -1: no memory. */
st_status st_profile_add_up_waits(struct st_profile *p);

#endif
