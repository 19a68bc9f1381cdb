/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests the analysis by known laws: classes, coefficients, conditions, distributions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "laws.h"

static const struct st_ann_model *
only_model(const struct st_ann_annotation *a)
{
	assert_int_equal(a->scopes.n, 1);
	assert_null(a->scopes.v[0].condition);
	assert_int_equal(a->scopes.v[0].models.n, 1);
	return &a->scopes.v[0].models.v[0];
}

/* Exact data give the exact law without a spread. */
static void
check_exact(struct laws *l, const char *class, const char *mean)
{
	struct st_ann_annotation a = laws_analyse(l, "y");
	const struct st_ann_model *m = only_model(&a);
	assert_string_equal(m->class, class);
	assert_string_equal(laws_text(m->a, 0), mean);
	assert_string_equal(laws_text(m->b, 0), "0");
	st_ann_annotation_free(&a);
}

static void
test_exact_classes(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,x");
	for (int x = 0; x < 100; x++)
		laws_row(&l, "%d,%d", 3 + 2 * x, x);
	check_exact(&l, "linear", "3 + 2 * x");
	laws_begin(&l, "y,x");
	for (int x = 0; x < 100; x++)
		laws_row(&l, "%.17g,%d", x ? 5 * x * log2(x) : 0, x);
	check_exact(&l, "nlogn", "5 * x * log(x)");
	laws_begin(&l, "y,x");
	for (int x = 0; x < 100; x++)
		laws_row(&l, "%d,%d", 7 + 5 * x * x, x);
	check_exact(&l, "quadratic", "7 + 5 * x^2");
	laws_begin(&l, "y,x");
	for (int x = 0; x < 100; x++)
		laws_row(&l, "1000,%d", x);
	check_exact(&l, "constant", "1000");
	laws_begin(&l, "y,x,m");
	for (int x = -50; x < 50; x++)
		laws_row(&l, "%d,%d,%d", 4 - 3 * x, x, 5);
	check_exact(&l, "linear", "4 - 3 * x");
	laws_begin(&l, "y,a,b");
	for (int i = 0; i < 400; i++)
		laws_row(&l, "%d,%d,%d", i / 20 * (i % 20) * (i % 20), i / 20, i % 20);
	check_exact(&l, "quadratic", "a * b^2");
	laws_begin(&l, "y,f"); /* a quarter is no integer, and no count is cut off at 2^32 */
	for (int i = 0; i < 50; i++)
		laws_row(&l, "%.17g,%.17g", 8e10 + i, 0.25 * i);
	check_exact(&l, "linear", "80000000000 + 4 * f");
}

