/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of results that are made of templates, such as "%collector%-%cmd%-%date%.db". */
#ifndef STROBE_SESSION_OUTPUT_NAME_H
#define STROBE_SESSION_OUTPUT_NAME_H

#include <time.h>

#include "base/error.h"

/* The values of the words of a template. */
struct st_output_words {
	const char *collector;
	const char *workload; /* NULL: none */
	char *const *program; /* its arguments */
	time_t date;
};

/*
 * Replaces %collector%, %cmd% (the name of the program without its folder), %args% (its arguments,
 * joined by "_"), %workload% and %date% (local time, 2026-11-26-10-04-30). Characters that a file
 * name should not have become "_". Returns the name, malloc'ed; NULL with *e: another word stands
 * between two signs of percent, or memory is exhausted.
 */
char *st_output_name(const char *template, const struct st_output_words *words, struct st_error *e);

#endif
