/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expressions and conditions of annotations; docs/annotations.md has their grammar. */
#ifndef STROBE_ANNOTATE_EXPRESSION_H
#define STROBE_ANNOTATE_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/status.h"

/* F(identifier, "name", arguments): log has base 2, ln is the natural logarithm. */
#define ST_ANN_FUNCTIONS(F)                                                                        \
	F(LOG, "log", 1)                                                                           \
	F(LN, "ln", 1)                                                                             \
	F(EXP, "exp", 1)                                                                           \
	F(SQRT, "sqrt", 1)                                                                         \
	F(ABS, "abs", 1)                                                                           \
	F(MIN, "min", 2)                                                                           \
	F(MAX, "max", 2)

enum st_ann_function {
#define F(id, name, arguments) ST_ANN_##id,
	ST_ANN_FUNCTIONS(F)
#undef F
	        ST_ANN_FUNCTION_COUNT
};

/* O(identifier, "text", precedence): the operators with two operands. */
#define ST_ANN_OPERATORS(O)                                                                        \
	O(OR, "||", 1)                                                                             \
	O(AND, "&&", 2)                                                                            \
	O(LESS, "<", 3)                                                                            \
	O(LESS_EQUAL, "<=", 3)                                                                     \
	O(GREATER, ">", 3)                                                                         \
	O(GREATER_EQUAL, ">=", 3)                                                                  \
	O(EQUAL, "==", 3)                                                                          \
	O(UNEQUAL, "!=", 3)                                                                        \
	O(ADD, "+", 4)                                                                             \
	O(SUBTRACT, "-", 4)                                                                        \
	O(MULTIPLY, "*", 5)                                                                        \
	O(DIVIDE, "/", 5)                                                                          \
	O(POWER, "^", 7)

enum st_ann_operator {
#define O(id, text, precedence) ST_ANN_OP_##id,
	ST_ANN_OPERATORS(O)
#undef O
	        ST_ANN_OP_COUNT,
	ST_ANN_NUMBER = ST_ANN_OP_COUNT,
	ST_ANN_NAME,  /* or a path: text */
	ST_ANN_LABEL, /* the name of a category's value: text in double quotes */
	ST_ANN_NEGATE,
	ST_ANN_NOT,
	ST_ANN_CALL
};

struct st_ann_expr {
	enum st_ann_operator op;
	enum st_ann_function function; /* of ST_ANN_CALL */
	double number;
	char *text;
	struct st_ann_expr *a, *b;
};

/* The value of a name: a number, and for a category also the label. */
struct st_ann_value {
	double number;     /* NAN: it is absent */
	const char *label; /* NULL: none */
};

/* Looks up the values of names. */
struct st_ann_names {
	bool (*find)(const void *arg, const char *name, struct st_ann_value *value);
	const void *arg;
};

/* Each owns its operands and frees them when it fails. It returns NULL when memory is exhausted or
 * an operand is NULL. */
struct st_ann_expr *st_ann_number(double number);
struct st_ann_expr *st_ann_name(const char *text);
struct st_ann_expr *st_ann_label(const char *text);
struct st_ann_expr *st_ann_unary(enum st_ann_operator op, struct st_ann_expr *a);
struct st_ann_expr *st_ann_binary(enum st_ann_operator op, struct st_ann_expr *a,
                                  struct st_ann_expr *b);
struct st_ann_expr *st_ann_call(enum st_ann_function function, struct st_ann_expr *a,
                                struct st_ann_expr *b);
struct st_ann_expr *st_ann_copy(const struct st_ann_expr *x);
void st_ann_expr_free(struct st_ann_expr *x);

const char *st_ann_function_name(enum st_ann_function function);
unsigned st_ann_function_arguments(enum st_ann_function function);
const char *st_ann_operator_text(enum st_ann_operator op);

/* Returns the value of an expression; 0 * log(0) is 0. NAN: a name has no value, or the expression
 * is undefined there. */
double st_ann_evaluate(const struct st_ann_expr *x, const struct st_ann_names *names);
/* Returns whether a condition holds. A comparison with an absent value does not. */
bool st_ann_holds(const struct st_ann_expr *x, const struct st_ann_names *names);

/* digits: significant digits of numbers; 0: the fewest with which the same number is read again. */
void st_ann_expr_print(const struct st_ann_expr *x, FILE *out, int digits);
void st_ann_number_print(double x, FILE *out, int digits);

/* Calls `seen` for each occurrence of a name. */
void st_ann_each_name(const struct st_ann_expr *x, void (*seen)(void *arg, const char *name),
                      void *arg);

/* Calls `seen` for each addend of a sum, with its coefficient and its term; NULL: the term is 1.
 * Fails when memory is exhausted or `seen` fails. */
st_status st_ann_each_addend(const struct st_ann_expr *x,
                             st_status (*seen)(void *arg, double coefficient,
                                               const struct st_ann_expr *term),
                             void *arg);

#endif
