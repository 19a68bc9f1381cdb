/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inlined functions against llvm-symbolizer, at every address of the sample programs.
 * addr2line 2.40 does not see those of clang with several ranges and calls a lambda by the function
 * around it. */
#include "support.h"

#include <unistd.h>

enum { MOST = 64 };

struct addresses {
	uint64_t *v;
	size_t n;
};

static struct addresses
every_address_of(struct st_image *image, size_t step)
{
	size_t n, total = 0;
	const struct st_function *f = st_image_functions(image, &n);
	for (size_t i = 0; i < n; i++)
		total += f[i].size;
	struct addresses a = {calloc(total, sizeof *a.v), 0};
	for (size_t i = 0; i < n; i++)
		for (uint64_t at = 0; at < f[i].size; at += step)
			a.v[a.n++] = f[i].offset + at;
	return a;
}

/* For each address "0x...", then pairs of lines: a function, and its line or that of the call. */
static struct output
ask_llvm(const char *path, const struct addresses *a)
{
	char name[] = "/tmp/strobe-inlined-XXXXXX";
	FILE *file = fdopen(mkstemp(name), "w");
	assert_non_null(file);
	for (size_t i = 0; i < a->n; i++)
		fprintf(file, "0x%lx\n", a->v[i]);
	fclose(file);
	struct output answer = run("llvm-symbolizer --output-style=GNU -a -i -f -C -e '%s' <%s |"
	                           "sed 's/ (discriminator.*//'",
	                           path, name);
	unlink(name);
	return answer;
}

/* Demanglers differ in where they put spaces. */
static bool
same_name(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += strspn(a, " ");
		b += strspn(b, " ");
		if (*a != *b || !*a)
			return *a == *b;
	}
}

static void
check_call(const char *name, uint64_t address, const struct st_line *call, const char *wanted)
{
	const char *colon = strrchr(wanted, ':');
	assert_non_null(colon);
	if (wanted[0] == '?')
		return;
	if (call->line != strtoul(colon + 1, NULL, 10) || !call->file ||
	    strlen(call->file) != (size_t)(colon - wanted) ||
	    strncmp(call->file, wanted, (size_t)(colon - wanted)) != 0)
		fail_msg("%s: at %#lx the call is in %s, not %s:%u", name, address, wanted,
		         call->file ? call->file : "?", call->line);
}

/* Returns in how many addresses something was inlined. */
static size_t
check(struct st_image *image, const char *truth, size_t step, size_t *deepest)
{
	struct addresses a = every_address_of(image, step);
	struct output answer = ask_llvm(truth, &a);
	size_t inlined = 0, line = 0;
	for (size_t i = 0; i < a.n; i++) {
		struct st_inlined chain[MOST];
		size_t n = st_image_inlined(image, a.v[i], chain, MOST), pairs = 0;
		assert_int_equal(strtoul(answer.line[line++], NULL, 16), a.v[i]);
		while (line + 2 * pairs < answer.n &&
		       strncmp(answer.line[line + 2 * pairs], "0x", 2) != 0)
			pairs++;
		if (n + 1 != pairs)
			fail_msg("%s: at %#lx %zu are inlined, not %zu", truth, a.v[i], pairs - 1,
			         n);
		for (size_t k = 0; k < n; k++) {
			const char *name = answer.line[line + 2 * k];
			if (!same_name(chain[k].name, name))
				fail_msg("%s: at %#lx %s is inlined, not %s", truth, a.v[i], name,
				         chain[k].name);
			check_call(truth, a.v[i], &chain[k].call, answer.line[line + 2 * k + 3]);
		}
		line += 2 * pairs;
		inlined += n > 0;
		*deepest = n > *deepest ? n : *deepest;
	}
	output_free(&answer);
	free(a.v);
	return inlined;
}

static bool
have_llvm(void)
{
	return system("command -v llvm-symbolizer >/dev/null") == 0;
}

static void
check_sample(const char *name, const char *truth, size_t step, size_t least_depth)
{
	size_t deepest = 0;
	struct st_image *image = open_sample(name);
	size_t inlined = check(image, sample(truth), step, &deepest);
	if (inlined < 10 || deepest < least_depth)
		fail_msg("%s: %zu addresses inlined, %zu deep", name, inlined, deepest);
	st_image_close(image);
}

