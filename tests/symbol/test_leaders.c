/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where blocks may begin: told by what has been executed of samples/leaders.S. */
#include "support.h"

enum { MOST = 4096 }; /* bytes of code */

struct told {
	uint8_t times[MOST];
	uint64_t first;
};

static const char *const entries[] = {"straight", "apart", "jumps", "data", "never", NULL};

static struct st_image *image;
static struct st_leaders *leaders;
static struct nm_symbols symbols;
static uint8_t bits[MOST / 8];
static uint64_t from;

static uint64_t
at(const char *name)
{
	for (size_t i = 0; i < symbols.n; i++)
		if (!strcmp(symbols.v[i].plain, name))
			return symbols.v[i].address;
	fail_msg("no symbol %s", name);
	return 0;
}

static void
execute(const char *name)
{
	uint64_t bit = at(name) - from;
	bits[bit / 8] |= (uint8_t)(1u << bit % 8);
}

static void
note(void *arg, uint64_t offset)
{
	struct told *told = arg;
	assert_true(offset - told->first < MOST);
	told->times[offset - told->first] = 1;
}

/* Exactly those are told of. */
static void
check_told(const char *const *names)
{
	struct st_executed executed = {.bits = bits, .from = from, .end = from + MOST};
	struct told told = {.first = from};
	executed.first = 0 - from;
	st_leaders_tell(leaders, &executed, note, &told);
	for (; *names; names++) {
		uint8_t *times = &told.times[at(*names) - from];
		if (!*times)
			fail_msg("%s is not told of", *names);
		*times = 0;
	}
	for (size_t i = 0; i < MOST; i++)
		if (told.times[i])
			fail_msg("%#lx is told of", from + i);
}

static int
setup(void **state)
{
	(void)state;
	image = open_sample("libleaders.so");
	symbols = nm_code(sample("libleaders.so"), "");
	from = UINT64_MAX;
	for (size_t i = 0; i < symbols.n; i++)
		if (symbols.v[i].address < from)
			from = symbols.v[i].address;
	memset(bits, 0, sizeof bits);
	leaders = st_leaders_new(image);
	assert_non_null(leaders);
	check_told(entries);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	st_leaders_free(leaders);
	nm_free(&symbols);
	st_image_close(image);
	return 0;
}

static void
entries_once(void **state)
{
	static const char *const none[] = {NULL};
	(void)state;
	check_told(none);
}

static void
both_ways_of_a_branch(void **state)
{
	/* Nothing but the branch itself has been executed. */
	static const char *const expected[] = {"straight_next", "straight_taken", NULL};
	(void)state;
	uint64_t branch = at("straight_branch") + 2 - from;
	bits[branch / 8] |= (uint8_t)(1u << branch % 8);
	check_told(expected);
}

static void
a_call_and_what_follows(void **state)
{
	static const char *const expected[] = {"jumps", "straight_after", NULL};
	(void)state;
	execute("straight_next");
	check_told(expected);
}

static void
a_jump_leads_one_way(void **state)
{
	static const char *const expected[] = {"straight_taken", NULL};
	(void)state;
	execute("straight_after");
	check_told(expected);
}

static void
a_return_leads_nowhere(void **state)
{
	static const char *const none[] = {NULL};
	(void)state;
	execute("straight_taken");
	check_told(none);
}

/* A breakpoint in the middle of the longer instruction would break it. */
static void
no_leader_behind_a_prefix(void **state)
{
	static const char *const expected[] = {"apart_lock", NULL};
	(void)state;
	uint64_t branch = at("apart") + 3 - from;
	bits[branch / 8] |= (uint8_t)(1u << branch % 8);
	check_told(expected);
}

static void
all_behind_an_indirect_jump(void **state)
{
	static const char *const expected[] = {"jumps",     "jumps_one",      "jumps_more",
	                                       "jumps_two", "straight_taken", NULL};
	(void)state;
	execute("jumps");
	check_told(expected);
}

static void
no_data(void **state)
{
	static const char *const none[] = {NULL};
	(void)state;
	execute("data");
	check_told(none);
}

/* A function is looked at once more only when it is asked for anew; not twice for one reason. */
static void
a_function_once(void **state)
{
	static const char *const expected[] = {"straight_taken", NULL}, *const none[] = {NULL};
	(void)state;
	execute("straight_after");
	check_told(expected);
	execute("straight_next");
	check_told(none);
}

int
main(int argc, char **argv)
{
	use_samples(argc, argv);
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(entries_once, setup, teardown),
	        cmocka_unit_test_setup_teardown(both_ways_of_a_branch, setup, teardown),
	        cmocka_unit_test_setup_teardown(a_call_and_what_follows, setup, teardown),
	        cmocka_unit_test_setup_teardown(a_jump_leads_one_way, setup, teardown),
	        cmocka_unit_test_setup_teardown(a_return_leads_nowhere, setup, teardown),
	        cmocka_unit_test_setup_teardown(no_leader_behind_a_prefix, setup, teardown),
	        cmocka_unit_test_setup_teardown(all_behind_an_indirect_jump, setup, teardown),
	        cmocka_unit_test_setup_teardown(no_data, setup, teardown),
	        cmocka_unit_test_setup_teardown(a_function_once, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
