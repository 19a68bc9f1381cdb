/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Families of inputs, and the laws of work that is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/family.h"

static void
assert_family(const char *text, const char *before, const char *token, size_t times,
              const char *behind)
{
	struct st_fuzz_bytes b = {0}, made = {0};
	struct st_fuzz_family f;
	assert_false(st_fuzz_bytes_splice(&b, 0, 0, text, strlen(text)));
	assert_false(st_fuzz_family_find(&f, &b));
	assert_int_equal(f.times, times);
	assert_int_equal(f.token.n, strlen(token));
	assert_memory_equal(f.token.v, token, f.token.n);
	assert_int_equal(f.before.n, strlen(before));
	assert_int_equal(f.behind.n, strlen(behind));
	assert_false(st_fuzz_family_make(&f, times, &made));
	assert_int_equal(made.n, b.n);
	assert_memory_equal(made.v, text, b.n);
	assert_false(st_fuzz_family_make(&f, times + 2, &made));
	assert_int_equal(made.n, b.n + 2 * strlen(token));
	st_fuzz_family_free(&f);
	st_fuzz_bytes_free(&b);
	st_fuzz_bytes_free(&made);
}

static void
families(void **state)
{
	(void)state;
	assert_family("aaaaab", "", "a", 5, "b");
	assert_family("xyabababab!", "xy", "ab", 4, "!");
	assert_family("((((((", "", "(", 6, "");
	assert_family("abcdefgh", "", "abcdefgh", 1, "");
	assert_family("abcdeffghij", "", "abcdeffghij", 1, ""); /* ff is by chance */
	assert_family("a,b\na,b\na,b\n", "", "a,b\n", 3, "");
}

/* A long input that has no repeated part: less of it is repeated. */
static void
shorter(void **state)
{
	struct st_fuzz_bytes b = {0}, made = {0};
	struct st_fuzz_family f;
	char text[1000];
	(void)state;
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (char)('a' + i * i / 7 % 23);
	assert_false(st_fuzz_bytes_splice(&b, 0, 0, text, sizeof text));
	assert_false(st_fuzz_family_find(&f, &b));
	assert_false(f.repeated);
	assert_true(st_fuzz_family_shorten(&f));
	assert_int_equal(f.times, 8);
	assert_false(st_fuzz_family_make(&f, 2, &made));
	assert_int_equal(made.n, 252);
	assert_memory_equal(made.v, text, 63);
	assert_memory_equal(made.v + 63, text + 1000 - 63, 63);
	assert_memory_equal(made.v + 126, made.v, 126);
	assert_true(st_fuzz_family_shorten(&f));
	assert_int_equal(f.token.n, 16);
	assert_false(st_fuzz_family_shorten(&f));
	assert_int_equal(f.times, 64);
	st_fuzz_family_free(&f);
	memset(b.v, 'a', b.n);
	assert_false(st_fuzz_family_find(&f, &b));
	assert_false(st_fuzz_family_shorten(&f));
	assert_int_equal(f.token.n, 1);
	st_fuzz_family_free(&f);
	st_fuzz_bytes_free(&b);
	st_fuzz_bytes_free(&made);
}

static void
assert_different(const char *text, size_t most, const char *three)
{
	struct st_fuzz_bytes b = {0}, made = {0};
	struct st_fuzz_family f;
	assert_false(st_fuzz_bytes_splice(&b, 0, 0, text, strlen(text)));
	assert_false(st_fuzz_family_different(&f, &b));
	assert_int_equal(st_fuzz_family_most(&f), SIZE_MAX);
	f.n_varied = 2;
	f.varied[0] = 1;
	f.varied[1] = 0;
	assert_int_equal(st_fuzz_family_most(&f), most);
	assert_false(st_fuzz_family_make(&f, 3, &made));
	assert_int_equal(made.n, strlen(three));
	assert_memory_equal(made.v, three, made.n);
	/* The script writes the same, and the second position counts once the first has been full.
	 */
	FILE *script = fopen("different.sh", "w");
	assert_non_null(script);
	st_fuzz_family_script(&f, script);
	assert_false(fclose(script));
	for (size_t times = 3; times <= 300; times += 297) {
		char command[64], bytes[1 << 15];
		snprintf(command, sizeof command, "sh different.sh %zu", times);
		FILE *out = popen(command, "r");
		assert_non_null(out);
		const size_t n = fread(bytes, 1, sizeof bytes, out);
		assert_false(pclose(out));
		assert_false(st_fuzz_family_make(&f, times, &made));
		assert_int_equal(n, made.n);
		assert_memory_equal(bytes, made.v, n);
	}
	assert_false(remove("different.sh"));
	st_fuzz_family_free(&f);
	st_fuzz_bytes_free(&b);
	st_fuzz_bytes_free(&made);
}

/* The longest word is repeated with other letters and digits. */
static void
different(void **state)
{
	struct st_fuzz_family f;
	struct st_fuzz_bytes b = {0};
	(void)state;
	assert_different("(a, word) b", 26 * 26, "(a, aard)abrd)acrd) b");
	assert_different("[\"X9yz\", 1]", 10 * 26, "[\"A0yz\"A1yz\"A2yz\", 1]");
	assert_different("%12", 100, "%0022\n0122\n0222\n");
	/* Of a longer word, 64 letters are repeated, with the byte that follows the whole word. */
#define B62 "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	assert_different("(bbbbbbbbb" B62 ") x", 26 * 26, "(aa" B62 ")ab" B62 ")ac" B62 ") x");
#undef B62
	assert_false(st_fuzz_bytes_splice(&b, 0, 0, "-- \xc3\xa4", 5));
	assert_false(st_fuzz_family_different(&f, &b));
	assert_int_equal(f.token.n, 0);
	st_fuzz_family_free(&f);
	st_fuzz_bytes_free(&b);
}