/* Among noise, exactly the law's terms are found, with coefficients within five standard errors. */
static void
test_terms_among_noise(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,a,b,n1,n2,n3,n4,n5,n6,n7,n8");
	for (int i = 0; i < 400; i++) {
		const int a = i / 20, b = i % 20;
		fprintf(l.text.out, "%.17g,%d,%d", 3 * a * b + 2 * a + laws_normal(), a, b);
		for (int k = 0; k < 8; k++)
			fprintf(l.text.out, ",%.17g", laws_uniform());
		putc('\n', l.text.out);
	}
	struct st_ann_annotation a = laws_analyse(&l, "y");
	const struct st_ann_model *m = only_model(&a);
	const struct laws_sum sum = laws_coefficients(m->a);
	static const double truth[] = {0, 2, 3};
	assert_int_equal(a.declarations.n, 2);
	assert_int_equal(sum.n, 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(fabs(sum.v[i] - truth[i]) < 5 * m->se.v[i]);
	assert_non_null(strstr(laws_text(m->a, 3), "* a * b"));
	assert_true(m->r2_cv > 0.999 && m->r2_cv <= m->r2);
	st_ann_annotation_free(&a);
}

/* One of several correlated features is used and lists the others; constant ones are left out. */
static void
test_equivalence(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,twice,a,zero,unused");
	for (int i = 0; i < 60; i++)
		laws_row(&l, "%d,%d,%d,0,%d", 10 + 3 * i, 2 * i + 1, i, i % 2 ? 7 : 9);
	struct st_ann_annotation a = laws_analyse(&l, "y");
	assert_int_equal(a.declarations.n, 1);
	/* Short paths first. */
	assert_string_equal(a.declarations.v[0].name, "a");
	assert_string_equal(a.declarations.v[0].also, "twice");
	assert_true(a.declarations.v[0].low == 0 && a.declarations.v[0].high == 59);
	st_ann_annotation_free(&a);
}

/* The paper's Figure 2 has three scopes, although one x log x model has an R^2 of 0.9. */
static void
test_figure2(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,s");
	for (int i = 0; i < 900; i++) {
		static const double from[] = {49584, 1589482, 2098759},
		                    to[] = {1450341, 2085480, 3415880};
		const int mode = i % 3;
		const double s = floor(from[mode] + (to[mode] - from[mode]) * laws_uniform());
		const double y = mode == 0 ? 53350.31 - 2.1 * s + 0.12 * s * log2(s) +
		                                     12463.88 * laws_normal()
		                 : mode == 1 ? -90901042.29 + 63.11 * s + 899547.29 * laws_normal()
		                             : 56712024.5 + 35.38 * s + 3379580.27 * laws_normal();
		laws_row(&l, "%.17g,%.17g", y, s);
	}
	struct st_ann_annotation a = laws_analyse(&l, "y:us");
	static const char *const classes[] = {"nlogn", "linear", "linear"};
	assert_int_equal(a.scopes.n, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(a.scopes.v[i].models.n, 1);
		assert_int_equal(a.scopes.v[i].models.v[0].n, 300);
		assert_string_equal(a.scopes.v[i].models.v[0].class, classes[i]);
	}
	static const double slopes[] = {0, 63.11, 35.38};
	for (size_t i = 1; i < 3; i++) {
		const struct st_ann_model *m = &a.scopes.v[i].models.v[0];
		assert_true(fabs(laws_coefficients(m->a).v[1] - slopes[i]) < 5 * m->se.v[1]);
	}
	st_ann_annotation_free(&a);
}

/* Checks conditions and means of all scopes. */
static void
check_scopes(struct laws *l, const char *const (*truth)[2], size_t n)
{
	struct st_ann_annotation a = laws_analyse(l, "y");
	assert_int_equal(a.scopes.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(laws_text(a.scopes.v[i].condition, 0), truth[i][0]);
		assert_int_equal(a.scopes.v[i].models.n, 1);
		assert_string_equal(laws_text(a.scopes.v[i].models.v[0].a, 0), truth[i][1]);
	}
	st_ann_annotation_free(&a);
}

static void
test_conditions(void **state)
{
	(void)state;
	static const char *const vee[][2] = {{"a <= 9", "4000 - 400 * a"}, {"a > 9", "400 * a"}};
	static const char *const kinds[][2] = {
	        {"k == \"A\"", "500"}, {"k == \"B\"", "100 * a"}, {"k == \"C\"", "3 * a^2"}};
	static const char *const nested[][2] = {{"k == \"A\" && a <= 10", "500"},
	                                        {"k == \"A\" && a > 10", "7 * a"},
	                                        {"k == \"B\"", "a^2"}};
	struct laws l;
	laws_begin(&l, "y,a");
	for (int i = 0; i < 200; i++)
		laws_row(&l, "%d,%d", i / 5 < 10 ? (10 - i / 5) * 400 : 4000 + (i / 5 - 10) * 400,
		         i / 5);
	check_scopes(&l, vee, 2);
	laws_begin(&l, "y,a,k");
	for (int a = 0; a < 60; a++)
		laws_row(&l, "500,%d,A\n%d,%d,B\n%d,%d,C", a, 100 * a, a, 3 * a * a, a);
	check_scopes(&l, kinds, 3);
	laws_begin(&l, "y,a,k");
	for (int a = 0; a < 60; a++)
		laws_row(&l, "%d,%d,A\n%d,%d,B", a > 10 ? 7 * a : 500, a, a * a, a);
	check_scopes(&l, nested, 3);
}

/* Clusters have their shares as probabilities. */
static void
test_independent(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,x");
	for (int i = 0; i < 1000; i++) {
		const double u = laws_uniform();
		laws_row(&l, "%.17g,%.17g",
		         (u < 0.3   ? 900
		          : u < 0.7 ? 600
		                    : 300) +
		                 10 * laws_normal(),
		         laws_uniform());
	}
	struct st_ann_annotation a = laws_analyse(&l, "y");
	assert_int_equal(a.scopes.v[0].models.n, 3);
	double sum = 0;
	for (size_t i = 0; i < 3; i++) {
		static const double centres[] = {300, 600, 900}, shares[] = {0.3, 0.4, 0.3};
		const struct st_ann_model *m = &a.scopes.v[0].models.v[i];
		assert_true(fabs(m->weight - shares[i]) < 0.06);
		assert_true(fabs(m->a->number - centres[i]) < 5);
		sum += m->weight;
	}
	assert_true(fabs(sum - 1) < 1e-12);
	st_ann_annotation_free(&a);
}

/* The family is found, with parameters within five standard errors. */
static void
test_families(void **state)
{
	(void)state;
	static const struct {
		enum st_ann_distribution distribution;
		double a, b;
	} truth[] = {{ST_ANN_NORMAL, 1000, 50},
	             {ST_ANN_EXPONENTIAL, 100, 0},
	             {ST_ANN_LOGNORMAL, 3, 1},
	             {ST_ANN_BINOMIAL, 20, 0.3}};
	enum { N = 4000 };
	for (size_t k = 0; k < 4; k++) {
		struct laws l;
		laws_begin(&l, "y,N,x");
		for (int i = 0; i < N; i++) {
			double y = 0;
			for (int t = 0; t < 20 && k == 3; t++)
				y += laws_uniform() < 0.3;
			y = k == 0   ? 1000 + 50 * laws_normal()
			    : k == 1 ? laws_exponential(100)
			    : k == 2 ? exp(3 + laws_normal())
			             : y;
			laws_row(&l, "%.17g,20,%.17g", y, laws_uniform());
		}
		struct st_ann_annotation a = laws_analyse(&l, "y");
		const struct st_ann_model *m = only_model(&a);
		const double near = 5 * (k == 1 ? 100 : truth[k].b) / sqrt(N);
		assert_int_equal(m->distribution, truth[k].distribution);
		assert_true(fabs(m->a->number - truth[k].a) < (k == 3 ? 1e-9 : near));
		if (m->b)
			assert_true(fabs(m->b->number - truth[k].b) < near);
		assert_true(m->fit_p > 1e-4);
		st_ann_annotation_free(&a);
	}
}

/* The selection is `lower` if disturbances only add, and `dominant` if other modes are mixed in. */
static void
test_selections(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,x");
	for (int i = 0; i < 2000; i++)
		laws_row(&l, "%.17g,%d", 3 * (i / 20) + laws_exponential(300), i / 20);
	struct st_ann_annotation a = laws_analyse(&l, "y:ns");
	const struct st_ann_model *m = only_model(&a);
	assert_int_equal(m->selection, ST_ANN_LOWER);
	assert_true(fabs(laws_coefficients(m->a).v[1] - 3) < 5 * m->se.v[1]);
	assert_true(m->dropped == 0.95 && m->n == 100);
	st_ann_annotation_free(&a);

	laws_begin(&l, "y,a");
	for (int i = 0; i < 3200; i++) {
		const double u = laws_uniform();
		laws_row(&l, "%.17g,%d",
		         u < 0.5    ? 1000 * (i / 80) + 20 * laws_normal()
		         : u < 0.75 ? 10750 + 50 * laws_normal()
		                    : 100 * laws_uniform(),
		         i / 80);
	}
	a = laws_analyse(&l, "y:ns");
	m = only_model(&a);
	assert_int_equal(m->selection, ST_ANN_DOMINANT);
	assert_true(fabs(laws_coefficients(m->a).v[1] - 1000) < 1);
	assert_true(m->dropped > 0.4 && m->dropped < 0.6);
	st_ann_annotation_free(&a);
}

/* One call in a hundred was interrupted for a long time; each size occurs four times. */
static void
test_interruptions(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,n,m");
	for (int i = 0; i < 600; i++)
		laws_row(&l, "%.17g,%d,%d",
		         500 + 400 * (i % 150) + 30 * laws_normal() + (i % 100 == 7 ? 8e6 : 0),
		         i % 150, i / 7);
	struct st_ann_annotation a = laws_analyse(&l, "y:ns");
	const struct st_ann_model *m = only_model(&a);
	assert_string_equal(m->class, "linear");
	assert_int_equal(m->selection, ST_ANN_DOMINANT);
	assert_true(fabs(laws_coefficients(m->a).v[1] - 400) < 1);
	assert_true(m->n <= 594 && m->n >= 570);
	st_ann_annotation_free(&a);
}

/* A growing spread becomes an expression, and the coefficients are those of the law. */
static void
test_spread(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,x");
	for (int x = 1; x <= 2000; x++)
		laws_row(&l, "%.17g,%d", (100 + 20 * x) * (1 + 0.05 * laws_normal()), x);
	struct st_ann_annotation a = laws_analyse(&l, "y");
	const struct st_ann_model *m = only_model(&a);
	const struct laws_sum mean = laws_coefficients(m->a), sd = laws_coefficients(m->b);
	assert_string_equal(m->class, "linear");
	assert_int_equal(sd.n, 2);
	assert_true(fabs(mean.v[1] - 20) < 5 * m->se.v[1]);
	assert_true(fabs(sd.v[1] - 1) < 0.1);
	st_ann_annotation_free(&a);
}

static void
test_too_few(void **state)
{
	(void)state;
	const struct st_ann_options options = {0};
	struct st_ann_data d = {0};
	struct st_ann_annotation a;
	struct st_error e;
	const char text[] = "y,x\n1,1\n2,2\n3,3\n4,4\n5,5\n";
	assert_false(st_ann_data_take(&d, text, sizeof text - 1, "few", NULL, &e));
	assert_true(st_ann_analyse(&d.functions.v[0], 0, &options, &a, &e));
	assert_string_equal(e.text,
	                    "few has 5 records with y, and a model needs 6: record more calls");
	st_ann_annotation_free(&a);
	st_ann_data_free(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_exact_classes), cmocka_unit_test(test_terms_among_noise),
	        cmocka_unit_test(test_equivalence),   cmocka_unit_test(test_figure2),
	        cmocka_unit_test(test_conditions),    cmocka_unit_test(test_independent),
	        cmocka_unit_test(test_families),      cmocka_unit_test(test_selections),
	        cmocka_unit_test(test_interruptions), cmocka_unit_test(test_spread),
	        cmocka_unit_test(test_too_few),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
