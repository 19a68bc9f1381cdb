/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sampled stacks: the tree that they are kept in, and the contexts of a profile that it becomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collect/stacks.h"
#include "contexts/contexts.h"
#include "fake.h"
#include "profile/profile.h"
#include "report/callers.h"

enum { PLENTY = 1000 };

/* ---- the tree ---- */

static void
add(struct st_stack_tree *t, uint32_t thread, const char *frames, bool whole, size_t most)
{
	uint32_t path[32];
	const size_t n = strlen(frames);
	for (size_t i = 0; i < n; i++)
		path[i] = (uint32_t)(frames[i] - 'a');
	assert_int_equal(
	        st_stack_tree_add(t, &(struct st_stack_about){.thread = thread, .whole = whole},
	                          path, n, most),
	        ST_OK);
}

/* The samples of the node with this path below a thread; -1: there is no such node. '?' and '*'
 * stand for unknown callers and for pruned frames. */
static long
count_at(const struct st_stack_tree *t, uint32_t thread, const char *frames)
{
	uint32_t at = ST_STACK_NO_PARENT, frame = thread;
	for (const char *next = frames;; next++) {
		size_t i = 0;
		while (i < t->nodes.n &&
		       (t->nodes.v[i].parent != at || t->nodes.v[i].frame != frame))
			i++;
		if (i == t->nodes.n)
			return -1;
		at = (uint32_t)i;
		if (!*next)
			return (long)t->nodes.v[at].count;
		frame = *next == '?'   ? (uint32_t)ST_FRAME_UNKNOWN
		        : *next == '*' ? (uint32_t)ST_FRAME_PRUNED
		                       : (uint32_t)(*next - 'a');
	}
}

static void
equal_stacks_are_one(void **state)
{
	(void)state;
	struct st_stack_tree t = {0};
	add(&t, 0, "abc", true, PLENTY);
	add(&t, 0, "abd", true, PLENTY);
	add(&t, 0, "abc", true, PLENTY);
	add(&t, 0, "ab", true, PLENTY);
	assert_int_equal(t.nodes.n, 5); /* with the thread's */
	assert_int_equal(count_at(&t, 0, "abc"), 2);
	assert_int_equal(count_at(&t, 0, "abd"), 1);
	assert_int_equal(count_at(&t, 0, "ab"), 1);
	assert_int_equal(count_at(&t, 0, "a"), 0);
	assert_int_equal(t.stacks, 4);
	assert_int_equal(t.incomplete + t.pruned, 0);
	st_stack_tree_free(&t);
}

static void
threads_are_apart(void **state)
{
	(void)state;
	struct st_stack_tree t = {0};
	add(&t, 3, "ab", true, PLENTY);
	add(&t, 0, "ab", true, PLENTY);
	add(&t, 3, "ab", true, PLENTY);
	assert_int_equal(count_at(&t, 3, "ab"), 2);
	assert_int_equal(count_at(&t, 0, "ab"), 1);
	assert_int_equal(count_at(&t, 1, ""), -1);
	st_stack_tree_free(&t);
}

static void
recursion_keeps_its_levels(void **state)
{
	(void)state;
	struct st_stack_tree t = {0};
	add(&t, 0, "aaab", true, PLENTY);
	add(&t, 0, "aab", true, PLENTY);
	assert_int_equal(count_at(&t, 0, "aaab"), 1);
	assert_int_equal(count_at(&t, 0, "aab"), 1);
	st_stack_tree_free(&t);
}

/* Waits, and samples in the kernel, are below the innermost function, and no samples in the
 * program's code. */