/* The script writes the members of the family. */
static void
script(void **state)
{
	struct st_fuzz_bytes b = {0}, made = {0};
	struct st_fuzz_family f;
	char command[8192] = "", got[256];
	static const char text[] = "%d\\'\1\377ab\nab\nab\nab\nab\nab\n\"$x`";
	(void)state;
	assert_false(st_fuzz_bytes_splice(&b, 0, 0, text, sizeof text - 1));
	assert_false(st_fuzz_family_find(&f, &b));
	assert_int_equal(f.times, 6);
	FILE *out = fmemopen(command, sizeof command - 1, "w");
	st_fuzz_family_script(&f, out);
	fputs("exit\n", out);
	fclose(out);
	assert_int_equal(setenv("SCRIPT", command, 1), 0);
	for (size_t times = 3; times <= 6; times += 3) {
		FILE *in = popen(times == 3 ? "sh -c \"$SCRIPT\" generate 3" : "sh -c \"$SCRIPT\"",
		                 "r");
		size_t n = fread(got, 1, sizeof got, in);
		assert_int_equal(pclose(in), 0);
		assert_false(st_fuzz_family_make(&f, times, &made));
		assert_int_equal(n, made.n);
		assert_memory_equal(got, made.v, n);
	}
	st_fuzz_family_free(&f);
	st_fuzz_bytes_free(&b);
	st_fuzz_bytes_free(&made);
}

/* ---- laws ---- */

static double
linear(double k)
{
	return 1000 + 17 * k;
}
static double
n_log_n(double k)
{
	return 1000 + 5 * k * log2(k + 1);
}
static double
quadratic(double k)
{
	return 5000 + 40 * k + 3 * k * k;
}
static double
cubic(double k)
{
	return 100 + k * k + k * k * k / 6;
}
static double
power(double k)
{
	return 300 + 2 * pow(k, 1.5);
}
/* At small sizes, the lower term is the greatest. */
static double
late_quadratic(double k)
{
	return 400000 + 65 * k + k * k / 2;
}
static double
late_cubic(double k)
{
	return 1000 + 3000 * k + k * k * k / 3;
}
static double
late_n_log_n(double k)
{
	return 1000 + 10 * k + 20 * k * log2(k + 1);
}
static double
fibonacci(double k)
{
	return 900 + 7 * pow((1 + sqrt(5)) / 2, k);
}
static double
constant(double k)
{
	(void)k;
	return 12345;
}

static struct st_law
law_of(double (*work)(double), size_t largest)
{
	double x[128], y[128];
	struct st_law law;
	size_t n = 0;
	for (size_t k = 1; k <= largest; k = st_fuzz_family_next(k)) {
		x[n] = (double)k;
		y[n++] = floor(work((double)k));
	}
	st_law_find(&law, x, y, n);
	assert_int_equal(law.points, n);
	return law;
}

static void
assert_power(double (*work)(double), size_t largest, double exponent, bool superlinear)
{
	struct st_law law = law_of(work, largest);
	assert_int_equal(law.form, ST_LAW_POWER);
	assert_int_equal(law.superlinear, superlinear);
	if (!(law.of.low <= exponent && exponent <= law.of.high && law.of.high - law.of.low < 0.3))
		fail_msg("%g is not in %g (%g to %g)", exponent, law.of.at, law.of.low,
		         law.of.high);
}

static void
laws(void **state)
{
	(void)state;
	assert_power(linear, 5000, 1, false);
	assert_power(quadratic, 5000, 2, true);
	assert_power(quadratic, 300, 2, true);
	assert_power(cubic, 500, 3, true);
	assert_power(power, 5000, 1.5, true);
	assert_false(law_of(n_log_n, 10000).superlinear);
	assert_false(law_of(constant, 1000).superlinear);
	struct st_law law = law_of(n_log_n, 10000);
	assert_string_equal(st_law_form_name(&law), "linear");
	law = law_of(power, 5000);
	assert_string_equal(st_law_form_name(&law), "power");
	law = law_of(fibonacci, 24);
	assert_string_equal(st_law_form_name(&law), "exponential");
	assert_int_equal(law.form, ST_LAW_EXPONENTIAL);
	assert_true(law.superlinear);
	assert_true(law.of.low > 1.60 && law.of.low <= law.of.at && law.of.at <= law.of.high &&
	            law.of.high < 1.66);
}

/* A power with a lower term is found from the sizes at which both matter. */
static void
lower_terms(void **state)
{
	(void)state;
	assert_power(late_quadratic, 269, 2, true);
	assert_power(late_quadratic, 1000, 2, true);
	assert_power(late_cubic, 269, 3, true);
	const struct st_law law = law_of(late_quadratic, 269);
	assert_true(law.of.high - law.of.low < 0.02);
	assert_false(law_of(late_quadratic, 16).superlinear); /* it adds less than twice as much */
	for (size_t largest = 16; largest <= 1 << 16; largest *= 2)
		assert_false(law_of(late_n_log_n, largest).superlinear);
}

static void
too_few(void **state)
{
	(void)state;
	struct st_law law = law_of(quadratic, 4);
	assert_int_equal(law.form, ST_LAW_UNKNOWN);
	assert_false(law.superlinear);
	/* The first sizes of a power can be told from an exponential. */
	assert_int_equal(law_of(cubic, 16).form, ST_LAW_POWER);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(families),  cmocka_unit_test(shorter),
	        cmocka_unit_test(different), cmocka_unit_test(script),
	        cmocka_unit_test(laws),      cmocka_unit_test(lower_terms),
	        cmocka_unit_test(too_few)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
