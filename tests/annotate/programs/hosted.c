/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls three functions of Strobe itself with inputs of growing sizes: test_own_contracts.py checks
 * what they cost. With PLANTED, and linked with --wrap=st_ann_take_expr, the parser of annotations
 * has a defect. */
#include <stdio.h>
#include <stdlib.h>

#include "annotate/annotation.h"
#include "annotate/contract.h"
#include "base/text.h"
#include "stats/density.h"

/* Returns a text of `lines` equal lines, malloc'ed. */
static char *
repeated(const char *line, unsigned lines, size_t *n)
{
	struct st_text text;
	if (!st_text_begin(&text))
		return NULL;
	for (unsigned i = 0; i < lines; i++)
		fputs(line, text.out);
	char *v = st_text_end(&text);
	*n = text.n;
	return v;
}

/* Expressions of the text of annotations that is being parsed, plus 1; 0: there is none. */
static unsigned expressions;

#ifdef PLANTED
struct st_ann_parser;
struct st_ann_expr *__real_st_ann_take_expr(struct st_ann_parser *p);
struct st_ann_expr *__wrap_st_ann_take_expr(struct st_ann_parser *p);

/* Allocates once more for each expression of the text so far: n expressions are quadratic. */
struct st_ann_expr *
__wrap_st_ann_take_expr(struct st_ann_parser *p)
{
	for (unsigned i = 0; i < expressions; i++) {
		void *v = malloc(1);
		__asm__ volatile("" : : "r"(v) : "memory");
		free(v);
	}
	expressions += expressions != 0;
	return __real_st_ann_take_expr(p);
}
#endif

static int
parse_annotations(unsigned lines)
{
	struct st_ann_file f;
	struct st_error e;
	size_t n;
	char *v = repeated("f.time(n) { number n = n; [n < 9] Norm(3 * n + 2, 1); }\n", lines, &n);
	expressions = 1;
	if (!v || st_ann_parse(v, n, "annotations", &f, &e))
		return 1;
	expressions = 0;
	st_ann_file_free(&f);
	free(v);
	return 0;
}

static int
parse_contracts(unsigned lines)
{
	struct st_ann_contracts c;
	struct st_error e;
	size_t n;
	char *v = repeated("time(sort) <= 9ns*n*log(n) @p95 for n in 1e3..1e6\n", lines, &n);
	if (!v || st_ann_contracts_parse(v, n, "contracts", &c, &e))
		return 1;
	st_ann_contracts_free(&c);
	free(v);
	return 0;
}

static int
estimate_density(size_t n)
{
	struct st_density d;
	double *v = malloc(n * sizeof *v);
	for (size_t i = 0; v && i < n; i++)
		v[i] = (double)(i * i % 97);
	const int failed = !v || st_density_find(v, n, &d);
	if (!failed)
		st_density_free(&d);
	free(v);
	return failed;
}

int
main(void)
{
	for (unsigned i = 1; i <= 40; i++)
		if (parse_annotations(5 * i) || parse_contracts(5 * i) || estimate_density(50 * i))
			return EXIT_FAILURE;
	puts("done");
	return EXIT_SUCCESS;
}