static void
kinds_of_stacks_are_frames(void **state)
{
	(void)state;
	struct st_stack_tree t = {0};
	const uint32_t path[] = {0, 1};
	const struct st_stack_about sleep = {.whole = true, .kind = ST_STACK_SLEEP, .waited = 70};
	const struct st_stack_about kernel = {.kind = ST_STACK_KERNEL};
	add(&t, 0, "ab", true, PLENTY);
	assert_int_equal(st_stack_tree_add(&t, &sleep, path, 2, PLENTY), ST_OK);
	assert_int_equal(st_stack_tree_add(&t, &sleep, path, 2, 0), ST_OK); /* signs have room */
	assert_int_equal(st_stack_tree_add(&t, &kernel, path, 2, PLENTY), ST_OK);
	assert_int_equal(t.stacks, 1);
	assert_int_equal(t.added, 4);
	assert_int_equal(t.incomplete, 0);
	assert_int_equal(count_at(&t, 0, "ab"), 1);
	size_t n = 0;
	for (size_t i = 0; i < t.nodes.n; i++) {
		const struct st_stack_node *v = &t.nodes.v[i];
		if (!st_frame_is_kind(v->frame)) {
			assert_int_equal(v->waited, 0);
			assert_int_equal(st_frame_kind(v->frame), ST_STACK_CODE);
			continue;
		}
		n++;
		const bool sleeps = st_frame_kind(v->frame) == ST_STACK_SLEEP;
		assert_true(sleeps || st_frame_kind(v->frame) == ST_STACK_KERNEL);
		assert_int_equal(v->waited, sleeps ? 140 : 0);
		assert_int_equal(v->count, sleeps ? 2 : 1);
	}
	assert_int_equal(n, 2);
	st_stack_tree_free(&t);
}

static void
unknown_callers_are_a_frame(void **state)
{
	(void)state;
	struct st_stack_tree t = {0};
	add(&t, 0, "bc", false, PLENTY);
	add(&t, 0, "bc", true, PLENTY);
	add(&t, 0, "", false, PLENTY);
	assert_int_equal(count_at(&t, 0, "?bc"), 1);
	assert_int_equal(count_at(&t, 0, "bc"), 1);
	assert_int_equal(count_at(&t, 0, "?"), 1);
	assert_int_equal(t.incomplete, 2);
	assert_int_equal(t.stacks, 3);
	st_stack_tree_free(&t);
}

/* No sample is lost when there is no room, and those before stay as they are. */
static void
a_full_tree_prunes(void **state)
{
	(void)state;
	struct st_stack_tree t = {0};
	add(&t, 0, "abc", true, 4); /* the thread and three frames: full */
	add(&t, 0, "abd", true, 4);
	add(&t, 0, "abef", true, 4);
	add(&t, 0, "abc", true, 4);
	add(&t, 0, "x", true, 4);
	add(&t, 1, "abc", true, 4);
	assert_int_equal(count_at(&t, 0, "abc"), 2);
	assert_int_equal(count_at(&t, 0, "ab*"), 2);
	assert_int_equal(count_at(&t, 0, "*"), 1);
	assert_int_equal(count_at(&t, 1, "*"), 1);
	assert_int_equal(t.pruned, 4);
	assert_int_equal(t.stacks, 6);
	uint64_t sum = 0;
	for (size_t i = 0; i < t.nodes.n; i++)
		sum += t.nodes.v[i].count;
	assert_int_equal(sum, t.stacks);
	st_stack_tree_free(&t);
}

/* However deep recursion is, a full tree has at most two nodes for each that it may have. */
static void
memory_is_bounded(void **state)
{
	(void)state;
	enum { MOST = 50, STACKS = 2000 };
	struct st_stack_tree t = {0};
	for (uint32_t i = 0; i < STACKS; i++) {
		const uint32_t path[] = {i % 7, i % 11, i % 13, i, i % 3};
		assert_int_equal(st_stack_tree_add(&t,
		                                   &(struct st_stack_about){.thread = i % 2,
		                                                            .whole = i % 5 != 0},
		                                   path, 5, MOST),
		                 ST_OK);
	}
	assert_true(t.nodes.n <= 2 * MOST);
	assert_int_equal(t.stacks, STACKS);
	assert_true(t.pruned > 0);
	st_stack_tree_free(&t);
}

static void
deep_stacks_are_shortened(void **state)
{
	(void)state;
	enum { DEEP = 4 * ST_STACK_LEVELS, QUARTER = ST_STACK_LEVELS / 4 };
	static uint32_t path[DEEP];
	struct st_stack_tree t = {0};
	for (uint32_t i = 0; i < DEEP; i++)
		path[i] = i % 2;
	path[DEEP / 2] = 7; /* once, in the middle */
	assert_int_equal(st_stack_tree_condense(&t, path, DEEP), 2 * QUARTER + 1);
	for (uint32_t i = 0; i < QUARTER; i++) {
		assert_int_equal(path[i], i % 2);
		assert_int_equal(path[QUARTER + 1 + i], i % 2);
	}
	assert_int_equal(path[QUARTER], 7);
	/* A stack that is not too deep stays as it is, and the next one starts at its root. */
	for (uint32_t i = 0; i < ST_STACK_LEVELS; i++)
		path[i] = 1;
	assert_int_equal(st_stack_tree_condense(&t, path, ST_STACK_LEVELS), ST_STACK_LEVELS);
	assert_int_equal(st_stack_tree_condense(&t, path, 0), 0);
	st_stack_tree_free(&t);
}

