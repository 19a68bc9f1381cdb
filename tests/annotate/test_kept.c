/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests the files in which a project keeps annotations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "annotate/kept.h"
#include "base/text.h"

static void
check_name(const char *image, const char *expected)
{
	const struct st_ann_annotation a = {.image = (char *)(uintptr_t)image};
	char *name = st_ann_kept_name(&a);
	assert_string_equal(name, expected);
	free(name);
}

static void
test_names(void **state)
{
	(void)state;
	check_name("/usr/lib/libz.so.1", "libz.so.1.ann");
	check_name("sort", "sort.ann");
	check_name("./build/..", "...ann");
	check_name("/usr/bin/", "no-image.ann");
	check_name("", "no-image.ann");
	check_name(NULL, "no-image.ann");
}

static struct st_ann_file
parsed(const char *text)
{
	struct st_ann_file f;
	struct st_error e;
	if (st_ann_parse(text, strlen(text), "t", &f, &e))
		fail_msg("%s", e.text);
	return f;
}

static void
test_put(void **state)
{
	(void)state;
	struct st_ann_file to = parsed("f.time(n) { 1; }\nf.bytes(n) { 2; }\n"),
	                   from = parsed("f.time(n) { 3; }\ng.time(n) { 4; }\n");
	for (size_t i = 0; i < from.list.n; i++)
		assert_false(st_ann_kept_put(&to, &from.list.v[i]));
	assert_null(from.list.v[0].function);
	struct st_text text;
	st_ann_print_file(&to, st_text_begin(&text));
	char *v = st_text_end(&text);
	assert_string_equal(v, "f.time(n) {\n\t3;\n}\n\nf.bytes(n) {\n\t2;\n}\n\ng.time(n) "
	                       "{\n\t4;\n}\n");
	free(v);
	st_ann_file_free(&to);
	st_ann_file_free(&from);
}

static void
write_file(const char *folder, const char *name, const char *text)
{
	char *path = st_text_of("%s/%s", folder, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	free(path);
}

static void
test_read(void **state)
{
	(void)state;
	static const char *const names[] = {"b.ann", "a.ann", "a.txt", ".ann"};
	char folder[] = "/tmp/strobe-kept-XXXXXX";
	struct st_ann_file f;
	struct st_error e;
	bool found;
	assert_non_null(mkdtemp(folder));
	assert_false(st_ann_kept_read(folder, &f, &found, &e));
	assert_false(found);
	write_file(folder, "b.ann", "b.time(n) { 1; }");
	write_file(folder, "a.ann", "a.time(n) { 1; } a.cpu(n) { 2; }");
	write_file(folder, "a.txt", "these are no annotations");
	write_file(folder, ".ann", "neither are these");
	assert_false(st_ann_kept_read(folder, &f, &found, &e));
	assert_true(found && f.list.n == 3);
	assert_string_equal(f.list.v[1].metric, "cpu");
	assert_string_equal(f.list.v[2].function, "b");
	st_ann_file_free(&f);
	write_file(folder, "b.ann", "b.time(");
	assert_true(st_ann_kept_read(folder, &f, &found, &e));
	assert_non_null(strstr(e.text, "/b.ann:1:8: "));
	st_ann_file_free(&f);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *path = st_text_of("%s/%s", folder, names[i]);
		assert_int_equal(unlink(path), 0);
		free(path);
	}
	assert_int_equal(rmdir(folder), 0);
	assert_false(st_ann_kept_read(folder, &f, &found, &e));
	assert_false(found);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_put),
	                                   cmocka_unit_test(test_read)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