static void
every_address(void **state)
{
	static const char *const names[] = {"full", "nopie", "dwarf4",      "packed",
	                                    "noid", "clang", "libplain.so", "dwz_one"};
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (sample_exists(names[i]))
			check_sample(names[i], names[i], 1, 1);
}

static void
deep_chains(void **state)
{
	(void)state;
	if (!have_llvm())
		skip();
	check_sample("inlined", "inlined", 1, 3);
	check_sample("inlined_cxx", "inlined_cxx", 3, 4);
	if (sample_exists("inlined_clang"))
		check_sample("inlined_clang", "inlined_clang", 1, 3);
}

static void
split_dwarf(void **state)
{
	(void)state;
	if (!have_llvm())
		skip();
	check_sample("inlined_split", "inlined_split", 1, 3);
	check_sample("inlined_split4", "inlined_split4", 1, 3);
}

/* .dwo files beside the program, the folder where they were compiled being empty; and nowhere. */
static void
moved_split_dwarf(void **state)
{
	(void)state;
	struct st_image *image = open_sample("moved/inlined"),
	                *alone = open_sample("alone/inlined");
	struct st_image *names = open_sample("moved/names");
	const struct st_function *f = function_named(image, "outermost");
	size_t inlined = 0;
	assert_int_equal(function_named(names, "outermost")->offset, f->offset);
	for (uint64_t at = f->offset; at < f->offset + f->size; at++) {
		struct st_line line;
		inlined += st_image_inlined(image, at, NULL, 0) > 0;
		assert_int_equal(st_image_inlined(alone, at, NULL, 0), 0);
		assert_int_equal(st_image_line(alone, at, &line), 0);
	}
	assert_true(inlined > 50);
	st_image_close(image);
	st_image_close(names);
	st_image_close(alone);
}

static void
room_is_respected(void **state)
{
	(void)state;
	struct st_image *image = open_sample("inlined");
	const struct st_function *f = function_named(image, "outermost");
	size_t seen = 0;
	for (uint64_t at = f->offset; at < f->offset + f->size; at++) {
		struct st_inlined whole[MOST], one = {0};
		size_t n = st_image_inlined(image, at, whole, MOST);
		assert_int_equal(st_image_inlined(image, at, NULL, 0), n);
		assert_int_equal(st_image_inlined(image, at, &one, 1), n);
		if (n)
			assert_string_equal(one.name, whole[0].name);
		seen += n > 1;
	}
	assert_true(seen > 0);
	assert_int_equal(st_image_inlined(image, 0, NULL, 0), 0);
	assert_int_equal(st_image_inlined(image, UINT64_MAX, NULL, 0), 0);
	st_image_close(image);
}

/* The loop of the innermost function, as the source has it. */
static void
names_and_calls(void **state)
{
	(void)state;
	struct st_image *image = open_sample("inlined");
	const struct st_function *f = function_named(image, "outermost");
	size_t whole = 0;
	for (uint64_t at = f->offset; at < f->offset + f->size; at++) {
		struct st_inlined chain[MOST];
		if (st_image_inlined(image, at, chain, MOST) != 3)
			continue;
		assert_string_equal(chain[0].name, "innermost");
		assert_string_equal(chain[1].name, "middle");
		assert_string_equal(chain[2].name, "outer");
		assert_non_null(strstr(chain[0].call.file, "/inlined.c"));
		assert_int_equal(chain[0].call.line, 18);
		assert_int_equal(chain[1].call.line, 25);
		assert_int_equal(chain[2].call.line, 42);
		whole++;
	}
	assert_true(whole > 0);
	st_image_close(image);
}

static void
no_debug_information(void **state)
{
	(void)state;
	struct st_image *image = open_sample("stripped");
	size_t n;
	const struct st_function *f = st_image_functions(image, &n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(st_image_inlined(image, f[i].offset, NULL, 0), 0);
	st_image_close(image);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_address),        cmocka_unit_test(deep_chains),
	        cmocka_unit_test(split_dwarf),          cmocka_unit_test(moved_split_dwarf),
	        cmocka_unit_test(room_is_respected),    cmocka_unit_test(names_and_calls),
	        cmocka_unit_test(no_debug_information),
	};
	use_samples(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
