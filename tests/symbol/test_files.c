/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening images, their names and bytes, and finding separate debug files. */
#include "support.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void
refuses(const char *path, const char *words)
{
	struct st_error e = {0};
	assert_null(st_image_open(path, &e));
	if (!strstr(e.text, words) || !strstr(e.text, path))
		fail_msg("%s: the error does not say what is wrong: %s", path, e.text);
	assert_int_equal(e.code, ST_EXIT_FAILED);
	/* Without an error to fill it fails as well. */
	assert_null(st_image_open(path, NULL));
}

static void
what_is_no_image(void **state)
{
	(void)state;
	refuses("/nonexistent/file", "No such file");
	refuses("/", "not a regular file");
	refuses("/dev/null", "not a regular file");
	refuses(sample("keep"), "not an ELF file");
	refuses(sample("empty"), "not an ELF file");
	refuses(sample("object.o"), "neither a program nor a shared library");
	refuses(sample("machine"), "another machine");
	refuses(sample("class32"), "another machine");
	refuses(sample("truncated"), "it ends before its segments do");
	refuses(sample("header_only"), "copy or build it again");
	refuses(sample("fifo"), "not a regular file");
}

/* Without section headers there are no symbols; .eh_frame is still found by its segment. */
static void
without_section_headers(void **state)
{
	(void)state;
	struct st_image *image = open_sample("nosections"), *truth = open_sample("stripped");
	size_t n, found = 0;
	const struct st_function *f = st_image_functions(truth, &n);
	check_table(image);
	for (size_t i = 0; i < n; i++) {
		if (f[i].source != ST_SYM_EHFRAME)
			continue;
		const struct st_function *same = st_image_function(image, f[i].offset);
		assert_non_null(same);
		assert_int_equal(same->offset, f[i].offset);
		assert_int_equal(same->size, f[i].size);
		found++;
	}
	assert_true(found > 5);
	assert_string_equal(st_image_build_id(image), st_image_build_id(truth));
	st_image_close(image);
	st_image_close(truth);
}

static void
build_ids(void **state)
{
	(void)state;
	struct st_image *image = open_sample("full");
	struct output id = run("readelf -n '%s' | sed -n 's/.*Build ID: //p'", sample("full"));
	assert_string_equal(st_image_build_id(image), id.line[0]);
	assert_string_equal(st_image_path(image), sample("full"));
	st_image_close(image);
	output_free(&id);

	image = open_sample("noid");
	/* gzip ends with the checksum and the length, little-endian. */
	id = run("gzip -c '%s' | tail -c 8 | od -An -tx4 -v; stat -c %%s '%s'", sample("noid"),
	         sample("noid"));
	uint32_t crc;
	char wanted[64];
	assert_int_equal(sscanf(id.line[0], "%x", &crc), 1);
	snprintf(wanted, sizeof wanted, "crc32:%08x-%s", crc, id.line[1]);
	assert_string_equal(st_image_build_id(image), wanted);
	st_image_close(image);
	output_free(&id);
}

static void
bytes_and_file_offsets(const char *name)
{
	struct st_image *image = open_sample(name);
	int fd = open(sample(name), O_RDONLY);
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	unsigned char *content = malloc((size_t)st.st_size);
	assert_int_equal(read(fd, content, (size_t)st.st_size), st.st_size);
	close(fd);

	const Elf64_Ehdr *header = (const void *)content;
	const Elf64_Phdr *segment = (const void *)(content + header->e_phoff);
	size_t loads = 0;
	for (int i = 0; i < header->e_phnum; i++) {
		const Elf64_Phdr *s = &segment[i];
		if (s->p_type != PT_LOAD || s->p_filesz < 64)
			continue;
		unsigned char copy[64];
		uint64_t last = s->p_vaddr + s->p_filesz - 32;
		assert_int_equal(st_image_offset_of_file(image, s->p_offset + 5), s->p_vaddr + 5);
		assert_int_equal(st_image_bytes(image, s->p_vaddr + 3, copy, 61), 61);
		assert_memory_equal(copy, content + s->p_offset + 3, 61);
		/* Behind the last byte of the file's part there is nothing. */
		assert_int_equal(st_image_bytes(image, last, copy, 64), 32);
		assert_memory_equal(copy, content + s->p_offset + s->p_filesz - 32, 32);
		loads++;
	}
	assert_true(loads >= 3);
	assert_int_equal(st_image_offset_of_file(image, (uint64_t)st.st_size), UINT64_MAX);
	assert_int_equal(st_image_bytes(image, UINT64_MAX - 3, content, 64), 0);
	assert_int_equal(st_image_bytes(image, 1ull << 40, content, 64), 0);
	free(content);
	st_image_close(image);
}

