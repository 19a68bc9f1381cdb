/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimates the duration of the remaining runs from that of the finished ones. */
#ifndef STROBE_JOB_LEFT_H
#define STROBE_JOB_LEFT_H

#include <stddef.h>

struct st_left {
	size_t runs; /* that are left */
	size_t n;    /* that have finished, and took */
	double sum, squares;
};

/* NAN is passed over. */
void st_left_add(struct st_left *l, double seconds);
/* The interval that holds the time left at 95 %: NAN before three runs have finished. */
void st_left_interval(const struct st_left *l, double *least, double *most);
/* "; 2 min to 3 min left", or nothing. Returns text. */
const char *st_left_text(const struct st_left *l, char *text, size_t size);

#endif