static void
a_deep_stack_of_different_places_stays(void **state)
{
	(void)state;
	enum { DEEP = 3 * ST_STACK_LEVELS };
	static uint32_t path[DEEP];
	struct st_stack_tree t = {0};
	for (uint32_t i = 0; i < DEEP; i++)
		path[i] = i;
	assert_int_equal(st_stack_tree_condense(&t, path, DEEP), DEEP);
	assert_int_equal(st_stack_tree_add(&t, &(struct st_stack_about){.whole = true}, path, DEEP,
	                                   2 * DEEP),
	                 ST_OK);
	/* After that one its places are on no stack. */
	for (uint32_t i = 0; i < DEEP; i++)
		path[i] = i;
	assert_int_equal(st_stack_tree_condense(&t, path, DEEP), DEEP);
	st_stack_tree_free(&t);
}

/* ---- from samples to contexts ---- */

#define STACK_BASE 0x7ffc00000000u

static char *const command[] = {"fixture", NULL};

/* A function called from restart+4 and one called from caller+5, so that frame pointers lead there.
 */
static struct fake *
fake_with_calls(void)
{
	struct fake *f = fixture_results();
	fake_block(f, 0, fixture_address("restart", 2), 2, 1, ST_END_CALL,
	           fixture_address("caller", 0));
	return f;
}

/* A sample at pc in a function without a frame, whose callers returned to `back` and so on. */
static void
take(struct st_stacks *s, const struct st_results_header *h, uint32_t thread, uint64_t pc,
     const uint64_t *back, size_t n)
{
	uint64_t words[32];
	struct st_stack stack = {.pc = pc,
	                         .rsp = STACK_BASE,
	                         .rbp = STACK_BASE,
	                         .thread = thread,
	                         .bytes = (uint32_t)(16 * n)};
	assert_true(2 * n <= sizeof words / sizeof *words);
	for (size_t i = 0; i < n; i++) {
		words[2 * i] = STACK_BASE + 16 * (i + 1);
		words[2 * i + 1] = back[i];
	}
	st_stacks_take(s, h, &stack, (const unsigned char *)words);
}

struct collected {
	struct fake *f;
	struct st_process process;
	struct st_stacks *stacks;
	struct st_profile *p;
};

static struct collected
collect_begin(void)
{
	struct collected c = {.f = fake_with_calls(), .stacks = st_stacks_new()};
	c.process = fake_process(c.f, 100, 1, "fixture");
	return c;
}

static void
collect_end(struct collected *c, const char *const *tools, size_t n_tools)
{
	const struct st_profile_origin origin = {.tool = "hot",
	                                         .argv = command,
	                                         .sample_hz = 250,
	                                         .keep_blocks = true,
	                                         .tools = tools,
	                                         .n_tools = n_tools,
	                                         .stacks = c->stacks};
	const struct st_run run = {
	        .processes = &c->process, .n_processes = 1, .seconds = 0.5, .tsc_hz = 1e9};
	struct st_error e = {0};
	c->p = st_profile_collect(&run, &origin, &e);
	if (!c->p)
		fail_msg("%s", e.text);
}

static void
collect_free(struct collected *c)
{
	st_profile_free(c->p);
	st_stacks_free(c->stacks);
	fake_free(c->f);
}

/* The samples of the context with these names, the outermost first; -1: there is none. */
static long
samples_of(const struct st_contexts *c, size_t group, const char *const *names)
{
	const struct st_forest *f = &c->groups.v[group].ksf;
	uint32_t at = ST_NO_NODE;
	for (; *names; names++) {
		uint32_t i = at == ST_NO_NODE ? f->first : f->nodes[at].first;
		while (i != ST_NO_NODE && strcmp(c->labels[f->nodes[i].label].name, *names) != 0)
			i = f->nodes[i].next;
		if (i == ST_NO_NODE)
			return -1;
		at = i;
	}
	return (long)f->nodes[at].weight.count;
}

