/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules by which an input becomes another one. Those for text work on random lines, a line ending
 * before its newline, which stays, except in rules for whole lines. Blanks are
 * spaces and tabs; words are what is between blanks.
 */
#ifndef STROBE_FUZZ_RULES_H
#define STROBE_FUZZ_RULES_H

#include <regex.h>
#include <stdbool.h>

#include "base/vec.h"
#include "fuzz/bytes.h"

/* R(identifier, "name", "what it does"), by set. */
#define ST_FUZZ_TEXT_RULES(R)                                                                      \
	R(DOUBLE_LINE, "double-line", "repeat a line within the line")                             \
	R(COPY_LINE, "copy-line", "insert a line once more elsewhere")                             \
	R(DIVIDE_LINE, "divide-line", "break a line in two")                                       \
	R(CHANGE_CHARACTER, "change-character", "replace a byte of a line by any other")           \
	R(REPEAT_WORD, "repeat-word", "write a word 100 times, without blanks")                    \
	R(SORT_WORDS, "sort-words", "sort the words of a line, as numbers if all are numbers")     \
	R(SORT_DESCENDING, "sort-descending", "the same, the greatest first")                      \
	R(APPEND_BLANKS, "append-blanks", "append 100 to 1000 spaces to a line")                   \
	R(PREPEND_BLANKS, "prepend-blanks", "insert 100 to 1000 spaces before a line")             \
	R(INSERT_BLANKS, "insert-blanks", "insert 100 to 1000 spaces in a line")                   \
	R(REPEAT_BLANKS, "repeat-blanks", "write each of the first 100 blanks of a line 10 times") \
	R(REMOVE_BLANKS, "remove-blanks", "remove all blanks of a line")                           \
	R(DELETE_LINE, "delete-line", "remove a line")                                             \
	R(DELETE_WORD, "delete-word", "remove a word")                                             \
	R(DELETE_CHARACTER, "delete-character", "remove a byte of a line")
#define ST_FUZZ_BINARY_RULES(R)                                                                    \
	R(REMOVE_ZERO, "remove-zero", "remove a byte that is 0")                                   \
	R(INSERT_ZERO, "insert-zero", "insert a byte that is 0")                                   \
	R(INSERT_BYTE, "insert-byte", "insert any byte")                                           \
	R(REMOVE_BYTE, "remove-byte", "remove a byte")                                             \
	R(SWAP_BYTES, "swap-bytes", "exchange two bytes")                                          \
	R(FLIP_BIT, "flip-bit", "invert a bit")
/* Our own, for binary inputs. */
#define ST_FUZZ_RANGE_RULES(R)                                                                     \
	R(REPEAT_BYTES, "repeat-bytes", "double a range of bytes up to six times")                 \
	R(SORT_BYTES, "sort-bytes", "sort a range of bytes")                                       \
	R(SORT_BYTES_DESCENDING, "sort-bytes-descending", "the same, the greatest first")          \
	R(REVERSE_BYTES, "reverse-bytes", "reverse the order of a range of bytes")                 \
	R(ADD_TO_BYTES, "add-to-bytes", "add or subtract 1, 2, 4, 8 or 16, for a range of bytes")
#define ST_FUZZ_XML_RULES(R)                                                                       \
	R(REMOVE_ATTRIBUTE, "remove-attribute", "remove an attribute of a tag")                    \
	R(REMOVE_ATTRIBUTE_NAME, "remove-attribute-name", "remove an attribute's name")            \
	R(REMOVE_ATTRIBUTE_VALUE, "remove-attribute-value", "remove an attribute's value")         \
	R(REMOVE_TAG, "remove-tag", "remove a tag")
/* They need a dictionary. */
#define ST_FUZZ_TOKEN_RULES(R)                                                                     \
	R(INSERT_TOKEN, "insert-token", "insert a token of the dictionary")                        \
	R(OVERWRITE_TOKEN, "overwrite-token", "write a token over as many bytes")                  \
	R(REPEAT_TOKEN, "repeat-token", "insert a token 100 times")
