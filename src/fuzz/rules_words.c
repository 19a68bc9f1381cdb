/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules for the words of a line. */
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "fuzz/rules.h"

enum { WORD_TIMES = 100 };

struct word {
	const uint8_t *at;
	size_t n;
	double number; /* if all of the line are */
};

struct words {
	ST_VEC(struct word) list;
};

static st_status
find_words(const struct st_fuzz_bytes *b, struct st_line_of line, struct words *out)
{
	for (size_t i = line.from; i < line.to;) {
		size_t end = i;
		while (end < line.to && b->v[end] != ' ' && b->v[end] != '\t')
			end++;
		if (end > i) {
			struct word *word = ST_PUSH(&out->list);
			if (!word)
				return ST_FAILED;
			*word = (struct word){.at = b->v + i, .n = end - i};
		}
		i = end + 1;
	}
	return ST_OK;
}

static bool
read_number(struct word *word)
{
	char text[64], *end;
	if (word->n >= sizeof text || memchr(word->at, 0, word->n))
		return false;
	memcpy(text, word->at, word->n);
	text[word->n] = '\0';
	word->number = strtod(text, &end);
	return *end == '\0' && word->number == word->number;
}

static int
by_word_number(const void *x, const void *y)
{
	const struct word *a = x, *b = y;
	return (a->number > b->number) - (a->number < b->number);
}

static int
by_bytes(const void *x, const void *y)
{
	const struct word *a = x, *b = y;
	int order = memcmp(a->at, b->at, a->n < b->n ? a->n : b->n);
	return order ? order : (a->n > b->n) - (a->n < b->n);
}

/* The blanks between words stay where they are. */
static st_status
sort_words(struct st_fuzz_bytes *b, struct st_line_of line, struct words *words, bool descending)
{
	const size_t n = words->list.n;
	struct word *sorted = malloc((n + 1) * sizeof *sorted);
	struct st_fuzz_bytes new = {0};
	bool numbers = true;
	st_status status = sorted ? ST_OK : ST_FAILED;
	for (size_t i = 0; i < n && numbers; i++)
		numbers = read_number(&words->list.v[i]);
	if (!status && n) {
		memcpy(sorted, words->list.v, n * sizeof *sorted);
		qsort(sorted, n, sizeof *sorted, numbers ? by_word_number : by_bytes);
	}
	const uint8_t *from = b->v + line.from;
	for (size_t i = 0; i < n && !status; i++) {
		const struct word *old = &words->list.v[i],
		                  *now = &sorted[descending ? n - 1 - i : i];
		status = st_fuzz_bytes_splice(&new, new.n, 0, from, (size_t)(old->at - from));
		if (!status)
			status = st_fuzz_bytes_splice(&new, new.n, 0, now->at, now->n);
		from = old->at + old->n;
	}
	if (!status && n)
		status = st_fuzz_bytes_splice(b, line.from, (size_t)(from - (b->v + line.from)),
		                              new.v, new.n);
	st_fuzz_bytes_free(&new);
	free(sorted);
	return status;
}

static st_status
repeat_word(struct st_fuzz_bytes *b, const struct word *word)
{
	size_t at = (size_t)(word->at - b->v), n = word->n;
	struct st_fuzz_bytes all = {0};
	st_status status = ST_OK;
	for (size_t i = 1; i < WORD_TIMES && !status && !(b->most && at + n + all.n >= b->most);
	     i++)
		status = st_fuzz_bytes_splice(&all, all.n, 0, b->v + at, n);
	if (!status)
		status = st_fuzz_bytes_splice(b, at + n, 0, all.v, all.n);
	st_fuzz_bytes_free(&all);
	return status;
}

st_status
st_rule_words(enum st_fuzz_rule rule, struct st_fuzz_bytes *b, uint64_t *random)
{
	struct st_line_of line = st_random_line(b, random);
	struct words words = {0};
	st_status status = find_words(b, line, &words);
	const struct word *any = !status && words.list.n
	                                 ? &words.list.v[st_random_below(random, words.list.n)]
	                                 : NULL;
	if (any && rule == ST_RULE_REPEAT_WORD)
		status = repeat_word(b, any);
	else if (any && rule == ST_RULE_DELETE_WORD)
		status = st_fuzz_bytes_splice(b, (size_t)(any->at - b->v), any->n, NULL, 0);
	else if (any)
		status = sort_words(b, line, &words, rule == ST_RULE_SORT_DESCENDING);
	free(words.list.v);
	return status;
}
