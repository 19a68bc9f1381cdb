/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests the language of annotations: reading, printing, evaluating, errors. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "annotate/annotation.h"
#include "annotate/predict.h"
#include "base/text.h"

/* The paper's Figure 2, whose times are microseconds. */
static const char figure2[] =
        "std::list<int>::sort.time(this) {\n"
        "\tuint s = *(this->_M_impl._M_node._M_storage._M_storage);\n"
        "\t[s > 49584 && s < 1450341] Norm(53350.31 - 2.10*s + 0.12*s*log(s), 12463.88);\n"
        "\t[s > 1589482 && s < 2085480] Norm(-90901042.29 + 63.11*s, 899547.29);\n"
        "\t[s > 2098759 && s < 3415880] Norm(56712024.50 + 35.38*s, 3379580.27);\n"
        "}\n";

static void
parse(const char *text, struct st_ann_file *f)
{
	struct st_error e = {0};
	if (st_ann_parse(text, strlen(text), "t", f, &e))
		fail_msg("%s", e.text);
}

static char *
printed(const struct st_ann_file *f)
{
	struct st_text text;
	st_ann_print_file(f, st_text_begin(&text));
	return st_text_end(&text);
}

/* A feature with a value. */
struct one {
	const char *name;
	double value;
	const char *label;
};

static bool
find_one(const void *arg, const char *name, struct st_ann_value *value)
{
	const struct one *one = arg;
	for (; one->name; one++)
		if (!strcmp(one->name, name)) {
			*value = (struct st_ann_value){one->value, one->label};
			return true;
		}
	return false;
}

static struct st_ann_prediction
predict(const struct st_ann_annotation *a, const struct one *values)
{
	const struct st_ann_names names = {find_one, values};
	struct st_ann_prediction p;
	struct st_error e = {0};
	if (st_ann_predict(a, &names, 0.95, &p, &e))
		fail_msg("%s", e.text);
	return p;
}

static void
test_figure2(void **state)
{
	(void)state;
	static const struct {
		double s, mean, sd;
	} truth[] = {{1e6, 345138.5, 12463.88},
	             {2e6, 35318957.7, 899547.29},
	             {3e6, 162852024.5, 3379580.27}};
	struct st_ann_file f;
	parse(figure2, &f);
	assert_int_equal(f.list.n, 1);
	const struct st_ann_annotation *a = &f.list.v[0];
	assert_string_equal(a->function, "std::list<int>::sort");
	assert_string_equal(a->metric, "time");
	assert_string_equal(a->declarations.v[0].path,
	                    "*(this->_M_impl._M_node._M_storage._M_storage)");
	for (size_t i = 0; i < 3; i++) {
		const struct one s[] = {{"s", truth[i].s, NULL}, {0}};
		const struct st_ann_prediction p = predict(a, s);
		assert_true(fabs(p.mean - truth[i].mean) < 0.1);
		assert_true(p.sd == truth[i].sd);
		assert_true(fabs(p.low - (p.mean - 1.959963984540054 * p.sd)) < 1e-6 * p.sd);
		assert_true(fabs(p.high - (p.mean + 1.959963984540054 * p.sd)) < 1e-6 * p.sd);
	}
	static const double nowhere[] = {1.5e6, 1e9, 49584};
	for (size_t i = 0; i < 3; i++) {
		const struct one s[] = {{"s", nowhere[i], NULL}, {0}};
		const struct st_ann_prediction p = predict(a, s);
		assert_true(isnan(p.mean) && isnan(p.sd) && isnan(p.low) && !p.inside);
	}
	st_ann_file_free(&f);
}