#define SAMPLES(c, group, ...) samples_of(c, group, (const char *const[]){__VA_ARGS__, NULL})

static void
take_some(struct collected *c)
{
	const struct st_results_header *h = c->process.results;
	const uint64_t both[] = {fixture_address("caller", 5), fixture_address("restart", 4)};
	take(c->stacks, h, 0, fixture_address("spin", 5), both, 2);
	take(c->stacks, h, 0, fixture_address("spin", 2), both, 2); /* elsewhere in spin */
	take(c->stacks, h, 0, fixture_address("spin", 5), both, 1);
	take(c->stacks, h, 1, fixture_address("restart", 0), both, 0);
}

static const char *const hot[] = {"hot"};

static void
samples_become_contexts(void **state)
{
	(void)state;
	struct collected c = collect_begin();
	take_some(&c);
	collect_end(&c, hot, 1);
	struct st_context_options o;
	struct st_contexts x;
	struct st_error e;
	const struct st_context_choice apart = {0};
	assert_true(st_contexts_options(c.p, &o));
	assert_true(o.sampled);
	assert_int_equal(st_contexts_make(&x, c.p, &apart, &e), ST_OK);
	assert_string_equal(x.counted, "samples");
	assert_int_equal(x.groups.n, 2);
	assert_int_equal(SAMPLES(&x, 0, "__unknown__", "restart", "caller", "spin"), 2);
	assert_int_equal(SAMPLES(&x, 0, "__unknown__", "restart", "caller"), 0);
	assert_int_equal(SAMPLES(&x, 0, "__unknown__", "caller", "spin"), 1);
	assert_int_equal(SAMPLES(&x, 1, "__unknown__", "restart"), 1);
	assert_int_equal(SAMPLES(&x, 1, "__unknown__", "caller"), -1);
	assert_int_equal(c.p->run.stacks, 4);
	assert_int_equal(c.p->run.stacks_cut, 4);
	st_contexts_free(&x);
	collect_free(&c);
}

/* A function's total is that of the stacks which it is on. */
static void
totals_are_of_the_tree(void **state)
{
	(void)state;
	struct collected c = collect_begin();
	take_some(&c);
	collect_end(&c, hot, 1);
	static const struct {
		const char *name;
		uint64_t total;
	} expected[] = {{"spin", 3}, {"caller", 3}, {"restart", 3}, {"vague", 0}};
	for (size_t i = 0; i < c.p->functions.n; i++)
		for (size_t k = 0; k < sizeof expected / sizeof *expected; k++)
			if (!strcmp(c.p->functions.v[i].name, expected[k].name))
				assert_int_equal(c.p->functions.v[i].samples_total,
				                 expected[k].total);
	collect_free(&c);
}

/* A profile has contexts of one kind. */
static void
counted_contexts_go_first(void **state)
{
	(void)state;
	static const char *const both[] = {"hot", "contexts"};
	struct collected c = collect_begin();
	take_some(&c);
	collect_end(&c, both, 2);
	struct st_context_options o;
	assert_int_equal(c.p->contexts.n, 0);
	assert_true(st_contexts_options(c.p, &o));
	assert_false(o.sampled);
	assert_int_equal(c.p->run.stacks, 4);
	collect_free(&c);
}

/* The program may write anything where its stacks are handed over. */
static void
a_thread_that_is_none_is_left_out(void **state)
{
	(void)state;
	struct collected c = collect_begin();
	take(c.stacks, c.process.results, 4000000000u, fixture_address("spin", 5), NULL, 0);
	take(c.stacks, c.process.results, 0, 0x1234, NULL, 0); /* in no mapping */
	collect_end(&c, hot, 1);
	assert_int_equal(c.p->contexts.n, 1);
	assert_int_equal(c.p->contexts.v[0].count, 1);
	assert_int_equal(c.p->run.stacks, 2);
	collect_free(&c);
}

/* ---- what is printed ---- */

