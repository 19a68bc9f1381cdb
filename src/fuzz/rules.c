/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/rules.h"

#include <string.h>

#include "base/nearest.h"

static const char *const rule_names[] = {
#define R(id, name, what) name,
        ST_FUZZ_RULES(R)
#undef R
};

static const char *const rule_helps[] = {
#define R(id, name, what) what,
        ST_FUZZ_RULES(R)
#undef R
};

const char *
st_fuzz_rule_help(enum st_fuzz_rule rule)
{
	return rule_helps[rule];
}

/* ---- types of input ---- */

/* Returns the length of the UTF-8 character at i, bytes; 0: there is none. */
static size_t
character_length(const struct st_fuzz_bytes *b, size_t i)
{
	uint8_t c = b->v[i];
	size_t n = c < 0x80                ? 1
	           : c >= 0xc2 && c < 0xe0 ? 2
	           : (c & 0xf0) == 0xe0    ? 3
	           : c >= 0xf0 && c < 0xf5 ? 4
	                                   : 0;
	if (n > b->n - i)
		return 0;
	for (size_t k = 1; k < n; k++)
		if ((b->v[i + k] & 0xc0) != 0x80)
			return 0;
	return n;
}

static bool
looks_like_text(const struct st_fuzz_bytes *b)
{
	size_t other = 0;
	for (size_t i = 0, n; i < b->n; i += n ? n : 1) {
		n = character_length(b, i);
		bool control = b->v[i] < ' ' && !strchr("\t\n\v\f\r\033", b->v[i]);
		if (!b->v[i])
			return false;
		other += !n || control;
	}
	return other * 20 <= b->n;
}

enum st_fuzz_type
st_fuzz_type_of(const struct st_fuzz_bytes *b)
{
	size_t i = 0;
	if (!looks_like_text(b))
		return ST_TYPE_BINARY;
	while (i < b->n && strchr(" \t\r\n", b->v[i]))
		i++;
	bool opens = i + 1 < b->n && b->v[i] == '<' &&
	             (b->v[i + 1] == '?' || b->v[i + 1] == '!' || (b->v[i + 1] | 0x20) >= 'a');
	return opens && memchr(b->v + i, '>', b->n - i) ? ST_TYPE_XML : ST_TYPE_TEXT;
}

const char *
st_fuzz_type_name(enum st_fuzz_type type)
{
	static const char *const names[] = {"text", "binary", "XML"};
	return names[type];
}

/* ---- sets of rules ---- */

st_status
st_rules_add_user(struct st_fuzz_rules *rules, const char *text, struct st_error *e)
{
	struct st_user_rule *rule = ST_PUSH(&rules->user);
	char *copy = rule ? strdup(text) : NULL;
	if (!copy) {
		rules->user.n -= rule != NULL;
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the rules");
	}
	char *separator = strstr(copy, "=>");
	int error = 0;
	if (separator) {
		*separator = '\0';
		error = regcomp(&rule->expression, copy, REG_EXTENDED);
	}
	if (separator && !error) {
		rule->replacement = separator + 2;
		rule->text = copy;
		return ST_OK;
	}
	if (separator) {
		char why[256];
		regerror(error, &rule->expression, why, sizeof why);
		st_cause(e, ST_EXIT_USAGE,
		         "--regex: '%s' is not an extended regular expression: %s", copy, why);
	} else {
		st_cause(e, ST_EXIT_USAGE,
		         "--regex takes EXPRESSION=>REPLACEMENT, as in 'a+=>aaaa', not '%s'", text);
	}
	rules->user.n--;
	free(copy);
	return ST_FAILED;
}

static st_status
rules_push(struct st_fuzz_rules *rules, enum st_fuzz_rule rule, struct st_error *e)
{
	for (size_t i = 0; i < rules->builtin.n; i++)
		if (rules->builtin.v[i] == rule)
			return ST_OK;
	enum st_fuzz_rule *new = ST_PUSH(&rules->builtin);
	if (!new)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the rules");
	*new = rule;
	return ST_OK;
}

st_status
st_rules_add_type(struct st_fuzz_rules *rules, enum st_fuzz_type type, struct st_error *e)
{
#define R(id, name, what) 1 +
	enum {
		TEXT = ST_FUZZ_TEXT_RULES(R) 0,
		BINARY = TEXT + ST_FUZZ_BINARY_RULES(R) ST_FUZZ_RANGE_RULES(R) 0,
		XML = BINARY + ST_FUZZ_XML_RULES(R) 0
	};
#undef R
	size_t first = type == ST_TYPE_BINARY ? TEXT : 0;
	size_t last = type == ST_TYPE_TEXT ? TEXT : type == ST_TYPE_BINARY ? BINARY : XML;
	for (size_t i = first; i < last; i++)
		if ((type != ST_TYPE_XML || i < TEXT || i >= BINARY) &&
		    rules_push(rules, (enum st_fuzz_rule)i, e))
			return ST_FAILED;
	/* No rule for text repeats a part of a word, which is what (a|aa)*$ needs. */
	return rules_push(rules, ST_RULE_REPEAT_BYTES, e);
}

