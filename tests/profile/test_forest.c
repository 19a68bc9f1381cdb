/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contexts as the program leaves them: in any order, perhaps damaged, perhaps in the middle of
 * being pruned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fake.h"
#include "profile/profile.h"

static struct st_profile *
collect(struct fake *f)
{
	static char *const command[] = {"fixture", NULL};
	struct st_process process = fake_process(f, 1, 0, "fixture");
	struct st_run run = {.processes = &process, .n_processes = 1, .tsc_hz = 1e9};
	struct st_profile_origin o = {.tool = "contexts:mode=func,k=inf", .argv = command};
	struct st_error e = {0};
	struct st_profile *p = st_profile_collect(&run, &o, &e);
	if (!p)
		fail_msg("%s", e.text);
	fake_free(f);
	return p;
}

static uint32_t
function_label(struct fake *f, const char *name)
{
	return fake_label(f, fixture_address(name, 0), UINT32_MAX);
}

static void
assert_context(const struct st_profile *p, size_t i, uint32_t parent, uint64_t count)
{
	assert_true(i < p->contexts.n);
	assert_int_equal(p->contexts.v[i].parent, parent);
	assert_int_equal(p->contexts.v[i].count, count);
}

/* Numbers are used again. */
static void
parents_come_first(void **state)
{
	struct fake *f = fixture_results();
	uint32_t label = function_label(f, "spin"), thread = fake_node(f, 0, 0, 0);
	(void)state;
	fake_node(f, label, thread + 3, 3);
	fake_node(f, label, thread, 1);
	fake_node(f, label, thread + 2, 2);
	struct st_profile *p = collect(f);
	assert_int_equal(p->contexts.n, 3);
	assert_context(p, 0, UINT32_MAX, 1);
	assert_context(p, 1, 0, 2);
	assert_context(p, 2, 1, 3);
	st_profile_free(p);
}

static void
circles_are_left_out(void **state)
{
	struct fake *f = fixture_results();
	uint32_t label = function_label(f, "spin"), thread = fake_node(f, 0, 0, 0);
	(void)state;
	fake_node(f, label, thread + 2, 1);
	fake_node(f, label, thread + 3, 1);
	fake_node(f, label, thread + 1, 1);
	fake_node(f, label, thread + 4, 1);
	fake_node(f, label, thread + 1, 1);
	fake_node(f, label, 1u << 31, 1);
	fake_node(f, label, thread, 7);
	struct st_profile *p = collect(f);
	assert_int_equal(p->contexts.n, 1);
	assert_context(p, 0, UINT32_MAX, 7);
	st_profile_free(p);
}

static void
what_is_moved_counts_once(void **state)
{
	struct fake *f = fixture_results();
	uint32_t label = function_label(f, "spin"), thread = fake_node(f, 0, 0, 0);
	uint32_t from = fake_node(f, label, thread, 5), to = fake_node(f, label, from, 10);
	(void)state;
	fake_header(f)->contexts.moved = (struct st_moved){.from = from, .to = to, .count = 15};
	struct st_profile *p = collect(f);
	assert_int_equal(p->contexts.n, 2);
	assert_context(p, 0, UINT32_MAX, 0);
	assert_context(p, 1, 0, 15);
	st_profile_free(p);
}

/* Each thread has a node for them. */
static void
pruned_ones_are_shown_if_there_are_any(void **state)
{
	(void)state;
	for (unsigned count = 0; count < 2; count++) {
		struct fake *f = fixture_results();
		uint32_t label = fake_label(f, ST_LABEL_PRUNED, UINT32_MAX);
		fake_node(f, label, fake_node(f, 0, 0, 0), count);
		fake_header(f)->contexts.pruned = count;
		struct st_profile *p = collect(f);
		assert_int_equal(p->contexts.n, count);
		if (count)
			assert_true(
			        st_profile_label_is_pruned(&p->labels.v[p->contexts.v[0].label]));
		const char *note = p->notes.n ? p->notes.v[p->notes.n - 1] : "";
		for (size_t i = 0; i < p->notes.n; i++)
			if (strstr(p->notes.v[i], "pruned"))
				note = p->notes.v[i];
		assert_int_equal(
		        strstr(note, "1 context was pruned because the memory was full; __pruned__ "
		                     "has their 1 activation,") != NULL,
		        count);
		st_profile_free(p);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(parents_come_first),
	        cmocka_unit_test(circles_are_left_out),
	        cmocka_unit_test(what_is_moved_counts_once),
	        cmocka_unit_test(pruned_ones_are_shown_if_there_are_any),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
