/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Evaluates expressions and conditions. */
#include <math.h>
#include <string.h>

#include "annotate/expression.h"

static double
ann_call_at(enum st_ann_function function, double a, double b)
{
	switch (function) {
	case ST_ANN_LOG:
		return log2(a);
	case ST_ANN_LN:
		return log(a);
	case ST_ANN_EXP:
		return exp(a);
	case ST_ANN_SQRT:
		return sqrt(a);
	case ST_ANN_ABS:
		return fabs(a);
	case ST_ANN_MIN:
		return a < b ? a : b;
	case ST_ANN_MAX:
		return a > b ? a : b;
	default:
		return NAN;
	}
}

/* x log x is 0 at 0, which is its limit. */
static double
ann_product(double a, double b)
{
	if ((a == 0 && isinf(b)) || (b == 0 && isinf(a)))
		return 0;
	return a * b;
}

static struct st_ann_value
ann_lookup(const struct st_ann_names *names, const char *name)
{
	struct st_ann_value value = {NAN, NULL};
	if (!names || !names->find(names->arg, name, &value))
		return (struct st_ann_value){NAN, NULL};
	return value;
}

double
st_ann_evaluate(const struct st_ann_expr *x, const struct st_ann_names *names)
{
	switch (x->op) {
	case ST_ANN_NUMBER:
		return x->number;
	case ST_ANN_NAME:
		return ann_lookup(names, x->text).number;
	case ST_ANN_LABEL:
		return NAN;
	case ST_ANN_NEGATE:
		return -st_ann_evaluate(x->a, names);
	case ST_ANN_CALL:
		return ann_call_at(x->function, st_ann_evaluate(x->a, names),
		                   x->b ? st_ann_evaluate(x->b, names) : 0);
	case ST_ANN_OP_ADD:
		return st_ann_evaluate(x->a, names) + st_ann_evaluate(x->b, names);
	case ST_ANN_OP_SUBTRACT:
		return st_ann_evaluate(x->a, names) - st_ann_evaluate(x->b, names);
	case ST_ANN_OP_MULTIPLY:
		return ann_product(st_ann_evaluate(x->a, names), st_ann_evaluate(x->b, names));
	case ST_ANN_OP_DIVIDE:
		return st_ann_evaluate(x->a, names) / st_ann_evaluate(x->b, names);
	case ST_ANN_OP_POWER:
		return pow(st_ann_evaluate(x->a, names), st_ann_evaluate(x->b, names));
	default: /* a condition has the value 1 or 0 */
		return st_ann_holds(x, names);
	}
}

/* Compares the label of a category with a string. */
static bool
ann_label_is(const struct st_ann_expr *x, const struct st_ann_expr *label,
             const struct st_ann_names *names, bool equal)
{
	if (x->op != ST_ANN_NAME)
		return false;
	const struct st_ann_value value = ann_lookup(names, x->text);
	return value.label && !strcmp(value.label, label->text) == equal;
}

static bool
ann_compare(const struct st_ann_expr *x, const struct st_ann_names *names)
{
	const bool equality = x->op == ST_ANN_OP_EQUAL || x->op == ST_ANN_OP_UNEQUAL;
	if (equality && x->b->op == ST_ANN_LABEL)
		return ann_label_is(x->a, x->b, names, x->op == ST_ANN_OP_EQUAL);
	const double a = st_ann_evaluate(x->a, names), b = st_ann_evaluate(x->b, names);
	if (isnan(a) || isnan(b))
		return false;
	switch (x->op) {
	case ST_ANN_OP_LESS:
		return a < b;
	case ST_ANN_OP_LESS_EQUAL:
		return a <= b;
	case ST_ANN_OP_GREATER:
		return a > b;
	case ST_ANN_OP_GREATER_EQUAL:
		return a >= b;
	case ST_ANN_OP_EQUAL:
		return a == b;
	default:
		return a != b;
	}
}

bool
st_ann_holds(const struct st_ann_expr *x, const struct st_ann_names *names)
{
	switch (x->op) {
	case ST_ANN_OP_OR:
		return st_ann_holds(x->a, names) || st_ann_holds(x->b, names);
	case ST_ANN_OP_AND:
		return st_ann_holds(x->a, names) && st_ann_holds(x->b, names);
	case ST_ANN_NOT:
		return !st_ann_holds(x->a, names);
	case ST_ANN_OP_LESS:
	case ST_ANN_OP_LESS_EQUAL:
	case ST_ANN_OP_GREATER:
	case ST_ANN_OP_GREATER_EQUAL:
	case ST_ANN_OP_EQUAL:
	case ST_ANN_OP_UNEQUAL:
		return ann_compare(x, names);
	default: { /* a number holds unless it is 0 */
		const double value = st_ann_evaluate(x, names);
		return !isnan(value) && value != 0;
	}
	}
}
