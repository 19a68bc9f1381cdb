/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The language of annotations on random text: generated annotations print as text that is read as
 * the same and prints again as the same; mutants of them are read, or refused with line and column.
 * Rounds: 2000, or the first argument; seed: the second.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/annotation.h"
#include "base/random.h"
#include "base/text.h"

static uint64_t state;

static unsigned
below(unsigned n)
{
	return (unsigned)st_random_below(&state, n);
}

static void
die(const char *what, const char *text)
{
	fprintf(stderr, "%s:\n%s\n", what, text);
	exit(1);
}

/* Returns any finite double that is not negative. */
static double
number(void)
{
	static const double some[] = {0, 1, 2, 0.5, 1e9, 5e-324, 1.7976931348623157e308, 0.1};
	double v;
	if (below(2))
		return some[below(8)];
	do {
		const uint64_t bits = st_random_next(&state) & ~(UINT64_C(1) << 63);
		memcpy(&v, &bits, sizeof v);
	} while (!isfinite(v));
	return v;
}

static const char *
name(void)
{
	static const char *const names[] = {"a",         "s_size", "ns::g",
	                                    "p->x[3].y", "*q",     "*(this->m.n)",
	                                    "(*r).s",    "Normal", "log"};
	return names[below(8)];
}

static struct st_ann_expr *
expression(unsigned depth)
{
	const unsigned kind = depth ? below(10) : below(2);
	if (kind == 0)
		return st_ann_number(below(4) ? number() : -number());
	if (kind == 1)
		return st_ann_name(name());
	if (kind == 2)
		return st_ann_unary(ST_ANN_NEGATE, expression(depth - 1));
	if (kind == 3) {
		const enum st_ann_function f = below(ST_ANN_FUNCTION_COUNT);
		struct st_ann_expr *a = expression(depth - 1);
		return st_ann_call(
		        f, a, st_ann_function_arguments(f) == 2 ? expression(depth - 1) : NULL);
	}
	struct st_ann_expr *a = expression(depth - 1);
	return st_ann_binary(ST_ANN_OP_ADD + below(5), a, expression(depth - 1));
}

static struct st_ann_expr *
condition(unsigned depth)
{
	const unsigned kind = depth ? below(5) : 0;
	if (kind == 4)
		return st_ann_unary(ST_ANN_NOT, condition(depth - 1));
	if (kind == 3)
		return st_ann_binary(below(2) ? ST_ANN_OP_EQUAL : ST_ANN_OP_UNEQUAL,
		                     st_ann_name(name()), st_ann_label("A \"b\\ c"));
	if (kind) {
		struct st_ann_expr *a = condition(depth - 1);
		return st_ann_binary(kind == 1 ? ST_ANN_OP_OR : ST_ANN_OP_AND, a,
		                     condition(depth - 1));
	}
	struct st_ann_expr *a = expression(2);
	return st_ann_binary(ST_ANN_OP_LESS + below(6), a, expression(2));
}

static struct st_ann_model
model(double weight)
{
	struct st_ann_model m = st_ann_model_new();
	m.weight = weight;
	m.distribution = below(ST_ANN_DISTRIBUTION_COUNT);
	m.a = expression(4);
	if (st_ann_distribution_parameters(m.distribution) == 2)
		m.b = expression(3);
	if (below(2)) {
		m.r2 = number();
		m.n = 1 + below(1000000);
		strcpy(m.class, "linear");
	}
	for (unsigned i = below(4); i; i--)
		*ST_PUSH(&m.se) = number();
	return m;
}

static void
scope(struct st_ann_annotation *a, bool conditional)
{
	struct st_ann_scope *s = ST_PUSH(&a->scopes);
	const unsigned n = below(2) ? 1 : 2 + below(2);
	if (conditional)
		s->condition = condition(3);
	for (unsigned i = 0; i < n; i++)
		*ST_PUSH(&s->models) = model(n > 1 ? 1.0 / n : NAN);
}

static char *
generated(void)
{
	static const char *const functions[] = {
	        "f", "std::list<int>::sort", "g.cold", "h(int, char \"const\"*)", "operator new[]",
	        "~a"};
	struct st_ann_annotation a = {.function = strdup(functions[below(6)]),
	                              .metric = strdup("time"),
	                              .overhead = below(2) ? NAN : number()};
	struct st_text text;
	for (unsigned i = below(3); i; i--)
		*ST_PUSH(&a.parameters) = strdup("this");
	for (unsigned i = below(3); i; i--)
		*ST_PUSH(&a.declarations) =
		        (struct st_ann_declaration){.type = strdup("unsigned long"),
		                                    .name = strdup("x"),
		                                    .path = strdup(name()),
		                                    .low = number(),
		                                    .high = number(),
		                                    .also = below(2) ? strdup("b, c") : NULL};
	const bool conditional = below(2);
	for (unsigned i = conditional ? 1 + below(3) : 1; i; i--)
		scope(&a, conditional);
	st_ann_print(&a, st_text_begin(&text), 0);
	st_ann_annotation_free(&a);
	return st_text_end(&text);
}

/* Reads and prints text; NULL: it was refused with a message that has line and column. */
static char *
reprinted(const char *text, size_t n)
{
	struct st_ann_file f;
	struct st_error e = {0};
	struct st_text out;
	char *again = NULL;
	if (st_ann_parse(text, n, "t", &f, &e)) {
		if (!strstr(e.text, "t:") && !strstr(e.text, "byte that is 0"))
			die("refused without a place", e.text);
	} else {
		st_ann_print_file(&f, st_text_begin(&out));
		again = st_text_end(&out);
	}
	st_ann_file_free(&f);
	return again;
}

static void
check_same(const char *text, const char *what)
{
	char *again = reprinted(text, strlen(text));
	if (!again)
		die("printed text is refused", text);
	if (strcmp(again, text)) {
		fprintf(stderr, "%s", again);
		die(what, text);
	}
	free(again);
}

static bool
check_mutant(char *text)
{
	static const char bytes[] = "(){}[];,.:*/+-^<>=!&|\"\\ \n0123456789eEaNx_#";
	size_t n = strlen(text);
	for (unsigned i = below(4); i; i--)
		text[below((unsigned)n)] =
		        below(8) ? bytes[below(sizeof bytes - 1)] : (char)below(256);
	if (!below(8))
		n = below((unsigned)n);
	char *once = reprinted(text, n);
	if (once)
		check_same(once, "a mutant that was read and printed prints otherwise now");
	free(once);
	return once != NULL;
}

int
main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 2000;
	int read = 0;
	state = argc > 2 ? (uint64_t)atoi(argv[2]) : 1;
	for (int i = 0; i < rounds; i++) {
		char *text = generated();
		check_same(text, "not the same text");
		for (int k = 0; k < 4; k++)
			read += check_mutant(text);
		free(text);
	}
	printf("%d annotations, and %d mutants that were read\n", rounds, read);
	return !read;
}
