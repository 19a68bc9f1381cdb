/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cold parts: the function of each is the one whose code jumps to it, which objdump knows. */
#include "support.h"

enum { PARTS = 3 };

/* How many parts belong to the function that jumps to them, when code of the truth is that of the
 * image. */
static size_t
right_parts(struct st_image *image, const char *truth)
{
	struct output jumps = run("objdump -d '%s' | sed -n "
	                          "'s/^ *\\([0-9a-f]*\\):.*\\<j[a-z]* *\\([0-9a-f]*\\) "
	                          "<.*\\.cold[^+]*>$/\\1 \\2/p'",
	                          sample(truth));
	size_t right = 0;
	for (size_t i = 0; i < jumps.n; i++) {
		uint64_t from, to;
		assert_int_equal(sscanf(jumps.line[i], "%lx %lx", &from, &to), 2);
		const struct st_function *whole = st_image_function(image, from);
		const struct st_function *part = st_image_function(image, to);
		assert_non_null(whole);
		assert_non_null(part);
		assert_int_equal(part->offset, to);
		right += part->whole == whole->offset;
		assert_int_equal(whole->whole, whole->offset);
	}
	assert_int_equal(jumps.n, PARTS);
	output_free(&jumps);
	return right;
}

static void
parts_of_every_kind(void **state)
{
	static const char *const names[] = {"cold", "cold_lto", "cold_llvm", "cold_dwarf",
	                                    "cold_nofiles"};
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct st_image *image = open_sample(names[i]);
		size_t right = right_parts(image, strcmp(names[i], "cold_lto") ? "cold" : names[i]);
		if (right != PARTS)
			fail_msg("%s: %zu parts are right", names[i], right);
		st_image_close(image);
	}
}

/* Without source files and debug information two functions of one name cannot be told apart: each
 * part is one of theirs. */
static void
nearest_of_several(void **state)
{
	(void)state;
	struct st_image *image = open_sample("cold_names");
	assert_true(right_parts(image, "cold") >= 2);
	size_t n;
	const struct st_function *f = st_image_functions(image, &n);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(f[i].name, "same_name.cold"))
			assert_string_equal(st_image_function(image, f[i].whole)->name,
			                    "same_name");
	st_image_close(image);
}

static void
parts_are_listed(void **state)
{
	(void)state;
	struct st_image *image = open_sample("cold");
	const struct st_function *parts[4], *f = function_named(image, "global_part");
	assert_int_equal(st_image_parts(image, f, parts, 4), 1);
	assert_string_equal(parts[0]->name, "global_part.cold");
	assert_int_equal(st_image_parts(image, f, NULL, 0), 1);
	assert_int_equal(st_image_parts(image, function_named(image, "main"), parts, 4), 0);
	assert_int_equal(st_image_parts(image, parts[0], parts, 4), 0);
	st_image_close(image);
}

struct found {
	size_t entries, parts;
};

static bool
take(const struct st_symbol *s, void *context)
{
	struct found *found = context;
	found->entries += s->entry == s->start;
	found->parts += s->entry != s->start;
	return true;
}

static void
names_find_parts(void **state)
{
	(void)state;
	struct st_image *image = open_sample("cold");
	struct found found = {0};
	assert_int_equal(st_image_match(image, "same_name", take, &found), 0);
	assert_int_equal(found.entries, 2);
	assert_int_equal(found.parts, 2);
	st_image_close(image);
}

/* Without symbols each part belongs to the function it has with them; but for one that begins where
 * a function could, which is left alone. */
static void
frames_and_jumps_tell(void **state)
{
	(void)state;
	struct st_image *image = open_sample("frames"), *bare = open_sample("frames_bare");
	size_t n, parts = 0, left = 0;
	const struct st_function *f = st_image_functions(image, &n);
	for (size_t i = 0; i < n; i++) {
		const struct st_function *b = st_image_function(bare, f[i].offset);
		if (!b || b->source == ST_SYM_PLT)
			continue;
		bool lone = !strcmp(f[i].raw_name, "_Z5earlyi.cold");
		assert_int_equal(b->offset, f[i].offset);
		assert_int_equal(b->whole, lone ? b->offset : f[i].whole);
		parts += b->whole != b->offset;
		left += lone;
	}
	assert_int_equal(parts, 3);
	assert_int_equal(left, 1);
	check_table(bare);
	st_image_close(image);
	st_image_close(bare);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(parts_of_every_kind),   cmocka_unit_test(nearest_of_several),
	        cmocka_unit_test(parts_are_listed),      cmocka_unit_test(names_find_parts),
	        cmocka_unit_test(frames_and_jumps_tell),
	};
	use_samples(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
