/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of all names, and the search by name and pattern. */
#include "support.h"

#include <fnmatch.h>

static bool
listed(const struct st_symbol *s, size_t n, const struct nm_symbol *wanted)
{
	for (size_t i = 0; i < n; i++)
		if (s[i].start == wanted->address && !strcmp(s[i].name, wanted->plain))
			return true;
	return false;
}

/* Every alias that nm knows is in the list, which is ordered and within the functions. */
static void
check_names(const char *name, const char *options)
{
	struct st_image *image = open_sample(name);
	struct nm_symbols symbols = nm_code(sample(name), options);
	size_t n;
	const struct st_symbol *s = st_image_symbols(image, &n);
	for (size_t i = 0; i < n; i++) {
		const struct st_function *f = st_image_function(image, s[i].start);
		assert_non_null(f);
		assert_int_equal(f->offset, s[i].start);
		assert_int_equal(f->offset + f->size, s[i].end);
		bool more = i > 0 && s[i - 1].start == s[i].start; /* of the same function */
		assert_true(i == 0 || s[i - 1].start <= s[i].start);
		assert_true(!more || !s[i].shown);
		assert_true(!more || s[i - 1].shown ||
		            strcmp(s[i - 1].raw_name, s[i].raw_name) < 0);
	}
	for (size_t i = 0; i < symbols.n; i++)
		if (strcmp(symbols.v[i].raw, "plain_local_label") != 0 &&
		    !listed(s, n, &symbols.v[i]))
			fail_msg("%s: %s at %#lx is missing", name, symbols.v[i].raw,
			         symbols.v[i].address);
	assert_true(symbols.n > 3);
	nm_free(&symbols);
	st_image_close(image);
}

static void
every_alias(void **state)
{
	static const char *const names[] = {"full",    "static",      "shapes",
	                                    "rust_v0", "rust_legacy", "libplain.so"};
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (sample_exists(names[i]))
			check_names(names[i], "");
	check_names("libstripped.so", "-D");
}

struct found {
	size_t n;
	struct st_symbol last;
};

static bool
take(const struct st_symbol *s, void *context)
{
	struct found *found = context;
	found->n++;
	found->last = *s;
	return true;
}

static struct found
matches(struct st_image *image, const char *pattern)
{
	struct found found = {0};
	assert_int_equal(st_image_match(image, pattern, take, &found), 0);
	return found;
}

static void
match_c(void **state)
{
	(void)state;
	struct st_image *image = open_sample("full");
	const struct st_function *strong = function_named(image, "strong_alias");
	struct found found = matches(image, "weak_alias");
	assert_int_equal(found.n, 1);
	assert_int_equal(found.last.start, strong->offset);
	assert_int_equal(found.last.end, strong->offset + strong->size);
	assert_false(found.last.ifunc);
	assert_int_equal(matches(image, "*_alias").n, 2);
	assert_int_equal(matches(image, "local_twice").n, 2);
	assert_int_equal(matches(image, "strdup@plt").n, 1);
	assert_int_equal(matches(image, "strdup").n, 0);
	assert_int_equal(matches(image, "").n, 0);
	assert_true(matches(image, "chosen").last.ifunc);
	assert_int_equal(matches(image, "chosen").last.start,
	                 matches(image, "resolve_chosen").last.start);
	st_image_close(image);
}

static void
match_cxx(void **state)
{
	(void)state;
	struct st_image *image = open_sample("shapes");
	size_t n;
	const struct st_symbol *s = st_image_symbols(image, &n);
	/* Each name finds its function, in all three spellings. */
	for (size_t i = 0; i < n; i++) {
		if (s[i].source == ST_SYM_PLT)
			continue;
		assert_true(matches(image, s[i].name).n > 0);
		assert_true(matches(image, s[i].plain).n > 0);
		assert_true(matches(image, s[i].raw_name).n > 0);
	}
	st_image_close(image);
}

/* The search that skips names finds what a look at every name finds. */
static void
match_skips_nothing(void **state)
{
	static const char *const patterns[] = {"*",      "*::area*",  "*(*)", "operator*",
	                                       "*<int>", "shapes::*", "m?in", "*lambda*",
	                                       "*[a-f]", "*string*"};
	static const char *const names[] = {"shapes", "rust_v0", "rust_legacy"};
	(void)state;
	for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
		if (!sample_exists(names[k]))
			continue;
		struct st_image *image = open_sample(names[k]);
		size_t n;
		const struct st_symbol *s = st_image_symbols(image, &n);
		for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
			size_t wanted = 0;
			for (size_t i = 0; i < n; i++)
				wanted += !fnmatch(patterns[p], s[i].name, 0) ||
				          !fnmatch(patterns[p], s[i].plain, 0) ||
				          !fnmatch(patterns[p], s[i].raw_name, 0);
			assert_int_equal(matches(image, patterns[p]).n, wanted);
		}
		st_image_close(image);
	}
}

static bool
stop(const struct st_symbol *s, void *context)
{
	(void)s;
	++*(size_t *)context;
	return false;
}

static void
match_stops(void **state)
{
	(void)state;
	struct st_image *image = open_sample("full");
	size_t calls = 0;
	assert_int_equal(st_image_match(image, "*", stop, &calls), 0);
	assert_int_equal(calls, 1);
	st_image_close(image);
}

/* readelf's relocations that fill a word with the address of a function. */
static void
slots(void **state)
{
	static const char *const names[] = {"full", "static", "libstripped.so", "nopie"};
	(void)state;
	for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
		struct st_image *image = open_sample(names[k]);
		struct output lines = run("readelf -rW '%s' | grep -E 'JUMP_SLO|GLOB_DAT|IRELATIV'",
		                          sample(names[k]));
		size_t n;
		const struct st_slot *s = st_image_slots(image, &n);
		assert_int_equal(n, lines.n);
		for (size_t i = 0; i < lines.n; i++) {
			uint64_t address, info, value;
			char type[32];
			assert_int_equal(sscanf(lines.line[i], "%lx %lx %31s %lx", &address, &info,
			                        type, &value),
			                 4);
			size_t at = 0;
			while (at < n && s[at].address != address)
				at++;
			assert_true(at < n);
			assert_non_null(s[at].symbol);
			assert_int_equal(s[at].resolver, strstr(type, "IRELATIV") ? value : 0);
		}
		output_free(&lines);
		st_image_close(image);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_alias), cmocka_unit_test(match_c),
	        cmocka_unit_test(match_cxx),   cmocka_unit_test(match_skips_nothing),
	        cmocka_unit_test(match_stops), cmocka_unit_test(slots),
	};
	use_samples(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
