/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the name nearest to a misspelt one. Hosted code only. */
#ifndef STROBE_BASE_NEAREST_H
#define STROBE_BASE_NEAREST_H

#include <stddef.h>

/* A search for the name most like `word`. */
struct st_nearest {
	const char *word;
	const char *best; /* NULL: none is near */
	size_t distance;  /* of what is taken next, less than this */
};

struct st_nearest st_nearest_to(const char *word);
/* Looks at the first n bytes of a name, which becomes the best when it is nearer than those before.
 * One that begins with the word is nearer than one that holds it elsewhere. */
void st_nearest_try(struct st_nearest *s, const char *name, size_t n);

/* A search for the few that are most like it, all as near as the best. */
enum { ST_NEAREST_FEW = 3 };
struct st_nearest_few {
	const char *word;
	size_t distance, letters; /* of those found; of what is taken first, less than this */
	size_t n;
	struct {
		const char *name;
		size_t n; /* length of the name in bytes */
	} best[ST_NEAREST_FEW];
};

struct st_nearest_few st_nearest_few_to(const char *word);
void st_nearest_few_try(struct st_nearest_few *s, const char *name, size_t n);
/* "; did you mean 'this', 'that' or 'those'?", or nothing. Returns text. */
const char *st_nearest_question(const struct st_nearest_few *s, char *text, size_t size);

/* The name most like `word`, or NULL when none is near. names: n of them, read by get. */
const char *st_nearest(const char *word, size_t n, const char *(*get)(const void *names, size_t i),
                       const void *names);

#endif
