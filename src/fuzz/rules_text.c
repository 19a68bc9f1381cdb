/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules for text that need no words. */
#include <string.h>

#include "base/random.h"
#include "fuzz/rules.h"

enum { FEWEST_BLANKS = 100, MOST_BLANKS = 1000, BLANKS_REPEATED = 100, BLANK_TIMES = 10 };

static bool
is_blank(uint8_t c)
{
	return c == ' ' || c == '\t';
}

/* Lines are counted by their beginnings: text that ends with a newline has none behind it. */
struct st_line_of
st_random_line(const struct st_fuzz_bytes *b, uint64_t *random)
{
	struct st_line_of line = {0, b->n};
	if (!b->n)
		return line;
	const uint8_t *const last = b->v + b->n - 1, *at = b->v;
	size_t lines = 1;
	/* memchr, because an input may have one line of 1,000,000 bytes. A newline at the end of
	 * the input begins no line. */
	while (at < last && (at = memchr(at, '\n', (size_t)(last - at)))) {
		lines++;
		at++;
	}
	at = b->v;
	for (size_t wanted = st_random_below(random, lines); wanted; wanted--)
		at = (const uint8_t *)memchr(at, '\n', (size_t)(last - at)) + 1;
	const uint8_t *end = memchr(at, '\n', (size_t)(last + 1 - at));
	line.from = (size_t)(at - b->v);
	line.to = end ? (size_t)(end - b->v) : b->n;
	return line;
}

static st_status
copy_line(struct st_fuzz_bytes *b, struct st_line_of line, uint64_t *random)
{
	struct st_line_of to = st_random_line(b, random);
	if (line.from == line.to)
		return ST_OK;
	bool bare = line.to == b->n; /* it has no newline: one comes between */
	if (st_fuzz_bytes_splice(b, to.from, 0, b->v + line.from, line.to - line.from + !bare))
		return ST_FAILED;
	return bare ? st_fuzz_bytes_splice(b, to.from + line.to - line.from, 0, "\n", 1) : ST_OK;
}

static st_status
insert_blanks(struct st_fuzz_bytes *b, size_t at, uint64_t *random)
{
	char blanks[MOST_BLANKS];
	size_t n = FEWEST_BLANKS + st_random_below(random, MOST_BLANKS - FEWEST_BLANKS + 1);
	memset(blanks, ' ', sizeof blanks);
	return st_fuzz_bytes_splice(b, at, 0, blanks, n);
}

static st_status
repeat_blanks(struct st_fuzz_bytes *b, struct st_line_of line)
{
	size_t seen = 0;
	for (size_t i = line.from, end = line.to; i < end && seen < BLANKS_REPEATED; i++)
		if (is_blank(b->v[i])) {
			char blanks[BLANK_TIMES - 1];
			memset(blanks, b->v[i], sizeof blanks);
			if (st_fuzz_bytes_splice(b, i, 0, blanks, sizeof blanks))
				return ST_FAILED;
			i += sizeof blanks;
			end += sizeof blanks;
			seen++;
		}
	return ST_OK;
}

static st_status
remove_blanks(struct st_fuzz_bytes *b, struct st_line_of line)
{
	size_t to = line.from;
	for (size_t i = line.from; i < line.to; i++)
		if (!is_blank(b->v[i]))
			b->v[to++] = b->v[i];
	return st_fuzz_bytes_splice(b, to, line.to - to, NULL, 0);
}

/* A byte of the line; the line is not empty. */
static size_t
byte_of_line(struct st_line_of line, uint64_t *random)
{
	return line.from + st_random_below(random, line.to - line.from);
}

st_status
st_rule_text(enum st_fuzz_rule rule, struct st_fuzz_bytes *b, uint64_t *random)
{
	const struct st_line_of line = st_random_line(b, random);
	const size_t length = line.to - line.from;
	uint8_t any;
	switch (rule) {
	case ST_RULE_DOUBLE_LINE:
		return st_fuzz_bytes_splice(b, line.to, 0, b->v + line.from, length);
	case ST_RULE_COPY_LINE:
		return copy_line(b, line, random);
	case ST_RULE_DIVIDE_LINE:
		return length < 2 ? ST_OK
		                  : st_fuzz_bytes_splice(
		                            b, line.from + 1 + st_random_below(random, length - 1),
		                            0, "\n", 1);
	case ST_RULE_CHANGE_CHARACTER:
		if (!length)
			return ST_OK;
		any = (uint8_t)st_random_below(random, 256);
		return st_fuzz_bytes_splice(b, byte_of_line(line, random), 1, &any, 1);
	case ST_RULE_APPEND_BLANKS:
		return insert_blanks(b, line.to, random);
	case ST_RULE_PREPEND_BLANKS:
		return insert_blanks(b, line.from, random);
	case ST_RULE_INSERT_BLANKS:
		return insert_blanks(b, line.from + st_random_below(random, length + 1), random);
	case ST_RULE_REPEAT_BLANKS:
		return repeat_blanks(b, line);
	case ST_RULE_REMOVE_BLANKS:
		return remove_blanks(b, line);
	case ST_RULE_DELETE_LINE:
		return st_fuzz_bytes_splice(b, line.from, length + (line.to < b->n), NULL, 0);
	case ST_RULE_DELETE_CHARACTER:
		return length ? st_fuzz_bytes_splice(b, byte_of_line(line, random), 1, NULL, 0)
		              : ST_OK;
	default:
		return st_rule_words(rule, b, random);
	}
}
