/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/nearest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* Longer names are not compared letter by letter. */
enum { LONGEST = 127 };

static size_t
nearest_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* One letter of a against all of b: how far the beginnings of both are from each other. The rows
 * are those of the letters before. */
static void
next_row(const char *a, size_t i, const char *b, size_t m, size_t *const rows[3])
{
	size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *swapped = rows[(i + 1) % 3];
	row[0] = i;
	for (size_t j = 1; j <= m; j++) {
		size_t change = above[j - 1] + (a[i - 1] != b[j - 1]);
		row[j] = nearest_least(change, nearest_least(above[j], row[j - 1]) + 1);
		if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
			row[j] = nearest_least(row[j], swapped[j - 2] + 1);
	}
}

/* Letters to insert, drop, change or swap to make one word of the other. */
static size_t
nearest_distance(const char *a, size_t n, const char *b, size_t m)
{
	size_t room[3][LONGEST + 1];
	size_t *const rows[3] = {room[0], room[1], room[2]};
	for (size_t j = 0; j <= m; j++)
		room[0][j] = j;
	for (size_t i = 1; i <= n; i++)
		next_row(a, i, b, m, rows);
	return room[n % 3][m];
}

struct st_nearest
st_nearest_to(const char *word)
{
	/* A greater distance is no likely misspelling. */
	return (struct st_nearest){.word = word, .distance = strlen(word) / 3 + 2};
}

/* How far a name is from the word, as far as that is at most `most`; else more. *letters: the same
 * without regard to where the name holds the word. */
static size_t
nearest_measure(const char *word, const char *name, size_t n, size_t most, size_t *letters)
{
	enum { BEGINS = 1, HOLDS = 2 };
	size_t length = strlen(word), d = most + 1;
	const char *at = length && length <= n ? memmem(name, n, word, length) : NULL;
	*letters = length < n ? n - length : length - n;
	if (at) /* all other letters are to be inserted */
		return nearest_least(*letters, at == name ? BEGINS : HOLDS);
	/* The difference in length is a lower bound of the distance. */
	if (*letters <= most && length <= LONGEST && n <= LONGEST)
		*letters = d = nearest_distance(word, length, name, n);
	return d;
}

void
st_nearest_try(struct st_nearest *s, const char *name, size_t n)
{
	size_t letters;
	size_t d = s->distance ? nearest_measure(s->word, name, n, s->distance - 1, &letters) : 0;
	if (d < s->distance) {
		s->best = name;
		s->distance = d;
	}
}

struct st_nearest_few
st_nearest_few_to(const char *word)
{
	return (struct st_nearest_few){
	        .word = word, .distance = st_nearest_to(word).distance, .letters = 0};
}

void
st_nearest_few_try(struct st_nearest_few *s, const char *name, size_t n)
{
	size_t letters, d = nearest_measure(s->word, name, n, s->distance, &letters);
	if (d > s->distance || (d == s->distance && letters > s->letters) ||
	    (!s->n && d == s->distance))
		return;
	if (d < s->distance || letters < s->letters)
		s->n = 0;
	s->distance = d;
	s->letters = letters;
	for (size_t i = 0; i < s->n; i++)
		if (s->best[i].n == n && !memcmp(s->best[i].name, name, n))
			return;
	if (s->n == ST_NEAREST_FEW)
		return;
	s->best[s->n].name = name;
	s->best[s->n++].n = n;
}

const char *
st_nearest_question(const struct st_nearest_few *s, char *text, size_t size)
{
	*text = '\0';
	for (size_t i = 0; i < s->n; i++)
		st_append(text, size, "%s'%.*s'",
		          !i             ? "; did you mean "
		          : i + 1 < s->n ? ", "
		                         : " or ",
		          (int)s->best[i].n, s->best[i].name);
	if (s->n)
		st_append(text, size, "?");
	return text;
}

const char *
st_nearest(const char *word, size_t n, const char *(*get)(const void *names, size_t i),
           const void *names)
{
	struct st_nearest s = st_nearest_to(word);
	for (size_t i = 0; i < n; i++) {
		const char *name = get(names, i);
		if (name)
			st_nearest_try(&s, name, strlen(name));
	}
	return s.best;
}