static void
bytes(void **state)
{
	(void)state;
	bytes_and_file_offsets("full");
	bytes_and_file_offsets("nopie");
	bytes_and_file_offsets("static");
}

static void
expect_debug_file(const char *name, bool found)
{
	struct st_image *image = open_sample(name);
	size_t n, symbols = 0;
	const struct st_function *f = st_image_functions(image, &n);
	for (size_t i = 0; i < n; i++)
		symbols += f[i].source == ST_SYM_SYMTAB;
	if ((symbols > 15) != found)
		fail_msg("%s: the debug file was %s", name, found ? "not found" : "taken");
	assert_string_equal(st_image_quality(image), found ? "full" : "stripped");
	st_image_close(image);
}

static void
debug_files(void **state)
{
	(void)state;
	expect_debug_file("byid", false);
	expect_debug_file("linked/beside", true);
	expect_debug_file("linked/sub/hidden", true);
	expect_debug_file("linked/global/far", false);
	expect_debug_file("linked/wrong/damaged", false);
	expect_debug_file("linked/wrongid", false);

	char directory[4096];
	snprintf(directory, sizeof directory, "%s", sample("debug"));
	setenv("STROBE_DEBUG_DIRECTORY", directory, 1);
	expect_debug_file("byid", true);
	expect_debug_file("linked/global/far", true);
	/* The file that the build-id leads to has another build-id itself. */
	expect_debug_file("linked/wrongid", false);
	setenv("STROBE_DEBUG_DIRECTORY", "/nonexistent", 1);
}

/* A debug file gives exactly what the unstripped program has. */
static void
same_as_unstripped(void **state)
{
	(void)state;
	struct st_image *image = open_sample("linked/beside"), *truth = open_sample("noid");
	size_t n, m;
	const struct st_function *f = st_image_functions(image, &n),
	                         *g = st_image_functions(truth, &m);
	assert_int_equal(n, m);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(f[i].offset, g[i].offset);
		assert_int_equal(f[i].size, g[i].size);
		assert_int_equal(f[i].source, g[i].source);
		assert_string_equal(f[i].name, g[i].name);
	}
	st_image_close(image);
	st_image_close(truth);
}

/* dwz moved the name of main, which both programs have, to a common file; here no symbol table has
 * it. */
static void
dwz_companion(void **state)
{
	(void)state;
	if (!sample_exists("dwz_stripped"))
		skip();
	struct st_image *image = open_sample("dwz_stripped"), *truth = open_sample("full");
	const struct st_function *f = function_named(image, "main");
	assert_int_equal(f->source, ST_SYM_DWARF);
	assert_int_equal(f->offset, function_named(truth, "main")->offset);
	st_image_close(image);
	st_image_close(truth);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(what_is_no_image), cmocka_unit_test(without_section_headers),
	        cmocka_unit_test(build_ids),        cmocka_unit_test(bytes),
	        cmocka_unit_test(debug_files),      cmocka_unit_test(same_as_unstripped),
	        cmocka_unit_test(dwz_companion),
	};
	use_samples(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
