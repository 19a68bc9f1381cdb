/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Creates, copies, frees and traverses expressions. */
#include "annotate/expression.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	unsigned arguments;
} ann_functions[] = {
#define F(id, name, arguments) {name, arguments},
        ST_ANN_FUNCTIONS(F)
#undef F
};

static const char *const ann_operators[] = {
#define O(id, text, precedence) text,
        ST_ANN_OPERATORS(O)
#undef O
};

const char *
st_ann_function_name(enum st_ann_function function)
{
	return ann_functions[function].name;
}

unsigned
st_ann_function_arguments(enum st_ann_function function)
{
	return ann_functions[function].arguments;
}

const char *
st_ann_operator_text(enum st_ann_operator op)
{
	return op < ST_ANN_OP_COUNT ? ann_operators[op] : op == ST_ANN_NOT ? "!" : "-";
}

static struct st_ann_expr *
ann_node(enum st_ann_operator op)
{
	struct st_ann_expr *x = calloc(1, sizeof *x);
	if (x)
		x->op = op;
	return x;
}

void
st_ann_expr_free(struct st_ann_expr *x)
{
	/* A sum is a chain of left operands, which may be too long for recursion. */
	while (x) {
		struct st_ann_expr *next = x->a;
		st_ann_expr_free(x->b);
		free(x->text);
		free(x);
		x = next;
	}
}

struct st_ann_expr *
st_ann_number(double number)
{
	struct st_ann_expr *x = ann_node(ST_ANN_NUMBER);
	if (x)
		x->number = number;
	return x;
}

static struct st_ann_expr *
ann_text_node(enum st_ann_operator op, const char *text)
{
	struct st_ann_expr *x = ann_node(op);
	if (x && !(x->text = strdup(text))) {
		free(x);
		x = NULL;
	}
	return x;
}

struct st_ann_expr *
st_ann_name(const char *text)
{
	return ann_text_node(ST_ANN_NAME, text);
}

struct st_ann_expr *
st_ann_label(const char *text)
{
	return ann_text_node(ST_ANN_LABEL, text);
}

struct st_ann_expr *
st_ann_unary(enum st_ann_operator op, struct st_ann_expr *a)
{
	struct st_ann_expr *x = a ? ann_node(op) : NULL;
	if (!x) {
		st_ann_expr_free(a);
		return NULL;
	}
	x->a = a;
	return x;
}

struct st_ann_expr *
st_ann_binary(enum st_ann_operator op, struct st_ann_expr *a, struct st_ann_expr *b)
{
	struct st_ann_expr *x = a && b ? ann_node(op) : NULL;
	if (!x) {
		st_ann_expr_free(a);
		st_ann_expr_free(b);
		return NULL;
	}
	x->a = a;
	x->b = b;
	return x;
}

struct st_ann_expr *
st_ann_call(enum st_ann_function function, struct st_ann_expr *a, struct st_ann_expr *b)
{
	struct st_ann_expr *x = b ? st_ann_binary(ST_ANN_CALL, a, b) : st_ann_unary(ST_ANN_CALL, a);
	if (x)
		x->function = function;
	return x;
}

struct st_ann_expr *
st_ann_copy(const struct st_ann_expr *x)
{
	struct st_ann_expr *copy = x->text ? ann_text_node(x->op, x->text) : ann_node(x->op);
	if (!copy)
		return NULL;
	copy->function = x->function;
	copy->number = x->number;
	if ((x->a && !(copy->a = st_ann_copy(x->a))) || (x->b && !(copy->b = st_ann_copy(x->b)))) {
		st_ann_expr_free(copy);
		return NULL;
	}
	return copy;
}

void
st_ann_each_name(const struct st_ann_expr *x, void (*seen)(void *arg, const char *name), void *arg)
{
	for (; x; x = x->a) {
		if (x->op == ST_ANN_NAME)
			seen(arg, x->text);
		st_ann_each_name(x->b, seen, arg);
	}
}

/* Returns the leading number of a product; NULL: it has none. */
static const struct st_ann_expr *
ann_leading_number(const struct st_ann_expr *x)
{
	while (x->op == ST_ANN_OP_MULTIPLY)
		x = x->a;
	return x->op == ST_ANN_NUMBER ? x : NULL;
}

/* Copies a product without its leading number. */
static struct st_ann_expr *
ann_without_number(const struct st_ann_expr *x)
{
	if (x->a->op == ST_ANN_NUMBER)
		return st_ann_copy(x->b);
	return st_ann_binary(ST_ANN_OP_MULTIPLY, ann_without_number(x->a), st_ann_copy(x->b));
}

static st_status
ann_addend(const struct st_ann_expr *x, double sign,
           st_status (*seen)(void *, double, const struct st_ann_expr *), void *arg)
{
	if (x->op == ST_ANN_NEGATE)
		return ann_addend(x->a, -sign, seen, arg);
	if (x->op == ST_ANN_NUMBER)
		return seen(arg, sign * x->number, NULL);
	const struct st_ann_expr *number = ann_leading_number(x);
	if (!number)
		return seen(arg, sign, x);
	struct st_ann_expr *term = ann_without_number(x);
	const st_status status = term ? seen(arg, sign * number->number, term) : ST_FAILED;
	st_ann_expr_free(term);
	return status;
}

st_status
st_ann_each_addend(const struct st_ann_expr *x,
                   st_status (*seen)(void *arg, double coefficient, const struct st_ann_expr *term),
                   void *arg)
{
	if (x->op != ST_ANN_OP_ADD && x->op != ST_ANN_OP_SUBTRACT)
		return ann_addend(x, 1, seen, arg);
	if (st_ann_each_addend(x->a, seen, arg))
		return ST_FAILED;
	return ann_addend(x->b, x->op == ST_ANN_OP_ADD ? 1 : -1, seen, arg);
}