#define ST_FUZZ_RULES(R)                                                                           \
	ST_FUZZ_TEXT_RULES(R)                                                                      \
	ST_FUZZ_BINARY_RULES(R)                                                                    \
	ST_FUZZ_RANGE_RULES(R) ST_FUZZ_XML_RULES(R) ST_FUZZ_TOKEN_RULES(R)

enum st_fuzz_rule {
#define R(id, name, what) ST_RULE_##id,
	ST_FUZZ_RULES(R)
#undef R
	        ST_RULE_COUNT
};

/* A rule of the user's: the first match of the expression in a random line is replaced. */
struct st_user_rule {
	char *text; /* as it was given: EXPRESSION=>REPLACEMENT */
	const char *replacement;
	regex_t expression;
};

/* All that may be applied. Their numbers: the user's rules first, then those of the sets. */
struct st_fuzz_rules {
	ST_VEC(struct st_user_rule) user;
	ST_VEC(enum st_fuzz_rule) builtin;
	ST_VEC(struct st_fuzz_bytes) tokens; /* of dictionaries */
};

enum st_fuzz_type { ST_TYPE_TEXT, ST_TYPE_BINARY, ST_TYPE_XML, ST_TYPE_COUNT };

/* Returns the type of an input: XML if it begins like it; text if it has no zero byte and is UTF-8
 * or has few other bytes; else binary. */
enum st_fuzz_type st_fuzz_type_of(const struct st_fuzz_bytes *b);
const char *st_fuzz_type_name(enum st_fuzz_type type);

/* ST_FAILED with *e: no separator, or a bad expression, which is named. */
st_status st_rules_add_user(struct st_fuzz_rules *rules, const char *text, struct st_error *e);
/* Adds the rules that suit inputs of a type: of XML those for text, too. */
st_status st_rules_add_type(struct st_fuzz_rules *rules, enum st_fuzz_type type,
                            struct st_error *e);
/* Adds a built-in rule by its name. */
st_status st_rules_add_named(struct st_fuzz_rules *rules, const char *name, struct st_error *e);
/* Adds the tokens of a file: dictionary.c. ST_FAILED with *e: it cannot be read, a line is wrong,
 * or it has none. */
st_status st_rules_add_dictionary(struct st_fuzz_rules *rules, const char *path,
                                  struct st_error *e);
/* Adds the rules for tokens, if there are tokens and none of these rules yet. ST_FAILED with *e:
 * there are such rules, but no tokens. */
st_status st_rules_use_tokens(struct st_fuzz_rules *rules, struct st_error *e);
void st_rules_free(struct st_fuzz_rules *rules);

size_t st_rules_count(const struct st_fuzz_rules *rules);
const char *st_rules_name(const struct st_fuzz_rules *rules, size_t rule);
const char *st_fuzz_rule_help(enum st_fuzz_rule rule);

/* Applies a rule once. The bytes may stay as they are: there is no line, word or tag to work on.
 * ST_FAILED: memory is exhausted. */
st_status st_rules_apply(const struct st_fuzz_rules *rules, size_t rule, struct st_fuzz_bytes *b,
                         uint64_t *random);
/* The same of a built-in rule that needs no dictionary. */
st_status st_rule_apply(enum st_fuzz_rule rule, struct st_fuzz_bytes *b, uint64_t *random);

/* Inside. A line: [from, to) without its newline. */
struct st_line_of {
	size_t from, to;
};
struct st_line_of st_random_line(const struct st_fuzz_bytes *b, uint64_t *random);
st_status st_rule_text(enum st_fuzz_rule rule, struct st_fuzz_bytes *b, uint64_t *random);
st_status st_rule_words(enum st_fuzz_rule rule, struct st_fuzz_bytes *b, uint64_t *random);
st_status st_rule_binary(enum st_fuzz_rule rule, struct st_fuzz_bytes *b, uint64_t *random);
st_status st_rule_range(enum st_fuzz_rule rule, struct st_fuzz_bytes *b, uint64_t *random);
st_status st_rule_token(enum st_fuzz_rule rule, const struct st_fuzz_rules *rules,
                        struct st_fuzz_bytes *b, uint64_t *random);
st_status st_rule_xml(enum st_fuzz_rule rule, struct st_fuzz_bytes *b, uint64_t *random);

#endif
