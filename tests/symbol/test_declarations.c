/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of functions are those where the sources declare them. */
#include "support.h"

/* The line that begins with the function's name and a parenthesis, as the samples are written; 0:
 * none. */
static uint32_t
declared_at(const char *file, const char *name)
{
	char line[512];
	const size_t length = strlen(name);
	uint32_t number = 0, found = 0;
	FILE *in = fopen(file, "r");
	if (!in)
		return 0;
	while (!found && fgets(line, sizeof line, in)) {
		number++;
		if (!strncmp(line, name, length) && line[length] == '(')
			found = number;
	}
	fclose(in);
	return found;
}

/* Checks the functions of a C program that its own sources declare. Returns their number; *inlined:
 * of how many the first instruction is of another file. */
static size_t
check_declarations(const char *name, size_t *inlined)
{
	struct st_image *image = open_sample(name);
	size_t n, known = 0;
	const struct st_function *f = st_image_functions(image, &n);
	*inlined = 0;
	for (size_t i = 0; i < n; i++) {
		struct st_line line = {0}, first = {0};
		if (f[i].whole != f[i].offset ||
		    st_image_function_line(image, f[i].offset, &line) != ST_OK || !line.file)
			continue;
		const uint32_t wanted = declared_at(line.file, f[i].raw_name);
		if (!wanted) /* assembly, or another name of it */
			continue;
		if (line.line != wanted)
			fail_msg("%s: %s is in line %u, not %u", name, f[i].name, wanted,
			         line.line);
		assert_int_equal(st_image_line(image, f[i].offset, &first), ST_OK);
		*inlined += strcmp(first.file, line.file) != 0;
		known++;
	}
	st_image_close(image);
	return known;
}

static void
of_c(void **state)
{
	static const char *const names[] = {"full",  "nopie", "dwarf4",  "ibt",      "noid",
	                                    "split", "clang", "dwz_one", "relative", "libplain.so"};
	(void)state;
	size_t inlined;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		/* local_twice (twice), only_weak, chosen_one, resolve_chosen, report, main,
		 * other_file; __strong_alias_target has another name. */
		if (sample_exists(names[i]))
			assert_in_range(check_declarations(names[i], &inlined), 6, 9);
	}
}

/* Its first instruction is of a function of a header. */
static void
of_a_function_that_begins_with_another(void **state)
{
	(void)state;
	struct st_image *image = open_sample("headed");
	const struct st_function *f = function_named(image, "headed");
	struct st_line line;
	assert_int_equal(st_image_line(image, f->offset, &line), ST_OK);
	assert_string_equal(strrchr(line.file, '/'), "/headed.h");
	assert_int_equal(st_image_function_line(image, f->offset, &line), ST_OK);
	assert_string_equal(strrchr(line.file, '/'), "/headed.c");
	assert_int_equal(line.line, 6);
	assert_int_equal(line.column, 1);
	st_image_close(image);
}

/* Methods refer to their declarations, instances of templates to those of the template. */
static void
of_methods(void **state)
{
	(void)state;
	struct st_image *image = open_sample("shapes");
	size_t n, boxes = 0;
	const struct st_function *f = st_image_functions(image, &n);
	struct st_line line;
	for (size_t i = 0; i < n; i++) {
		if (!strstr(f[i].name, "Box<") || !strstr(f[i].name, "::grow("))
			continue;
		assert_int_equal(st_image_function_line(image, f[i].offset, &line), ST_OK);
		assert_string_equal(strrchr(line.file, '/'), "/shapes.cpp");
		assert_int_equal(line.line, 11);
		boxes++;
	}
	assert_true(boxes > 0);
	st_image_close(image);
}

/* A little debug information is unpacked: the lines are those of the file that has it plain. */
static void
of_compressed_information(void **state)
{
	(void)state;
	struct st_image *packed = open_sample("packed"), *full = open_sample("full");
	static const char *const names[] = {"other_file", "report", "main"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct st_line line, expected;
		assert_int_equal(st_image_function_line(
		                         packed, function_named(packed, names[i])->offset, &line),
		                 ST_OK);
		assert_int_equal(st_image_function_line(
		                         full, function_named(full, names[i])->offset, &expected),
		                 ST_OK);
		assert_int_not_equal(line.line, 0);
		assert_int_equal(line.line, expected.line);
		assert_int_equal(line.column, expected.column);
		assert_string_equal(line.file, expected.file);
	}
	st_image_close(packed);
	st_image_close(full);
}

static void
without_declarations(void **state)
{
	(void)state;
	struct st_image *image = open_sample("stripped"), *full = open_sample("full");
	const struct st_function *f = function_named(full, "other_file");
	struct st_line line;
	assert_int_equal(st_image_function_line(image, f->offset, &line), ST_FAILED);
	assert_int_equal(line.line, 0);
	st_image_close(image);
	st_image_close(full);
}

int
main(int argc, char **argv)
{
	use_samples(argc, argv);
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(of_c),
	        cmocka_unit_test(of_a_function_that_begins_with_another),
	        cmocka_unit_test(of_methods),
	        cmocka_unit_test(of_compressed_information),
	        cmocka_unit_test(without_declarations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
