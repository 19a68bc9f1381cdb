/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Source lines against addr2line, at every address of the sample programs. */
#include "support.h"

#include <unistd.h>

struct addresses {
	uint64_t *v;
	size_t n;
};

/* All addresses of all functions up to `most`, then at random ones, always the same. */
static struct addresses
pick(struct st_image *image, size_t most)
{
	size_t n, total = 0;
	const struct st_function *f = st_image_functions(image, &n);
	for (size_t i = 0; i < n; i++)
		total += f[i].size;
	struct addresses a = {calloc(most < total ? most : total, sizeof *a.v), 0};
	if (total <= most)
		for (size_t i = 0; i < n; i++)
			for (uint64_t at = 0; at < f[i].size; at++)
				a.v[a.n++] = f[i].offset + at;
	srand48(5);
	while (total > most && a.n < most) {
		const struct st_function *any = &f[(size_t)(drand48() * (double)n)];
		a.v[a.n++] = any->offset + (uint64_t)(drand48() * (double)any->size);
	}
	return a;
}

/* What addr2line says of each address, without discriminators. */
static struct output
ask_addr2line(const char *path, const struct addresses *a)
{
	char name[] = "/tmp/strobe-lines-XXXXXX";
	FILE *file = fdopen(mkstemp(name), "w");
	assert_non_null(file);
	for (size_t i = 0; i < a->n; i++)
		fprintf(file, "%lx\n", a->v[i]);
	fclose(file);
	struct output answer =
	        run("addr2line -e '%s' <%s | sed 's/ (discriminator.*//'", path, name);
	unlink(name);
	assert_int_equal(answer.n, a->n);
	return answer;
}

/*
 * addr2line 2.40 names the unit's file where a function that stands in a header was not inlined.
 * Then the line table itself must have our file and line in the row that holds the address.
 */
static bool
table_agrees(const char *truth, uint64_t address, const struct st_line *line)
{
	struct output rows = run("objdump --dwarf=decodedline -w '%s' | grep ' 0x'", truth);
	uint64_t best = 0;
	bool agrees = false;
	for (size_t i = 0; i < rows.n; i++) {
		char file[512], number[16];
		uint64_t start;
		if (sscanf(rows.line[i], "%511s %15s %lx", file, number, &start) != 3 ||
		    start > address || start < best)
			continue;
		const char *slash = strrchr(file, '/');
		best = start;
		agrees = strtoul(number, NULL, 10) == line->line &&
		         !strcmp(slash ? slash + 1 : file, strrchr(line->file, '/') + 1);
	}
	output_free(&rows);
	return agrees;
}

/* Checks image at a's addresses against addr2line on the file truth; returns how many lines were
 * known. */
static size_t
check_lines(struct st_image *image, const char *truth, const struct addresses *a)
{
	struct output answer = ask_addr2line(truth, a);
	size_t known = 0;
	for (size_t i = 0; i < a->n; i++) {
		struct st_line line = {"unset", 1, 1};
		int found = st_image_line(image, a->v[i], &line);
		char *colon = strrchr(answer.line[i], ':');
		uint32_t wanted = (uint32_t)strtoul(colon + 1, NULL, 10);
		if (line.line != wanted)
			fail_msg("%s: %#lx is %s, not line %u", st_image_path(image), a->v[i],
			         answer.line[i], line.line);
		assert_true(found == 0 || (!line.file && !line.column));
		if (!wanted)
			continue;
		*colon = '\0';
		assert_int_equal(found, 0);
		if (strcmp(line.file, answer.line[i]) != 0 && !table_agrees(truth, a->v[i], &line))
			fail_msg("%s: %#lx is in %s, not %s", truth, a->v[i], answer.line[i],
			         line.file);
		known++;
	}
	output_free(&answer);
	return known;
}

static void
check_sample(const char *name, const char *truth, size_t most)
{
	struct st_image *image = open_sample(name);
	struct st_image *reference = open_sample(truth);
	struct addresses a = pick(reference, most);
	size_t known = check_lines(image, sample(truth), &a);
	/* The C runtime's own functions have no lines, the sample's have. */
	if (known < 200)
		fail_msg("%s: only %zu of %zu lines are known", name, known, a.n);
	assert_string_equal(st_image_quality(image), "full");
	free(a.v);
	st_image_close(image);
	st_image_close(reference);
}

static void
every_address(void **state)
{
	static const char *const names[] = {"full",    "nopie",  "dwarf4",      "packed",
	                                    "ibt",     "noid",   "libplain.so", "clang",
	                                    "dwz_one", "shapes", "relative"};
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (sample_exists(names[i]))
			check_sample(names[i], names[i], 20000);
}

/* binutils 2.40 does not follow -gsplit-dwarf; but the code is that of "full". */
static void
split_dwarf(void **state)
{
	(void)state;
	check_sample("split", "full", 20000);
}

static void
thousand_random_addresses(void **state)
{
	(void)state;
	if (sample_exists("rust_v0"))
		check_sample("rust_v0", "rust_v0", 1000);
	check_sample("shapes", "shapes", 1000);
}

static void
separate_debug_files(void **state)
{
	(void)state;
	char directory[4096];
	snprintf(directory, sizeof directory, "/nonexistent:%s", sample("debug"));
	setenv("STROBE_DEBUG_DIRECTORY", directory, 1);
	check_sample("byid", "full", 20000);
	check_sample("linked/beside", "noid", 20000);
	check_sample("linked/sub/hidden", "noid", 20000);
	check_sample("linked/global/far", "noid", 20000);
	check_sample("dwarfonly", "full", 20000);
	setenv("STROBE_DEBUG_DIRECTORY", "/nonexistent", 1);
}

static void
no_debug_information(void **state)
{
	(void)state;
	struct st_image *image = open_sample("stripped"), *full = open_sample("full");
	struct addresses a = pick(full, 20000);
	for (size_t i = 0; i < a.n; i++) {
		struct st_line line = {"unset", 1, 1};
		assert_int_equal(st_image_line(image, a.v[i], &line), -1);
		assert_null(line.file);
		assert_int_equal(line.line, 0);
		assert_int_equal(line.column, 0);
	}
	free(a.v);
	st_image_close(image);
	st_image_close(full);
}

/* Columns and exact lines of one function, counted by hand in samples/other.c. */
static void
known_function(void **state)
{
	(void)state;
	struct st_image *image = open_sample("full");
	const struct st_function *f = function_named(image, "other_file");
	struct st_line line;
	assert_int_equal(st_image_line(image, f->offset, &line), 0);
	assert_string_equal(strrchr(line.file, '/'), "/other.c");
	assert_int_equal(line.file[0], '/');
	assert_int_equal(line.line, 17);
	assert_int_equal(line.column, 9);
	st_image_close(image);
}

static void
outside_of_everything(void **state)
{
	(void)state;
	struct st_image *image = open_sample("full");
	struct st_line line;
	assert_int_equal(st_image_line(image, 0, &line), -1);
	assert_int_equal(st_image_line(image, UINT64_MAX, &line), -1);
	assert_int_equal(st_image_line(image, 0x4030, &line), -1);
	st_image_close(image);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_address),
	        cmocka_unit_test(thousand_random_addresses),
	        cmocka_unit_test(separate_debug_files),
	        cmocka_unit_test(no_debug_information),
	        cmocka_unit_test(split_dwarf),
	        cmocka_unit_test(known_function),
	        cmocka_unit_test(outside_of_everything),
	};
	use_samples(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