static void
test_figures_5_and_7(void **state)
{
	(void)state;
	struct st_ann_file f;
	parse("mysql_execute_command.time(thd) { uint dvv = "
	      "thd->variables.dynamic_variable_version; "
	      "uint len = thd->query.length; Norm(168.65 + 4.94*len + 1886.87*dvv, 2489.04); }\n"
	      "key_or.time(key1, key2) { int e = key2->elements; Norm(-0.276 + 0.073*e + "
	      "0.062*e*log(e), 2.24); }",
	      &f);
	const struct one first[] = {{"len", 1000, NULL}, {"dvv", 2, NULL}, {0}};
	assert_true(fabs(predict(&f.list.v[0], first).mean - 8882.39) < 1e-9);
	const struct one second[] = {{"e", 8, NULL}, {0}};
	assert_true(fabs(predict(&f.list.v[1], second).mean - 1.796) < 1e-9);
	/* x log x is 0 at 0. */
	const struct one zero[] = {{"e", 0, NULL}, {0}};
	assert_true(predict(&f.list.v[1], zero).mean == -0.276);
	assert_int_equal(f.list.v[1].parameters.n, 2);
	assert_ptr_equal(st_ann_find(&f, "key_or", "time"), &f.list.v[1]);
	assert_null(st_ann_find(&f, "key_or", "memory"));
	st_ann_file_free(&f);
}

/* These texts print as the same text after reading. */
static void
test_same_text(void **state)
{
	(void)state;
	static const char *const texts[] = {
	        "f.time() {\n\tNorm(1, 2);\n}\n",
	        "//: image /bin/x\n//: unit ns\n//: date 2026-11-26\n//: note a remark\n//: "
	        "records 12\n"
	        "//: overhead 0.25\n\"operator()(int, char \\\"x\\\")\".time(a, b) {\n"
	        "\tnumber a = a->b[3].c; //: range -1 2.5; also b, c\n"
	        "\tcategory k = (*p).kind;\n"
	        "\t[a <= 3 && k == \"A \\\"B\\\"\"] Norm(1 + 2 * a - 3 * a^2, 4 + 0.5 * abs(a)); "
	        "//: class quadratic; n 10; r2 0.99; r2_cv 0.98; "
	        "branch x.c:12 (2) to x.c:15 or x.c:20, y.c:3 to y.c:4; se 1 2 3\n"
	        "\t[a > 3 || !(k == \"C\")] {\n"
	        "\t\t{0.25} Exp(3); //: class constant; fit_p 0.5\n"
	        "\t\t{0.5} Binom(10, 0.25);\n"
	        "\t\t{0.25} LogNorm(1, 2); //: selection lower; dropped 0.75\n"
	        "\t}\n}\n",
	        "f.n() {\n\t{0.5} 1;\n\t{0.5} -(-(a + b) * c) / (d - (e - f)) - -2^2 + "
	        "(-2)^2;\n}\n",
	        "f.n() {\n\t-a^-b^(c^d)^e - (a < b) * (a + b * c) * *p->x;\n}\n",
	        "f.n() {\n\tmin(a, max(1, ln(b))) - exp(-sqrt(c)) + 1e-05 * ns::g;\n}\n",
	        "f.n() {\n\t[!(a < 1 || b) && !c] 0.1;\n\t[(a < b) == (c != 1)] 0.2;\n}\n",
	        "\n",
	};
	for (size_t i = 0; i + 1 < sizeof texts / sizeof *texts; i++) {
		struct st_ann_file f;
		parse(texts[i], &f);
		char *text = printed(&f);
		assert_string_equal(text, texts[i]);
		free(text);
		st_ann_file_free(&f);
	}
}

/* Printing keeps all digits, so that predictions before and after are equal. */
static void
test_digits(void **state)
{
	(void)state;
	struct st_ann_file f, again;
	parse("f.time() { Norm(0.1 + 0.30000000000000004*x + 1.7976931348623157e308*0 + "
	      "5e-324*1e300, 1/3); }",
	      &f);
	char *text = printed(&f);
	parse(text, &again);
	char *second = printed(&again);
	assert_string_equal(text, second);
	const struct one x[] = {{"x", 1234567.875, NULL}, {0}};
	const struct st_ann_prediction p = predict(&f.list.v[0], x),
	                               q = predict(&again.list.v[0], x);
	assert_true(p.mean == q.mean && p.sd == q.sd);
	free(text);
	free(second);
	st_ann_file_free(&f);
	st_ann_file_free(&again);
}

static double
value_of(const char *text, const struct one *values)
{
	struct st_error e = {0};
	const struct st_ann_names names = {find_one, values};
	struct st_ann_expr *x = st_ann_parse_condition(text, "t", &e);
	if (!x)
		fail_msg("%s: %s", text, e.text);
	const double value = st_ann_evaluate(x, &names);
	st_ann_expr_free(x);
	return value;
}

