/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Times of all calls of a function of which a share was timed that has changed: each stretch with
 * one share is estimated by itself, so that calls which were timed seldom weigh as much as those
 * that were timed often.
 */
#ifndef STROBE_PROBE_STRATA_H
#define STROBE_PROBE_STRATA_H

#include "wire/probe.h"

/* The share of timed calls is about to change. Where too few were timed since it last did, the two
 * stretches are taken for one. */
void st_probe_close_cell(struct st_probe_cell *c);
void st_probe_close_pair(struct st_probe_pair *p);

/* The calls that have been timed since the share last changed stand for themselves alone: those
 * that were only counted are estimated by calls that are timed from now on. */
void st_probe_settle_cell(struct st_probe_cell *c);
void st_probe_settle_pair(struct st_probe_pair *p);

/* The half width of the 95 % interval of the time of all calls, in ticks; negative: not known,
 * because fewer than two were timed. */
double st_probe_cell_error(const struct st_probe_cell *c);

#endif
