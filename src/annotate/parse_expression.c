/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recursive-descent parser of expressions, conditions and paths. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/parser.h"
#include "base/text.h"

enum { DEPTH_MOST = 100, OPERATORS_MOST = 1000 };

static struct st_ann_expr *ann_take_unary(struct st_ann_parser *p);

static struct st_ann_expr *
ann_or_no_memory(struct st_ann_parser *p, struct st_ann_expr *x)
{
	if (!x)
		ST_IGNORE(st_ann_no_memory(p));
	return x;
}

static struct st_ann_expr *
ann_wrong_expr(struct st_ann_parser *p, const char *cause)
{
	ST_IGNORE(st_ann_wrong(p, "%s", cause));
	return NULL;
}

/* Appends the members and elements that follow to `path`, without blanks. */
static st_status
ann_take_members(struct st_ann_parser *p, FILE *path)
{
	for (;;) {
		const char *const from = p->at;
		const char *const separator = st_ann_accept(p, "->")  ? "->"
		                              : st_ann_accept(p, ".") ? "."
		                              : st_ann_accept(p, "[") ? "["
		                                                      : NULL;
		if (!separator) {
			p->at = from;
			return ST_OK;
		}
		fputs(separator, path);
		if (*separator == '[') {
			st_ann_blanks(p, false);
			const size_t digits = strspn(p->at, "0123456789");
			if (!digits)
				return st_ann_wrong(p, "the number of an element is expected here");
			fprintf(path, "%.*s]", (int)digits, p->at);
			p->at += digits;
			if (st_ann_expect(p, "]", "the number of an element"))
				return ST_FAILED;
			continue;
		}
		char *member = st_ann_take_name(p, "the name of a member");
		if (!member)
			return ST_FAILED;
		fputs(member, path);
		free(member);
	}
}

static st_status
ann_take_path_to(struct st_ann_parser *p, FILE *path)
{
	st_status status = ST_OK;
	if (++p->depth > DEPTH_MOST)
		return st_ann_wrong(p, "the path has more than %d levels", DEPTH_MOST);
	while (st_ann_accept(p, "*"))
		putc('*', path);
	if (st_ann_accept(p, "(")) {
		putc('(', path);
		status = ann_take_path_to(p, path) || st_ann_expect(p, ")", "a path") ? ST_FAILED
		                                                                      : ST_OK;
		putc(')', path);
	} else {
		char *name = st_ann_take_name(p, "a path to a feature");
		status = name ? ST_OK : ST_FAILED;
		fputs(name ? name : "", path);
		free(name);
	}
	p->depth--;
	return status ? ST_FAILED : ann_take_members(p, path);
}

/* Reads a path as text without blanks, malloc'ed. Returns NULL with *e if it is wrong. */
static char *
ann_take_path(struct st_ann_parser *p)
{
	struct st_text text;
	if (!st_text_begin(&text)) {
		ST_IGNORE(st_ann_no_memory(p));
		return NULL;
	}
	const st_status status = ann_take_path_to(p, text.out);
	char *path = st_text_end(&text);
	if (!status && !path)
		ST_IGNORE(st_ann_no_memory(p));
	if (status) {
		free(path);
		path = NULL;
	}
	return path;
}

static struct st_ann_expr *
ann_take_call(struct st_ann_parser *p, const char *name)
{
	enum st_ann_function f = 0;
	while (f < ST_ANN_FUNCTION_COUNT && strcmp(st_ann_function_name(f), name))
		f++;
	if (f == ST_ANN_FUNCTION_COUNT) {
		ST_IGNORE(st_ann_wrong(p,
		                       "there is no function '%.60s'; there are log (of base 2), "
		                       "ln, exp, sqrt, abs, min and max",
		                       name));
		return NULL;
	}
	struct st_ann_expr *a = st_ann_take_expr(p), *b = NULL;
	if (!a)
		return NULL;
	if (st_ann_function_arguments(f) == 2 &&
	    (st_ann_expect(p, ",", "the first argument") || !(b = st_ann_take_expr(p)))) {
		st_ann_expr_free(a);
		return NULL;
	}
	if (st_ann_expect(p, ")", "the arguments")) {
		st_ann_expr_free(a);
		st_ann_expr_free(b);
		return NULL;
	}
	return ann_or_no_memory(p, st_ann_call(f, a, b));
}

/* Reads a name, a path, or the call of a function. */
static struct st_ann_expr *
ann_take_named(struct st_ann_parser *p)
{
	const char *const from = p->at;
	if (*from != '*') {
		char *name = st_ann_take_name(p, "a number, a name or an expression");
		if (!name)
			return NULL;
		if (st_ann_accept(p, "(")) {
			struct st_ann_expr *call = ann_take_call(p, name);
			free(name);
			return call;
		}
		free(name);
		p->at = from;
	}
	char *path = ann_take_path(p);
	struct st_ann_expr *x = path ? ann_or_no_memory(p, st_ann_name(path)) : NULL;
	free(path);
	return x;
}

/* An expression in parentheses may begin a path: (*p).x. */
static struct st_ann_expr *
ann_take_parentheses(struct st_ann_parser *p)
{
	struct st_text text;
	struct st_ann_expr *inner = st_ann_take_condition(p);
	if (!inner || st_ann_expect(p, ")", "an expression")) {
		st_ann_expr_free(inner);
		return NULL;
	}
	const char *const behind = p->at;
	const bool is_path =
	        inner->op == ST_ANN_NAME &&
	        (st_ann_accept(p, "->") || st_ann_accept(p, ".") || st_ann_accept(p, "["));
	p->at = behind;
	if (!is_path)
		return inner;
	st_text_begin(&text);
	if (text.out)
		fprintf(text.out, "(%s)", inner->text);
	const st_status status = text.out ? ann_take_members(p, text.out) : st_ann_no_memory(p);
	char *path = st_text_end(&text);
	st_ann_expr_free(inner);
	inner = status ? NULL : path ? st_ann_name(path) : NULL;
	free(path);
	return status ? NULL : ann_or_no_memory(p, inner);
}