static void
test_values(void **state)
{
	(void)state;
	const struct one v[] = {{"a", 3, NULL},   {"b", 0, NULL},    {"k", 1, "IN"},
	                        {"n", NAN, NULL}, {"p->x", 7, NULL}, {0}};
	static const struct {
		const char *text;
		double value;
	} truth[] = {{"2 + 3*4 - 6/2", 11},
	             {"-2^2", -4},
	             {"(-2)^2", 4},
	             {"2^3^2", 512},
	             {"10 - 4 - 3", 3},
	             {"log(8) + ln(1) + exp(0) + sqrt(16) + abs(-2)", 10},
	             {"min(a, 2) + max(a, 2)", 5},
	             {"b*log(b)", 0},
	             {"a < 4 && a >= 3 && a != 2", 1},
	             {"a = 3", 1},
	             {"k == \"IN\"", 1},
	             {"k != \"IN\"", 0},
	             {"k == \"OUT\"", 0},
	             {"k != \"OUT\"", 1},
	             {"!b", 1},
	             {"!a", 0},
	             {"n == n", 0},
	             {"!(n == n)", 1},
	             {"n < 1 || n >= 1", 0},
	             {"p->x * 2", 14},
	             {"1e3 + .5", 1000.5}};
	for (size_t i = 0; i < sizeof truth / sizeof *truth; i++)
		if (value_of(truth[i].text, v) != truth[i].value)
			fail_msg("%s is %g", truth[i].text, value_of(truth[i].text, v));
	assert_true(isnan(value_of("nobody + 1", v)));
}

static void
test_mixtures(void **state)
{
	(void)state;
	struct st_ann_file f;
	parse("f.time() { {0.25} Norm(10, 1); {0.75} Norm(20 + x, 2); }\n"
	      "g.time() { Exp(4); }\nh.time() { Binom(20, 0.25); }\ni.time() { LogNorm(1, 0.5); }\n"
	      "j.time() { 3*x; }",
	      &f);
	const struct one x[] = {{"x", 2, NULL}, {0}};
	struct st_ann_prediction p = predict(&f.list.v[0], x);
	assert_true(fabs(p.mean - 19) < 1e-12);
	/* Variance: mean of squares less the square: 0.25 (1 + 100) + 0.75 (4 + 484) - 361. */
	assert_true(fabs(p.sd - sqrt(30.25)) < 1e-12);
	/* The interval leaves 2.5 % on each side. */
	const struct st_ann_names names = {find_one, x};
	assert_true(fabs(st_ann_scope_cdf(&f.list.v[0].scopes.v[0], &names, p.low) - 0.025) < 1e-6);
	assert_true(fabs(st_ann_scope_cdf(&f.list.v[0].scopes.v[0], &names, p.high) - 0.975) <
	            1e-6);
	p = predict(&f.list.v[1], x);
	assert_true(p.mean == 4 && p.sd == 4);
	assert_true(fabs(p.low + 4 * log(0.975)) < 1e-6 && fabs(p.high + 4 * log(0.025)) < 1e-6);
	p = predict(&f.list.v[2], x);
	assert_true(p.mean == 5 && fabs(p.sd - sqrt(3.75)) < 1e-12);
	p = predict(&f.list.v[3], x);
	assert_true(fabs(p.mean - exp(1.125)) < 1e-12);
	p = predict(&f.list.v[4], x);
	assert_true(p.mean == 6 && isnan(p.sd) && isnan(p.low) && p.inside);
	st_ann_file_free(&f);
}

static void
test_inside(void **state)
{
	(void)state;
	struct st_ann_file f;
	parse("f.time() { number x = x; //: range 1 10\n Norm(x, 1); }", &f);
	static const struct {
		double x;
		bool inside;
	} truth[] = {{1, true}, {10, true}, {0.999, false}, {10.001, false}};
	for (size_t i = 0; i < 4; i++) {
		const struct one x[] = {{"x", truth[i].x, NULL}, {0}};
		assert_int_equal(predict(&f.list.v[0], x).inside, truth[i].inside);
	}
	const struct one nothing[] = {{0}};
	const struct st_ann_names names = {find_one, nothing};
	struct st_ann_prediction p;
	struct st_error e;
	assert_true(st_ann_predict(&f.list.v[0], &names, 0.95, &p, &e));
	assert_string_equal(e.text, "f.time depends on 'x': give its value as x=VALUE");
	st_ann_file_free(&f);
}

