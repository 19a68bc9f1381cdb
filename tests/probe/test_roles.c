/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_roles FOLDER: what names and images say of return addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <stdio.h>

#include "probe/site.h"

static const char *folder;

/* The site of the function `plain` of a library. */
static struct st_probe_site
plain_site(const char *library, bool *forbids)
{
	char path[4096];
	struct st_error e;
	size_t n;
	struct st_probe_site site = {.refusal = ST_REFUSALS};
	snprintf(path, sizeof path, "%s/libwalks_%s.so", folder, library);
	struct st_image *image = st_image_open(path, &e);
	assert_non_null(image);
	struct st_probe_planner *planner = st_probe_planner_new(image);
	assert_non_null(planner);
	const struct st_function *v = st_image_functions(image, &n);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(v[i].name, "plain"))
			st_probe_judge(planner, &v[i], &site);
	*forbids = st_probe_planner_forbids(planner);
	st_probe_planner_free(planner);
	st_image_close(image);
	return site;
}

static void
images(void **state)
{
	bool forbids;
	(void)state;
	struct st_probe_site site = plain_site("not", &forbids);
	assert_int_equal(site.refusal, ST_REFUSAL_NONE);
	assert_int_equal(site.role.role, ST_ROLE_NORMAL);
	assert_false(forbids);
	site = plain_site("OCAML", &forbids);
	assert_int_equal(site.refusal, ST_REFUSAL_NONE);
	assert_int_equal(site.role.role, ST_ROLE_COUNT);
	assert_string_equal(site.role.why, "OCaml's garbage collector reads return addresses");
	assert_false(forbids);
	/* A linker may keep no section for the table of functions. */
	for (int stripped = 0; stripped < 2; stripped++) {
		site = plain_site(stripped ? "GOSTRIPPED" : "GO", &forbids);
		assert_int_equal(site.role.role, ST_ROLE_COUNT);
		assert_false(forbids);
	}
	site = plain_site("V8", &forbids);
	assert_int_equal(site.role.role, ST_ROLE_COUNT);
	assert_true(forbids);
}

static void
names(void **state)
{
	(void)state;
	assert_int_equal(st_probe_role("_Unwind_Resume@@GCC_3.0").role, ST_ROLE_UNWINDER);
	assert_int_equal(st_probe_role("__cxa_begin_catch").role, ST_ROLE_LANDING);
	assert_int_equal(st_probe_role("vfork").role, ST_ROLE_COUNT);
	assert_int_equal(st_probe_role("__restore_rt").role, ST_ROLE_REFUSED);
	assert_int_equal(st_probe_role("runtime.goexit.abi0").role, ST_ROLE_REFUSED);
	assert_int_equal(st_probe_role("vfor").role, ST_ROLE_NORMAL);
	assert_int_equal(st_probe_role("_Exit").role, ST_ROLE_NORMAL);
	/* The first and the last of the table. */
	assert_int_equal(st_probe_role("_ULx86_64_init_local").role, ST_ROLE_UNWINDER);
	assert_int_equal(st_probe_role("vfork@GLIBC_2.2.5").role, ST_ROLE_COUNT);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(names),
	        cmocka_unit_test(images),
	};
	folder = argc > 1 ? argv[1] : ".";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