static struct st_ann_expr *
ann_take_primary(struct st_ann_parser *p)
{
	double number;
	st_ann_blanks(p, false);
	if (*p->at == '"') {
		char *label = st_ann_take_quoted(p);
		struct st_ann_expr *x = label ? ann_or_no_memory(p, st_ann_label(label)) : NULL;
		free(label);
		return x;
	}
	if (isdigit((unsigned char)*p->at) || *p->at == '.')
		return st_ann_take_number(p, &number) ? NULL
		                                      : ann_or_no_memory(p, st_ann_number(number));
	return st_ann_accept(p, "(") ? ann_take_parentheses(p) : ann_take_named(p);
}

static struct st_ann_expr *
ann_take_power(struct st_ann_parser *p)
{
	struct st_ann_expr *x = ann_take_primary(p);
	if (!x || !st_ann_accept(p, "^"))
		return x;
	struct st_ann_expr *exponent = ann_take_unary(p);
	if (!exponent) {
		st_ann_expr_free(x);
		return NULL;
	}
	return ann_or_no_memory(p, st_ann_binary(ST_ANN_OP_POWER, x, exponent));
}

/* A sign before a number is part of the number, unless a power follows. */
static struct st_ann_expr *
ann_take_unary(struct st_ann_parser *p)
{
	struct st_ann_expr *x = NULL;
	if (++p->depth > DEPTH_MOST)
		return ann_wrong_expr(p, "the expression is nested too deeply");
	if (st_ann_accept(p, "-")) {
		st_ann_blanks(p, false);
		const bool number = isdigit((unsigned char)*p->at) || *p->at == '.';
		x = ann_take_power(p);
		if (x && number && x->op == ST_ANN_NUMBER)
			x->number = -x->number;
		else if (x)
			x = ann_or_no_memory(p, st_ann_unary(ST_ANN_NEGATE, x));
	} else {
		x = ann_take_power(p);
	}
	p->depth--;
	return x;
}

/* The operator of one precedence that stands there; ST_ANN_OP_COUNT: none. */
static enum st_ann_operator
ann_accept_operator(struct st_ann_parser *p, int precedence)
{
	static const struct {
		const char *text;
		int precedence;
		enum st_ann_operator op;
	} in_order[] = {
	        /* longer ones first */
	        {"||", 1, ST_ANN_OP_OR},         {"&&", 2, ST_ANN_OP_AND},
	        {"<=", 3, ST_ANN_OP_LESS_EQUAL}, {">=", 3, ST_ANN_OP_GREATER_EQUAL},
	        {"==", 3, ST_ANN_OP_EQUAL},      {"!=", 3, ST_ANN_OP_UNEQUAL},
	        {"<", 3, ST_ANN_OP_LESS},        {">", 3, ST_ANN_OP_GREATER},
	        {"=", 3, ST_ANN_OP_EQUAL},       {"+", 4, ST_ANN_OP_ADD},
	        {"-", 4, ST_ANN_OP_SUBTRACT},    {"*", 5, ST_ANN_OP_MULTIPLY},
	        {"/", 5, ST_ANN_OP_DIVIDE},
	};
	for (size_t i = 0; i < sizeof in_order / sizeof *in_order; i++)
		if (in_order[i].precedence == precedence && st_ann_accept(p, in_order[i].text))
			return in_order[i].op;
	return ST_ANN_OP_COUNT;
}

/* Operators of the precedences from this one on. */
static struct st_ann_expr *
ann_take_operators(struct st_ann_parser *p, int precedence)
{
	if (precedence > 5)
		return ann_take_unary(p);
	if (precedence == 3 && st_ann_accept(p, "!")) {
		struct st_ann_expr *negated = NULL;
		if (++p->depth > DEPTH_MOST)
			return ann_wrong_expr(p, "the condition is nested too deeply");
		st_ann_blanks(p, false);
		negated = *p->at == '!' ? ann_take_operators(p, 3) : ann_take_primary(p);
		p->depth--;
		return negated ? ann_or_no_memory(p, st_ann_unary(ST_ANN_NOT, negated)) : NULL;
	}
	struct st_ann_expr *x = ann_take_operators(p, precedence + 1);
	while (x) {
		const enum st_ann_operator op = ann_accept_operator(p, precedence);
		if (op == ST_ANN_OP_COUNT)
			break;
		struct st_ann_expr *b =
		        ++p->operators > OPERATORS_MOST
		                ? ann_wrong_expr(p, "the expression has more than 1,000 operators")
		                : ann_take_operators(p, precedence + 1);
		if (!b) {
			st_ann_expr_free(x);
			return NULL;
		}
		x = ann_or_no_memory(p, st_ann_binary(op, x, b));
		if (precedence == 3)
			break; /* a < b < c is refused: it would compare 0 or 1 with c */
	}
	return x;
}

struct st_ann_expr *
st_ann_take_condition(struct st_ann_parser *p)
{
	if (++p->depth > DEPTH_MOST)
		return ann_wrong_expr(p, "the condition is nested too deeply");
	struct st_ann_expr *x = ann_take_operators(p, 1);
	p->depth--;
	return x;
}

struct st_ann_expr *
st_ann_take_expr(struct st_ann_parser *p)
{
	if (++p->depth > DEPTH_MOST)
		return ann_wrong_expr(p, "the expression is nested too deeply");
	struct st_ann_expr *x = ann_take_operators(p, 4);
	p->depth--;
	return x;
}