static void
test_errors(void **state)
{
	(void)state;
	static const struct {
		const char *text, *cause;
	} wrong[] = {
	        {"f", "t:1:1: FUNCTION.METRIC(PARAMETERS) is expected here"},
	        {"f.time", "t:1:7: the text ends where '(' is expected after the metric"},
	        {"f.time() {", "t:1:11: a number, a name or an expression is expected here"},
	        {"f.time() {\n Norm(1 2); }", "t:2:9: ',' is expected after the first parameter, "
	                                      "not '2'"},
	        {"f.time() { Norm(1, 2) }", "t:1:23: ';' is expected after a model, not '}'"},
	        {"f.time() { Norm(1, 2); ", "t:1:24: the text ends where '}' is expected after the "
	                                    "models of an annotation"},
	        {"f.time() { {0.5} 1; {0.4} 2; }",
	         "t:1:12: the probabilities have the sum 0.9 instead of 1"},
	        {"f.time() { {1.5} 1; }", "t:1:16: a probability is from 0 to 1"},
	        {"f.time() { sin(1); }", "t:1:16: there is no function 'sin'; there are log (of "
	                                 "base 2), ln, exp, sqrt, abs, "
	                                 "min and max"},
	        {"f.time() { [a < b < c] 1; }",
	         "t:1:19: ']' is expected after a condition, not '<'"},
	        {"f.time() { [\"a] 1; }",
	         "t:1:13: the quote that begins here is not closed on its line"},
	        {"f.time() { x = 3; }", "t:1:12: a type and a name are expected before '='"},
	        {"f.time() { a[x]; }", "t:1:14: the number of an element is expected here"},
	        {"f.time() { 1e999; }", "t:1:12: a number is expected here that a double can hold"},
	        {"//: size 3\nf.time() { 1; }", "t:1:5: an annotation has no note 'size'; an "
	                                        "ordinary comment begins with // and a "
	                                        "blank"},
	        {"f.time() { 1; //: class nosuchclassnameatall\n}",
	         "t:1:19: there is no class 'nosuchclassnameatall'"},
	        {"f.time() { 1; //: r2 x\n}",
	         "t:1:19: the note 'r2' has something that is not a number"},
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct st_ann_file f;
		struct st_error e = {0};
		assert_true(st_ann_parse(wrong[i].text, strlen(wrong[i].text), "t", &f, &e));
		assert_string_equal(e.text, wrong[i].cause);
		st_ann_file_free(&f);
	}
}

/* Nesting and length have limits, so that the stack does not overflow. */
static void
test_limits(void **state)
{
	(void)state;
	enum { DEEP = 200000 };
	static const char openers[] = "(-!*";
	char *text = malloc(2 * DEEP + 64);
	struct st_ann_file f;
	struct st_error e;
	for (const char *c = openers; *c; c++) {
		strcpy(text, *c == '!' ? "f.t() { [" : "f.t() { ");
		const size_t n = strlen(text);
		memset(text + n, *c, DEEP);
		strcpy(text + n + DEEP, "1; }");
		assert_true(st_ann_parse(text, strlen(text), "t", &f, &e));
		st_ann_file_free(&f);
	}
	strcpy(text, "f.t() { 1");
	for (size_t i = 0, n = strlen(text); i < DEEP / 2; i++)
		memcpy(text + n + 2 * i, "+1", 3);
	assert_true(st_ann_parse(text, strlen(text), "t", &f, &e));
	assert_non_null(strstr(e.text, "more than 1,000 operators"));
	st_ann_file_free(&f);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_figure2),   cmocka_unit_test(test_figures_5_and_7),
	        cmocka_unit_test(test_same_text), cmocka_unit_test(test_digits),
	        cmocka_unit_test(test_values),    cmocka_unit_test(test_mixtures),
	        cmocka_unit_test(test_inside),    cmocka_unit_test(test_errors),
	        cmocka_unit_test(test_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
