/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of generated code: files for perf, good and bad. */
#include "support.h"

#include "symbol/perfmap.h"

static struct st_perf_map *
read_text(const char *text)
{
	FILE *file = fmemopen((void *)text, strlen(text), "r");
	assert_non_null(file);
	struct st_perf_map *map = st_perf_map_read(file);
	fclose(file);
	assert_non_null(map);
	return map;
}

static void
expect(const struct st_perf_map *map, uint64_t address, const char *name)
{
	const struct st_function *f = st_perf_map_function(map, address);
	if (!name) {
		assert_null(f);
		return;
	}
	assert_non_null(f);
	assert_string_equal(f->name, name);
	assert_true(f->offset <= address && address - f->offset < f->size);
	assert_int_equal(f->whole, f->offset);
}

static void
plain(void **state)
{
	(void)state;
	struct st_perf_map *map = read_text("1000 10 one\n1010 8 two with blanks\n"
	                                    "0x2000 0x10 three\r\n");
	size_t n;
	st_perf_map_functions(map, &n);
	assert_int_equal(n, 3);
	expect(map, 0xfff, NULL);
	expect(map, 0x1000, "one");
	expect(map, 0x100f, "one");
	expect(map, 0x1010, "two with blanks");
	expect(map, 0x1018, NULL);
	expect(map, 0x200f, "three");
	st_perf_map_free(map);
}

static void
later_wins(void **state)
{
	(void)state;
	struct st_perf_map *map = read_text("1000 100 old\n1040 10 inner\n1000 10 new\n"
	                                    "10f0 20 tail\n1045 2 innermost\n");
	expect(map, 0x1000, "new");
	expect(map, 0x1010, "old");
	expect(map, 0x1040, "inner");
	expect(map, 0x1045, "innermost");
	expect(map, 0x1047, "inner");
	expect(map, 0x1050, "old");
	expect(map, 0x10ef, "old");
	expect(map, 0x10f0, "tail");
	expect(map, 0x110f, "tail");
	expect(map, 0x1110, NULL);
	st_perf_map_free(map);
	map = read_text("1040 10 inner\n1000 100 later\n");
	size_t n;
	st_perf_map_functions(map, &n);
	assert_int_equal(n, 1);
	expect(map, 0x1045, "later");
	st_perf_map_free(map);
}

static void
bad_lines(void **state)
{
	(void)state;
	struct st_perf_map *map = read_text(
	        "\n \nname\n1000\n1000 \n1000 10\n1000 10 \n-1000 10 minus\n+1000 10 plus\n"
	        "1000 -10 minus\n1000 0 empty\nffffffffffffffff 2 beyond\n"
	        "11111111111111111 10 too_long\n1000 1x x\n 1000 10 blank\n3000 10 good\n"
	        "3000 10 cut");
	size_t n;
	const struct st_function *f = st_perf_map_functions(map, &n);
	assert_int_equal(n, 1);
	assert_string_equal(f->name, "good");
	st_perf_map_free(map);
	map = read_text("\n");
	st_perf_map_functions(map, &n);
	assert_int_equal(n, 0);
	expect(map, 0, NULL);
	st_perf_map_free(map);
}

/* Each address of a small space against a plain array. */
static void
random_maps(void **state)
{
	enum { SPACE = 200, ENTRIES = 40, ROUNDS = 300 };
	(void)state;
	srand48(7);
	for (int round = 0; round < ROUNDS; round++) {
		int truth[SPACE];
		char text[ENTRIES * 32] = "", name[16];
		size_t used = 0, n;
		for (int i = 0; i < SPACE; i++)
			truth[i] = -1;
		for (int i = 0; i < ENTRIES; i++) {
			long start = lrand48() % (SPACE - 60), size = 1 + lrand48() % 60;
			used += (size_t)snprintf(text + used, sizeof text - used, "%lx %lx n%d\n",
			                         start, size, i);
			for (long at = start; at < start + size; at++)
				truth[at] = i;
		}
		struct st_perf_map *map = read_text(text);
		const struct st_function *f = st_perf_map_functions(map, &n);
		for (size_t i = 1; i < n; i++)
			assert_true(f[i - 1].offset + f[i - 1].size <= f[i].offset);
		for (int i = 0; i < SPACE; i++) {
			snprintf(name, sizeof name, "n%d", truth[i]);
			expect(map, (uint64_t)i, truth[i] < 0 ? NULL : name);
		}
		st_perf_map_free(map);
	}
}

/* Random bytes, and lines with damage in them: whatever is read keeps its promises. */
static void
damaged_maps(void **state)
{
	enum { SIZE = 4000, ROUNDS = 500 };
	static const char letters[] = "0123456789abcdefxX \t\n\r-+zZ\x80\xff";
	static char text[SIZE + 1];
	(void)state;
	srand48(11);
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < SIZE; i++)
			if (round % 2)
				text[i] = letters[(size_t)lrand48() % (sizeof letters - 1)];
			else
				text[i] = (char)(1 + lrand48() % 255);
		struct st_perf_map *map = read_text(text);
		size_t n;
		uint64_t end = 0;
		const struct st_function *f = st_perf_map_functions(map, &n);
		for (size_t i = 0; i < n; i++) {
			assert_true(f[i].offset >= end && f[i].size && f[i].name[0]);
			end = f[i].offset + f[i].size;
			assert_ptr_equal(st_perf_map_function(map, end - 1), &f[i]);
		}
		st_perf_map_free(map);
	}
}

/* Text that never ends, a piece at a time. */
struct endless {
	const char *text;
	size_t at;
	uint64_t given, most;
};

static ssize_t
give(void *cookie, char *bytes, size_t n)
{
	struct endless *e = cookie;
	size_t length = strlen(e->text), some = length - e->at;
	some = some < n ? some : n;
	if (e->given >= e->most)
		return 0;
	memcpy(bytes, e->text + e->at, some);
	e->at = (e->at + some) % length;
	e->given += some;
	return (ssize_t)some;
}

static void
expect_cut(struct endless e, bool cut, size_t least, uint64_t most)
{
	FILE *file = fopencookie(&e, "r", (cookie_io_functions_t){.read = give});
	assert_non_null(file);
	static char buffer[1 << 16];
	setvbuf(file, buffer, _IOFBF, sizeof buffer);
	struct st_perf_map *map = st_perf_map_read(file);
	fclose(file);
	size_t n;
	assert_non_null(map);
	st_perf_map_functions(map, &n);
	assert_int_equal(st_perf_map_is_cut(map), cut);
	assert_true(n >= least);
	assert_true(e.given <= most);
	st_perf_map_free(map);
}

/* A file may be larger than memory: only a part of it is read, and that is said. */
static void
large_maps(void **state)
{
	char line[1 << 14] = "1000 10 ";
	const uint64_t most = (512u << 20) + (1u << 17);
	(void)state;
	memset(line + 8, 'x', sizeof line - 10);
	line[sizeof line - 2] = '\n';
	expect_cut((struct endless){.text = line, .most = UINT64_MAX}, true, 1, most);
	line[sizeof line - 2] = 'x';
	expect_cut((struct endless){.text = line, .most = UINT64_MAX}, true, 0, most);
	line[sizeof line - 2] = '\n';
	expect_cut((struct endless){.text = line, .most = 1 << 20}, false, 1, 1 << 21);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(plain),        cmocka_unit_test(later_wins),
	        cmocka_unit_test(bad_lines),    cmocka_unit_test(random_maps),
	        cmocka_unit_test(damaged_maps), cmocka_unit_test(large_maps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