/* malloc'ed. */
static char *
printed(const struct st_profile *p, const char *function, size_t top)
{
	const struct st_report r = {.profile = p, .top = top};
	struct st_callers callers;
	struct st_error e;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!function) {
		assert_int_equal(st_report_stacks(&r, out, &e), ST_OK);
	} else {
		assert_int_equal(st_callers_open(&callers, &r, &e), ST_OK);
		for (uint32_t i = 0; i < p->functions.n; i++)
			if (!strcmp(p->functions.v[i].name, function))
				st_callers_print(&callers, i, out);
		st_callers_close(&callers);
	}
	fclose(out);
	return text;
}

static void
is_printed(const struct st_profile *p, const char *function, size_t top, const char *expected)
{
	char *text = printed(p, function, top);
	assert_string_equal(text, expected);
	free(text);
}

static void
callers_and_callees_are_printed(void **state)
{
	(void)state;
	struct collected c = collect_begin();
	take_some(&c);
	collect_end(&c, hot, 1);
	is_printed(c.p, "caller", 0,
	           "\n  samples  total %  caller\n"
	           "        2    50.00  restart [libfixture.so]\n"
	           "        1    25.00  __unknown__\n"
	           "\n  samples  total %  callee\n"
	           "        3    75.00  spin [libfixture.so]\n");
	is_printed(c.p, "caller", 1,
	           "\n  samples  total %  caller\n"
	           "        2    50.00  restart [libfixture.so]\n"
	           "  ... and 1 more (--top)\n"
	           "\n  samples  total %  callee\n"
	           "        3    75.00  spin [libfixture.so]\n");
	is_printed(c.p, "vague", 0, "");
	collect_free(&c);
}

static void
stacks_are_printed_as_a_tree(void **state)
{
	(void)state;
	struct collected c = collect_begin();
	const uint64_t deep[] = {fixture_address("caller", 5), fixture_address("caller", 5),
	                         fixture_address("caller", 5)};
	take_some(&c);
	take(c.stacks, c.process.results, 0, fixture_address("vague", 0), deep, 3);
	collect_end(&c, hot, 1);
	is_printed(c.p, NULL, 0,
	           "\ncall stacks of 5 samples\n"
	           "  total %  self %  samples  stack\n"
	           "   100.00    0.00        5  __unknown__\n"
	           "    60.00   20.00        3   restart\n"
	           "    40.00    0.00        2    caller\n"
	           "    40.00   40.00        2     spin\n"
	           "    40.00    0.00        2   caller\n"
	           "    20.00   20.00        1    spin\n"
	           "    20.00    0.00        1    caller (2 levels)\n"
	           "    20.00   20.00        1     vague\n");
	is_printed(c.p, NULL, 2,
	           "\ncall stacks of 5 samples\n"
	           "  total %  self %  samples  stack\n"
	           "   100.00    0.00        5  __unknown__\n"
	           "    60.00   20.00        3   restart\n"
	           "  ... and 6 more frames (--top)\n");
	collect_free(&c);
}

static void
without_stacks_the_cause_is_said(void **state)
{
	(void)state;
	struct collected c = collect_begin();
	collect_end(&c, hot, 1);
	const struct st_report r = {.profile = c.p};
	struct st_error e;
	assert_int_not_equal(st_report_stacks(&r, stdout, &e), ST_OK);
	assert_non_null(strstr(e.text, "no stacks of samples"));
	is_printed(c.p, "spin", 0, "");
	collect_free(&c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(equal_stacks_are_one),
	        cmocka_unit_test(threads_are_apart),
	        cmocka_unit_test(recursion_keeps_its_levels),
	        cmocka_unit_test(unknown_callers_are_a_frame),
	        cmocka_unit_test(kinds_of_stacks_are_frames),
	        cmocka_unit_test(a_full_tree_prunes),
	        cmocka_unit_test(memory_is_bounded),
	        cmocka_unit_test(deep_stacks_are_shortened),
	        cmocka_unit_test(a_deep_stack_of_different_places_stays),
	        cmocka_unit_test(samples_become_contexts),
	        cmocka_unit_test(totals_are_of_the_tree),
	        cmocka_unit_test(counted_contexts_go_first),
	        cmocka_unit_test(a_thread_that_is_none_is_left_out),
	        cmocka_unit_test(callers_and_callees_are_printed),
	        cmocka_unit_test(stacks_are_printed_as_a_tree),
	        cmocka_unit_test(without_stacks_the_cause_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
