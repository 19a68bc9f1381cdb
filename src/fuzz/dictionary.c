/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Dictionaries in the format of the -x of afl-fuzz and the -dict of libFuzzer: a line is empty, a
 * comment that begins with #, or [NAME[@LEVEL]=]"TOKEN". In a token, \\, \" and \xNN stand for a
 * byte.
 */
#include <ctype.h>
#include <string.h>

#include "base/random.h"
#include "fuzz/rules.h"

enum { MOST_DICTIONARY = 16 << 20, REPETITIONS = 100 };

struct dictionary_reader {
	const char *path;
	size_t line;
	struct st_error *e;
};

static st_status
bad_entry(const struct dictionary_reader *r, const char *why)
{
	return st_fail(r->e, ST_EXIT_FAILED, "the dictionary %s, line %zu: %s", r->path, r->line,
	               why);
}

static bool
is_blank_byte(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static int
hex_of_byte(uint8_t c)
{
	return isdigit(c) ? c - '0' : isxdigit(c) ? tolower(c) - 'a' + 10 : -1;
}

/* The byte at *at, before `end`; *at is set behind it. False: an escape that there is not. */
static bool
take_token_byte(const uint8_t **at, const uint8_t *end, uint8_t *byte)
{
	const uint8_t *c = *at;
	*byte = *c;
	*at = c + 1;
	if (*c != '\\')
		return true;
	if (end - c >= 2 && (c[1] == '\\' || c[1] == '"')) {
		*byte = c[1];
		*at = c + 2;
		return true;
	}
	if (end - c < 4 || c[1] != 'x' || hex_of_byte(c[2]) < 0 || hex_of_byte(c[3]) < 0)
		return false;
	*byte = (uint8_t)(hex_of_byte(c[2]) * 16 + hex_of_byte(c[3]));
	*at = c + 4;
	return true;
}

/* Reads the token up to its closing quote. */
static st_status
read_token(const struct dictionary_reader *r, const uint8_t *at, const uint8_t *end,
           struct st_fuzz_bytes *token)
{
	while (at < end) {
		uint8_t byte;
		if (*at == '"')
			return bad_entry(r, "write a quotation mark in a token as \\\"");
		if (!take_token_byte(&at, end, &byte))
			return bad_entry(r, "a backslash must be followed by \\, \" or x and two "
			                    "hexadecimal digits");
		if (st_fuzz_bytes_splice(token, token->n, 0, &byte, 1))
			return st_fail(r->e, ST_EXIT_FAILED, "no memory left for the dictionary");
	}
	return token->n ? ST_OK : bad_entry(r, "the token is empty");
}

/* Whether what stands before the first quotation mark is NAME=, NAME@LEVEL= or nothing. */
static bool
is_entry_name(const uint8_t *at, const uint8_t *quote)
{
	const uint8_t *from = at;
	if (at == quote)
		return true;
	while (at < quote && (isalnum(*at) || strchr("_-.", *at)))
		at++;
	if (at == from)
		return false;
	if (at < quote && *at == '@')
		for (at++; at < quote && isdigit(*at);)
			at++;
	while (at < quote && is_blank_byte(*at))
		at++;
	if (at == quote || *at++ != '=')
		return false;
	while (at < quote && is_blank_byte(*at))
		at++;
	return at == quote;
}

static st_status
read_entry(const struct dictionary_reader *r, struct st_fuzz_rules *rules, const uint8_t *at,
           const uint8_t *end)
{
	while (at < end && is_blank_byte(*at))
		at++;
	while (at < end && is_blank_byte(end[-1]))
		end--;
	if (at == end || *at == '#')
		return ST_OK;
	const uint8_t *quote = memchr(at, '"', (size_t)(end - at));
	if (!quote || !is_entry_name(at, quote) || end - quote < 2 || end[-1] != '"')
		return bad_entry(r, "an entry is NAME=\"TOKEN\" or \"TOKEN\"");
	struct st_fuzz_bytes *token = ST_PUSH(&rules->tokens);
	if (!token)
		return st_fail(r->e, ST_EXIT_FAILED, "no memory left for the dictionary");
	return read_token(r, quote + 1, end - 1, token);
}

static st_status
read_entries(struct dictionary_reader *r, struct st_fuzz_rules *rules,
             const struct st_fuzz_bytes *text)
{
	for (size_t at = 0; at < text->n; r->line++) {
		const uint8_t *newline = memchr(text->v + at, '\n', text->n - at);
		const size_t end = newline ? (size_t)(newline - text->v) : text->n;
		if (read_entry(r, rules, text->v + at, text->v + end))
			return ST_FAILED;
		at = end + 1;
	}
	return ST_OK;
}

st_status
st_rules_add_dictionary(struct st_fuzz_rules *rules, const char *path, struct st_error *e)
{
	struct dictionary_reader r = {path, 1, e};
	struct st_fuzz_bytes text = {0};
	const size_t before = rules->tokens.n;
	st_status status = st_fuzz_bytes_read(&text, path, MOST_DICTIONARY, e);
	if (!status)
		status = read_entries(&r, rules, &text);
	if (!status && rules->tokens.n == before)
		status = st_fail(e, ST_EXIT_FAILED, "the dictionary %s has no tokens", path);
	st_fuzz_bytes_free(&text);
	return status;
}

/* ---- rules ---- */

st_status
st_rule_token(enum st_fuzz_rule rule, const struct st_fuzz_rules *rules, struct st_fuzz_bytes *b,
              uint64_t *random)
{
	if (!rules->tokens.n)
		return ST_OK;
	const struct st_fuzz_bytes *token =
	        &rules->tokens.v[st_random_below(random, rules->tokens.n)];
	const size_t at = st_random_below(random, b->n + 1), left = b->n - at;
	switch (rule) {
	case ST_RULE_INSERT_TOKEN:
		return st_fuzz_bytes_splice(b, at, 0, token->v, token->n);
	case ST_RULE_OVERWRITE_TOKEN:
		return st_fuzz_bytes_splice(b, at, left < token->n ? left : token->n, token->v,
		                            token->n);
	default: { /* ST_RULE_REPEAT_TOKEN */
		struct st_fuzz_bytes many = {0};
		st_status status = ST_OK;
		for (int i = 0; i < REPETITIONS && !status; i++)
			status = st_fuzz_bytes_splice(&many, many.n, 0, token->v, token->n);
		if (!status)
			status = st_fuzz_bytes_splice(b, at, 0, many.v, many.n);
		st_fuzz_bytes_free(&many);
		return status;
	}
	}
}
