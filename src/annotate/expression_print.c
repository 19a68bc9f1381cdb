/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints expressions as text that the parser reads as the same expression. */
#include <math.h>
#include <stdlib.h>

#include "annotate/expression.h"

enum { PRECEDENCE_UNARY = 6, PRECEDENCE_PRIMARY = 8 };

static const int ann_precedences[] = {
#define O(id, text, precedence) precedence,
        ST_ANN_OPERATORS(O)
#undef O
};

void
st_ann_number_print(double x, FILE *out, int digits)
{
	char text[40];
	if (digits)
		snprintf(text, sizeof text, "%.*g", digits, x);
	for (int d = 15; !digits && d <= 17; d++) {
		snprintf(text, sizeof text, "%.*g", d, x);
		if (strtod(text, NULL) == x)
			break;
	}
	fputs(text, out);
}

static int
ann_precedence(const struct st_ann_expr *x)
{
	if (x->op < ST_ANN_OP_COUNT)
		return ann_precedences[x->op];
	/* The parser reads -2 as a number wherever a sign is allowed. */
	if (x->op == ST_ANN_NEGATE || (x->op == ST_ANN_NUMBER && signbit(x->number)))
		return PRECEDENCE_UNARY;
	return PRECEDENCE_PRIMARY; /* of !, too: it puts its operand in parentheses */
}

/* Puts parentheses around an expression whose precedence is below `least`. */
static void
ann_print_at(const struct st_ann_expr *x, FILE *out, int digits, int least)
{
	const bool parentheses = ann_precedence(x) < least;
	if (parentheses)
		putc('(', out);
	st_ann_expr_print(x, out, digits);
	if (parentheses)
		putc(')', out);
}

static void
ann_print_label(const char *text, FILE *out)
{
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', out);
		putc(*text, out);
	}
	putc('"', out);
}

static void
ann_print_binary(const struct st_ann_expr *x, FILE *out, int digits)
{
	const int own = ann_precedence(x);
	const bool power = x->op == ST_ANN_OP_POWER, comparison = own == 3;
	/* Operators associate to the left, powers to the right, and comparisons do not. */
	ann_print_at(x->a, out, digits, power ? PRECEDENCE_PRIMARY : own + comparison);
	fprintf(out, power ? "%s" : " %s ", st_ann_operator_text(x->op));
	ann_print_at(x->b, out, digits, power ? PRECEDENCE_UNARY : own + 1);
}

static void
ann_print_call(const struct st_ann_expr *x, FILE *out, int digits)
{
	fprintf(out, "%s(", st_ann_function_name(x->function));
	st_ann_expr_print(x->a, out, digits);
	if (x->b) {
		fputs(", ", out);
		st_ann_expr_print(x->b, out, digits);
	}
	putc(')', out);
}

void
st_ann_expr_print(const struct st_ann_expr *x, FILE *out, int digits)
{
	if (x->op < ST_ANN_OP_COUNT)
		ann_print_binary(x, out, digits);
	else if (x->op == ST_ANN_NUMBER)
		st_ann_number_print(x->number, out, digits);
	else if (x->op == ST_ANN_NAME)
		fputs(x->text, out);
	else if (x->op == ST_ANN_LABEL)
		ann_print_label(x->text, out);
	else if (x->op == ST_ANN_CALL)
		ann_print_call(x, out, digits);
	else if (x->op == ST_ANN_NEGATE) {
		putc('-', out);
		ann_print_at(x->a, out, digits, PRECEDENCE_UNARY + 1);
	} else { /* ! */
		fputs("!", out);
		ann_print_at(x->a, out, digits, PRECEDENCE_PRIMARY);
	}
}
