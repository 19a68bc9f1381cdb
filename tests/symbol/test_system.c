/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Real programs and libraries of this machine against nm and readelf. */
#include "support.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <time.h>
#include <unistd.h>

static struct st_image *
open_path(const char *path)
{
	struct st_error e = {0};
	struct st_image *image = st_image_open(path, &e);
	if (!image)
		fail_msg("%s", e.text);
	return image;
}

static const char *
libc_path(void)
{
	Dl_info info;
	assert_true(dladdr((void *)gnu_get_libc_version, &info));
	return info.dli_fname;
}

/* Every address in .dynsym is the entry of a function that one of the names there belongs to. */
static void
check_dynamic_symbols(const char *path, size_t least)
{
	struct st_image *image = open_path(path);
	struct nm_symbols symbols = nm_code(path, "-D");
	size_t checked = 0;

	check_table(image);
	for (size_t i = 0, next; i < symbols.n; i = next, checked++) {
		const struct st_function *f = st_image_function(image, symbols.v[i].address);
		uint64_t size = 0;
		bool named = false;
		if (!f || f->offset != symbols.v[i].address)
			fail_msg("%s: %s is missing", path, symbols.v[i].raw);
		for (next = i; next < symbols.n && symbols.v[next].address == f->offset; next++) {
			named |= !strcmp(symbols.v[next].plain, f->name);
			if (symbols.v[next].size > size)
				size = symbols.v[next].size;
		}
		/* The full table, when it is installed, may know a better name for it. */
		assert_true(named || f->source == ST_SYM_SYMTAB);
		assert_true(!size || f->size == size);
	}
	assert_true(checked >= least);
	nm_free(&symbols);
	st_image_close(image);
}

static void
libc(void **state)
{
	(void)state;
	check_dynamic_symbols(libc_path(), 2000);
	struct st_image *image = open_path(libc_path());
	const struct st_function *f = function_named(image, "malloc");
	assert_string_equal(f->name, "malloc");
	function_named(image, "realloc@plt");
	st_image_close(image);
}

static void
installed(const char *path, size_t least)
{
	if (access(path, R_OK) == 0)
		check_dynamic_symbols(path, least);
}

static void
programs_of_this_machine(void **state)
{
	(void)state;
	installed("/usr/bin/python3.11", 1000);
	installed("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", 3000);
	installed("/bin/bash", 1000);
	installed("/usr/lib/x86_64-linux-gnu/libcrypto.so.3", 4000);
}

/* Names that the dynamic linker finds at run time are where the image says. */
static void
addresses_at_run_time(void **state)
{
	static const char *const names[] = {"malloc", "printf", "qsort", "getaddrinfo",
	                                    "pthread_create"};
	(void)state;
	struct st_image *image = open_path(libc_path());
	Dl_info info;
	/* From libc itself: a sanitizer puts its own malloc before it. */
	void *handle = dlopen(libc_path(), RTLD_NOW | RTLD_NOLOAD);
	assert_non_null(handle);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *at = dlsym(handle, names[i]);
		assert_true(dladdr(at, &info));
		uint64_t offset = (uint64_t)(at - (char *)info.dli_fbase);
		const struct st_function *f = st_image_function(image, offset);
		unsigned char code[16];
		assert_non_null(f);
		assert_int_equal(f->offset, offset);
		assert_int_equal(st_image_bytes(image, offset, code, sizeof code), sizeof code);
		assert_memory_equal(code, at, sizeof code);
	}
	dlclose(handle);
	st_image_close(image);
}

/* This test's own functions, by the addresses at which they run. */
static void
itself(void **state)
{
	(void)state;
	struct st_image *image = open_path("/proc/self/exe");
	Dl_info info;
	assert_true(dladdr((void *)itself, &info));
	uint64_t offset = (uint64_t)((char *)itself - (char *)info.dli_fbase);
	const struct st_function *f = st_image_function(image, offset);
	assert_non_null(f);
	assert_int_equal(f->offset, offset);
	assert_string_equal(f->name, "itself");
	st_image_close(image);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(libc),
	        cmocka_unit_test(programs_of_this_machine),
	        cmocka_unit_test(addresses_at_run_time),
	        cmocka_unit_test(itself),
	};
	use_samples(argc, argv);
	/* Here the debug files that are installed count. */
	unsetenv("STROBE_DEBUG_DIRECTORY");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