static const char *
rule_name_at(const void *names, size_t i)
{
	return ((const char *const *)names)[i];
}

st_status
st_rules_add_named(struct st_fuzz_rules *rules, const char *name, struct st_error *e)
{
	for (size_t i = 0; i < ST_RULE_COUNT; i++)
		if (!strcmp(rule_names[i], name))
			return rules_push(rules, (enum st_fuzz_rule)i, e);
	const char *best = st_nearest(name, ST_RULE_COUNT, rule_name_at, rule_names);
	return st_fail(e, ST_EXIT_USAGE,
	               "--rules: there is no rule '%s'%s%s%s: see strobe help fuzz", name,
	               best ? " (did you mean '" : "", best ? best : "", best ? "'?)" : "");
}

st_status
st_rules_use_tokens(struct st_fuzz_rules *rules, struct st_error *e)
{
	bool some = false;
	for (size_t i = 0; i < rules->builtin.n; i++)
		some |= rules->builtin.v[i] >= ST_RULE_INSERT_TOKEN;
	if (some && !rules->tokens.n)
		return st_fail(e, ST_EXIT_USAGE,
		               "--rules: insert-token, overwrite-token and repeat-token need a "
		               "--dictionary");
	for (size_t i = ST_RULE_INSERT_TOKEN; rules->tokens.n && !some && i < ST_RULE_COUNT; i++)
		if (rules_push(rules, (enum st_fuzz_rule)i, e))
			return ST_FAILED;
	return ST_OK;
}

void
st_rules_free(struct st_fuzz_rules *rules)
{
	for (size_t i = 0; i < rules->user.n; i++) {
		regfree(&rules->user.v[i].expression);
		free(rules->user.v[i].text);
	}
	free(rules->user.v);
	free(rules->builtin.v);
	for (size_t i = 0; i < rules->tokens.n; i++)
		st_fuzz_bytes_free(&rules->tokens.v[i]);
	free(rules->tokens.v);
	*rules = (struct st_fuzz_rules){0};
}

size_t
st_rules_count(const struct st_fuzz_rules *rules)
{
	return rules->user.n + rules->builtin.n;
}

const char *
st_rules_name(const struct st_fuzz_rules *rules, size_t rule)
{
	return rule < rules->user.n ? rules->user.v[rule].text
	                            : rule_names[rules->builtin.v[rule - rules->user.n]];
}

/* ---- application ---- */

static st_status
apply_user(const struct st_user_rule *rule, struct st_fuzz_bytes *b, uint64_t *random)
{
	struct st_line_of line = st_random_line(b, random);
	regmatch_t match = {.rm_so = (regoff_t)line.from, .rm_eo = (regoff_t)line.to};
	if (!b->n || regexec(&rule->expression, (const char *)b->v, 1, &match, REG_STARTEND))
		return ST_OK;
	return st_fuzz_bytes_splice(b, (size_t)match.rm_so, (size_t)(match.rm_eo - match.rm_so),
	                            rule->replacement, strlen(rule->replacement));
}

st_status
st_rule_apply(enum st_fuzz_rule rule, struct st_fuzz_bytes *b, uint64_t *random)
{
	if (rule >= ST_RULE_REMOVE_ATTRIBUTE)
		return st_rule_xml(rule, b, random);
	if (rule >= ST_RULE_REPEAT_BYTES)
		return st_rule_range(rule, b, random);
	if (rule >= ST_RULE_REMOVE_ZERO)
		return st_rule_binary(rule, b, random);
	return st_rule_text(rule, b, random);
}

st_status
st_rules_apply(const struct st_fuzz_rules *rules, size_t rule, struct st_fuzz_bytes *b,
               uint64_t *random)
{
	if (rule < rules->user.n)
		return apply_user(&rules->user.v[rule], b, random);
	const enum st_fuzz_rule builtin = rules->builtin.v[rule - rules->user.n];
	return builtin >= ST_RULE_INSERT_TOKEN ? st_rule_token(builtin, rules, b, random)
	                                       : st_rule_apply(builtin, b, random);
}
