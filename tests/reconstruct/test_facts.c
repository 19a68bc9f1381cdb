/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is certain of a gap, in functions of which that is plain; ways through random graphs against
 * a search of them; folding against the sequence itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reconstruct/walk.h"

/* ---- facts ---- */

struct scene {
	struct st_image *image;
	struct st_walk walk;
	uint32_t thread;
};

static int
set_up(void **state)
{
	struct st_error e;
	struct scene *s = calloc(1, sizeof *s);
	s->image = st_image_open(getenv("STROBE_PATH_FIXTURE"), &e);
	assert_non_null(s->image);
	assert_int_equal(st_code_add_image(&s->walk.code, 0, s->image, "fixture"), 0);
	s->thread = st_walk_thread(&s->walk, 0, 1, 1);
	*state = s;
	return 0;
}

static int
tear_down(void **state)
{
	struct scene *s = *state;
	st_walk_free(&s->walk);
	st_image_close(s->image);
	free(s);
	return 0;
}

static uint64_t
entry_of(struct scene *s, const char *function)
{
	size_t n;
	const struct st_function *f = st_image_functions(s->image, &n);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(f[i].name, function))
			return f[i].offset;
	fail_msg("the fixture has no function %s", function);
	return 0;
}

/* Where a block of a function begins, by its number. */
static uint64_t
block_at(struct scene *s, const char *function, unsigned number)
{
	struct st_graph g;
	uint64_t start = entry_of(s, function);
	assert_int_equal(st_graph_build(&g, &s->walk.code, 0, &start, 1), 0);
	assert_true(number < g.nodes.n);
	start = g.nodes.v[number].piece.start;
	st_graph_free(&g);
	return start;
}

static void
step(struct scene *s, const char *function, unsigned number, uint64_t sp)
{
	assert_int_equal(
	        st_walk_block(&s->walk, s->thread, 0, block_at(s, function, number), sp, 0), 0);
}

static void
gap(struct scene *s)
{
	assert_int_equal(st_walk_gap(&s->walk, s->thread), 0);
}

/* The facts of the first gap. */
static const struct st_gap *
decided(struct scene *s)
{
	assert_int_equal(st_walk_end(&s->walk), 0);
	const struct st_path_thread *t = s->walk.threads.v[s->thread];
	assert_true(t->windows.n > 1);
	assert_int_equal(t->windows.v[0].end, ST_WINDOW_GAP);
	return &t->windows.v[0].gap;
}

/* blocks: a digit each. */
static void
assert_spans(struct scene *s, const st_spans_of_code *spans, const char *function,
             const char *blocks)
{
	assert_int_equal(spans->n, strlen(blocks));
	for (size_t i = 0; i < spans->n; i++)
		assert_int_equal(spans->v[i].start,
		                 block_at(s, function, (unsigned)(blocks[i] - '0')));
}

static void
assert_fact(struct scene *s, const struct st_gap *g, size_t i, enum st_fact_kind kind,
            const char *function, const char *ran)
{
	assert_true(i < g->facts.n);
	assert_int_equal(g->facts.v[i].kind, kind);
	assert_string_equal(g->facts.v[i].function->name, function);
	assert_spans(s, &g->facts.v[i].ran, function, ran);
}

enum { HIGH = 0x20000, MIDDLE = 0x10000 };

static void
test_both_ways_meet(void **state)
{
	struct scene *s = *state;
	step(s, "choice", 0, MIDDLE);
	gap(s);
	step(s, "choice", 4, MIDDLE);
	const struct st_gap *g = decided(s);
	assert_int_equal(g->facts.n, 1);
	assert_fact(s, g, 0, ST_FACT_BETWEEN, "choice", "3");
	assert_spans(s, &g->facts.v[0].stayed, "choice", "3");
	assert_false(g->facts.v[0].exact);
}

static void
test_only_one_way(void **state)
{
	struct scene *s = *state;
	step(s, "choice", 1, MIDDLE);
	gap(s);
	step(s, "choice", 4, MIDDLE);
	const struct st_gap *g = decided(s);
	assert_fact(s, g, 0, ST_FACT_BETWEEN, "choice", "3");
	assert_true(g->facts.v[0].exact);
}

static void
test_nothing_between(void **state)
{
	struct scene *s = *state;
	step(s, "choice", 3, MIDDLE);
	gap(s);
	step(s, "choice", 4, MIDDLE);
	const struct st_gap *g = decided(s);
	assert_fact(s, g, 0, ST_FACT_BETWEEN, "choice", "");
	assert_true(g->facts.v[0].exact);
}

/* Back in a block that comes before: the function was left, and what it executed up to its end is
 * as certain as what it executed since it was entered. */
static void
test_entered_again(void **state)
{
	struct scene *s = *state;
	step(s, "choice", 3, MIDDLE);
	gap(s);
	step(s, "choice", 1, MIDDLE);
	const struct st_gap *g = decided(s);
	assert_int_equal(g->facts.n, 1);
	assert_fact(s, g, 0, ST_FACT_BETWEEN, "choice", "40");
	assert_int_equal(g->facts.v[0].stayed.n, 0);
	assert_false(g->facts.v[0].exact);
}

static void
test_entered(void **state)
{
	struct scene *s = *state;
	step(s, "forever", 0, HIGH);
	gap(s);
	step(s, "choice", 3, MIDDLE);
	const struct st_gap *g = decided(s);
	assert_int_equal(g->facts.n, 1);
	assert_fact(s, g, 0, ST_FACT_ENTERED, "choice", "0");
	assert_false(g->facts.v[0].exact);
}

static void
test_entered_one_way(void **state)
{
	struct scene *s = *state;
	step(s, "forever", 0, HIGH);
	gap(s);
	step(s, "choice", 2, MIDDLE);
	const struct st_gap *g = decided(s);
	assert_fact(s, g, 0, ST_FACT_ENTERED, "choice", "0");
	assert_true(g->facts.v[0].exact);
}

static void
test_left(void **state)
{
	struct scene *s = *state;
	step(s, "choice", 1, MIDDLE);
	gap(s);
	step(s, "forever", 0, HIGH);
	const struct st_gap *g = decided(s);
	assert_int_equal(g->facts.n, 1);
	assert_fact(s, g, 0, ST_FACT_LEFT, "choice", "34");
}

static void
test_loop(void **state)
{
	struct scene *s = *state;
	step(s, "loop", 1, MIDDLE);
	gap(s);
	step(s, "loop", 3, MIDDLE);
	const struct st_gap *g = decided(s);
	assert_fact(s, g, 0, ST_FACT_BETWEEN, "loop", "02");
	assert_false(g->facts.v[0].exact);
}

/* Where the goal lies in a loop it may have been passed before. */
static void
test_loop_at_goal(void **state)
{
	struct scene *s = *state;
	step(s, "forever", 1, MIDDLE);
	gap(s);
	step(s, "forever", 3, MIDDLE);
	assert_int_equal(decided(s)->facts.n, 0);
}

/* The callee's return address is below what the caller has pushed. */
enum { IN_CALLER = MIDDLE - 8, IN_CALLEE = MIDDLE - 16 };

static void
test_back_in_caller(void **state)
{
	struct scene *s = *state;
	step(s, "caller", 0, MIDDLE);
	step(s, "choice", 0, IN_CALLEE);
	gap(s);
	step(s, "caller", 3, IN_CALLER);
	const struct st_gap *g = decided(s);
	assert_int_equal(g->facts.n, 2);
	assert_fact(s, g, 0, ST_FACT_BETWEEN, "caller", "1");
	assert_fact(s, g, 1, ST_FACT_LEFT, "choice", "34");
}

/* That the second call was under way is told by its return. */
static void
test_in_second_call(void **state)
{
	struct scene *s = *state;
	step(s, "caller", 0, MIDDLE);
	step(s, "choice", 0, IN_CALLEE);
	step(s, "choice", 1, IN_CALLEE);
	gap(s);
	step(s, "choice", 4, IN_CALLEE);
	step(s, "caller", 3, IN_CALLER);
	const struct st_gap *g = decided(s);
	assert_int_equal(g->facts.n, 2);
	assert_fact(s, g, 0, ST_FACT_BETWEEN, "choice", "3");
	assert_fact(s, g, 1, ST_FACT_BETWEEN, "caller", "12");
}

static void
test_in_same_call(void **state)
{
	struct scene *s = *state;
	step(s, "caller", 0, MIDDLE);
	step(s, "choice", 0, IN_CALLEE);
	step(s, "choice", 1, IN_CALLEE);
	gap(s);
	step(s, "choice", 4, IN_CALLEE);
	step(s, "caller", 1, IN_CALLER);
	const struct st_gap *g = decided(s);
	assert_int_equal(g->facts.n, 1);
	assert_fact(s, g, 0, ST_FACT_BETWEEN, "choice", "3");
}

/* Without longjmp a caller goes on behind its call; with it, it may not. */
static void
leave_both(struct scene *s, bool returning)
{
	s->walk.returning = returning;
	step(s, "caller", 0, MIDDLE);
	step(s, "choice", 0, IN_CALLEE);
	step(s, "choice", 1, IN_CALLEE);
	gap(s);
	step(s, "forever", 0, HIGH);
}

static void
test_callers_left(void **state)
{
	struct scene *s = *state;
	leave_both(s, true);
	const struct st_gap *g = decided(s);
	assert_int_equal(g->facts.n, 2);
	assert_fact(s, g, 0, ST_FACT_LEFT, "choice", "34");
	assert_fact(s, g, 1, ST_FACT_LEFT, "caller", "13");
}

static void
test_callers_left_by_longjmp(void **state)
{
	struct scene *s = *state;
	leave_both(s, false);
	const struct st_gap *g = decided(s);
	assert_int_equal(g->facts.n, 1);
	assert_fact(s, g, 0, ST_FACT_LEFT, "choice", "34");
}

/* A call that does not come back may leave the function, which is then entered again. */
static void
test_call_may_leave(void **state)
{
	struct scene *s = *state;
	step(s, "caller", 2, IN_CALLER);
	gap(s);
	step(s, "caller", 1, IN_CALLER);
	const struct st_gap *g = decided(s);
	assert_fact(s, g, 0, ST_FACT_BETWEEN, "caller", "0");
}

static void
test_call_comes_back(void **state)
{
	struct scene *s = *state;
	s->walk.returning = true;
	step(s, "caller", 2, IN_CALLER);
	gap(s);
	step(s, "caller", 1, IN_CALLER);
	const struct st_gap *g = decided(s);
	assert_fact(s, g, 0, ST_FACT_BETWEEN, "caller", "30");
}

/* Functions are read anew when one has no symbol: they are still the same. */
static void
test_through_nameless_code(void **state)
{
	struct scene *s = *state;
	uint64_t call = block_at(s, "outer", 0);
	uint64_t nameless = st_piece_read(s->image, call, NULL).target;
	step(s, "outer", 0, MIDDLE);
	assert_int_equal(st_walk_block(&s->walk, s->thread, 0, nameless, MIDDLE - 8, 0), 0);
	step(s, "choice", 0, MIDDLE - 16);
	gap(s);
	step(s, "outer", 2, MIDDLE);
	const struct st_gap *g = decided(s);
	assert_int_equal(g->facts.n, 2);
	assert_fact(s, g, 0, ST_FACT_BETWEEN, "outer", "1");
	assert_fact(s, g, 1, ST_FACT_LEFT, "choice", "34");
}

static void
test_jump_through_register(void **state)
{
	struct scene *s = *state;
	step(s, "table", 0, MIDDLE);
	gap(s);
	step(s, "table", 3, MIDDLE);
	assert_int_equal(decided(s)->facts.n, 0);
}

static void
test_entry_in_the_middle(void **state)
{
	struct scene *s = *state;
	step(s, "forever", 0, HIGH);
	gap(s);
	step(s, "shared", 2, MIDDLE);
	const struct st_gap *g = decided(s);
	assert_fact(s, g, 0, ST_FACT_ENTERED, "shared", "1");
}

static void
test_another_stack(void **state)
{
	struct scene *s = *state;
	step(s, "forever", 0, (uint64_t)1 << 40);
	gap(s);
	step(s, "choice", 3, MIDDLE);
	assert_int_equal(decided(s)->facts.n, 0);
}

/* What cannot follow is no part of the window, and nothing is said of it. */
static void
test_break(void **state)
{
	struct scene *s = *state;
	step(s, "choice", 0, MIDDLE);
	step(s, "choice", 4, MIDDLE);
	assert_int_equal(st_walk_end(&s->walk), 0);
	const struct st_path_thread *t = s->walk.threads.v[s->thread];
	assert_int_equal(t->windows.n, 2);
	assert_int_equal(t->windows.v[0].end, ST_WINDOW_BREAK);
	assert_int_equal(t->windows.v[0].gap.facts.n, 0);
}

static void
test_signal(void **state)
{
	struct scene *s = *state;
	step(s, "choice", 0, MIDDLE);
	assert_int_equal(st_walk_signal(&s->walk, s->thread), 0);
	step(s, "choice", 1, MIDDLE - 1000);
	assert_int_equal(st_walk_end(&s->walk), 0);
	const struct st_path_thread *t = s->walk.threads.v[s->thread];
	assert_int_equal(t->windows.n, 2);
	assert_int_equal(t->windows.v[0].end, ST_WINDOW_SIGNAL);
}

/* ---- ways, against a search ---- */

enum { MOST_NODES = 7, GRAPHS = 20000 };

static unsigned
draw(unsigned below)
{
	return (unsigned)rand() % below;
}

static void
make_graph(struct st_graph *g, unsigned n)
{
	static const enum st_piece_end ends[] = {
	        ST_PIECE_CONDITIONAL, ST_PIECE_JUMP,   ST_PIECE_FALLS,        ST_PIECE_CONDITIONAL,
	        ST_PIECE_CALL,        ST_PIECE_RETURN, ST_PIECE_INDIRECT_JUMP};
	*g = (struct st_graph){.comes_anywhere = draw(8) == 0};
	for (unsigned i = 0; i < n; i++) {
		struct st_node *node = ST_PUSH(&g->nodes);
		node->piece.how = ends[draw(sizeof ends / sizeof *ends)];
		bool two = node->piece.how == ST_PIECE_CONDITIONAL;
		bool none = node->piece.how == ST_PIECE_RETURN ||
		            node->piece.how == ST_PIECE_INDIRECT_JUMP;
		node->next[0] = none ? ST_NO_NODE : draw(n);
		node->next[1] = two ? draw(n) : ST_NO_NODE;
		node->leaves = node->piece.how == ST_PIECE_RETURN;
	}
	*(uint32_t *)ST_PUSH(&g->entries) = 0;
}

/* The nodes that can follow; n stands for the outside. */
static unsigned
followers(const struct st_graph *g, const struct st_ways_asked *a, uint32_t v, uint32_t out[8])
{
	uint32_t outside = (uint32_t)g->nodes.n, goal = a->to == ST_OUTSIDE ? outside : a->to;
	unsigned n = 0;
	if (v == outside) {
		if (a->renewed)
			out[n++] = g->entries.v[0];
		return n;
	}
	const struct st_node *node = &g->nodes.v[v];
	bool calls = node->piece.how == ST_PIECE_CALL && !a->returning;
	bool indirect = node->piece.how == ST_PIECE_INDIRECT_JUMP;
	for (unsigned i = 0; i < 2; i++)
		if (node->next[i] != ST_NO_NODE)
			out[n++] = node->next[i];
	if (node->leaves || calls || indirect)
		out[n++] = outside;
	if (indirect || (calls && g->comes_anywhere))
		out[n++] = goal;
	return n;
}

/* Whether the goal can be reached without a node. */
static bool
reaches_without(const struct st_graph *g, const struct st_ways_asked *a, uint32_t without)
{
	uint32_t goal = a->to == ST_OUTSIDE ? (uint32_t)g->nodes.n : a->to;
	uint32_t stack[MOST_NODES + 2], out[8];
	bool seen[MOST_NODES + 1] = {false};
	unsigned depth = 0;
	for (size_t i = 0; i < a->n; i++)
		if (a->from[i] != without && !seen[a->from[i]]) {
			seen[a->from[i]] = true;
			stack[depth++] = a->from[i];
		}
	while (depth) {
		uint32_t v = stack[--depth];
		if (v == goal)
			return true;
		unsigned n = followers(g, a, v, out);
		for (unsigned i = 0; i < n; i++)
			if (out[i] != without && !seen[out[i]]) {
				seen[out[i]] = true;
				stack[depth++] = out[i];
			}
	}
	return false;
}

static bool
goes_anywhere(const struct st_graph *g, const struct st_ways_asked *a, uint32_t v)
{
	enum st_piece_end how = g->nodes.v[v].piece.how;
	return how == ST_PIECE_INDIRECT_JUMP ||
	       (how == ST_PIECE_CALL && g->comes_anywhere && !a->returning);
}

/* How many ways there are to the goal, of so many steps at most; 2 stands for more. strange: one of
 * them is not told by the code. */
static unsigned
count_ways(const struct st_graph *g, const struct st_ways_asked *a, uint32_t v, unsigned steps,
           bool *strange)
{
	uint32_t out[8];
	unsigned found = v == a->to, n = followers(g, a, v, out);
	for (unsigned i = 0; steps && i < n && found < 2; i++) {
		bool twice = false;
		for (unsigned k = 0; k < i; k++)
			twice |= out[k] == out[i];
		unsigned more = twice ? 0 : count_ways(g, a, out[i], steps - 1, strange);
		*strange |=
		        more && (v == g->nodes.n || out[i] == g->nodes.n || goes_anywhere(g, a, v));
		found += more;
	}
	return found > 2 ? 2 : found;
}

static void
check_graph(const struct st_graph *g)
{
	uint32_t from = draw((unsigned)g->nodes.n);
	const struct st_ways_asked a = {&from, 1,
	                                draw(4) ? draw((unsigned)g->nodes.n) : (uint32_t)ST_OUTSIDE,
	                                draw(2) != 0, draw(2) != 0};
	struct st_ways w;
	int none = st_ways_find(&w, g, &a);
	assert_int_equal(none != 0, !reaches_without(g, &a, ST_NO_NODE));
	if (none)
		return;
	bool told[MOST_NODES] = {false}, strange = false;
	for (size_t i = 0; i < w.must.n; i++)
		told[w.must.v[i]] = true;
	for (uint32_t v = 0; v < g->nodes.n; v++)
		assert_int_equal(told[v], v != a.to && !reaches_without(g, &a, v));
	if (a.to != ST_OUTSIDE) {
		unsigned ways = count_ways(g, &a, from, 2 * MOST_NODES, &strange);
		assert_int_equal(w.exact, ways == 1 && !strange);
	}
	st_ways_free(&w);
}

static void
test_random_graphs(void **state)
{
	(void)state;
	srand(1);
	for (unsigned i = 0; i < GRAPHS; i++) {
		struct st_graph g;
		make_graph(&g, 1 + draw(MOST_NODES));
		check_graph(&g);
		st_graph_free(&g);
	}
}

/* ---- folding ---- */

static void
unfold(const struct st_fold *f, const struct st_fold_item *items, size_t n, uint32_t *out,
       size_t *length, size_t most)
{
	for (size_t i = 0; i < n; i++)
		for (uint64_t k = 0; k < items[i].times; k++) {
			uint32_t members;
			if (items[i].id < ST_FOLD_BODY) {
				assert_true(*length < most);
				out[(*length)++] = items[i].id;
				continue;
			}
			const struct st_fold_item *m = st_fold_members(f, items[i].id, &members);
			unfold(f, m, members, out, length, most);
		}
}

enum { LONGEST = 3000 };

/* Random loops in loops. */
static size_t
make_sequence(uint32_t *to, size_t room, unsigned depth)
{
	size_t n = 0;
	for (unsigned parts = 1 + draw(5); parts && n < room; parts--) {
		if (!depth || draw(3) == 0) {
			to[n++] = draw(4);
			continue;
		}
		size_t body = make_sequence(to + n, room - n, depth - 1);
		for (unsigned times = draw(6); times && n + 2 * body <= room; times--) {
			memcpy(to + n + body, to + n, body * sizeof *to);
			n += body;
		}
		n += body;
	}
	return n < room ? n : room;
}

static void
test_fold(void **state)
{
	static uint32_t numbers[LONGEST], out[LONGEST];
	struct st_fold f = {0};
	(void)state;
	srand(2);
	for (unsigned i = 0; i < 500; i++) {
		st_fold_items items = {0};
		size_t n = make_sequence(numbers, LONGEST, 4), length = 0;
		for (size_t k = 0; k < n; k++)
			assert_int_equal(st_fold_push(&f, &items, numbers[k]), 0);
		unfold(&f, items.v, items.n, out, &length, LONGEST);
		assert_int_equal(length, n);
		assert_memory_equal(out, numbers, n * sizeof *out);
		free(items.v);
	}
	st_fold_free(&f);
}

static void
test_fold_is_short(void **state)
{
	struct st_fold f = {0};
	st_fold_items items = {0};
	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		for (unsigned k = 0; k < 10; k++)
			assert_int_equal(st_fold_push(&f, &items, k % 2), 0);
		assert_int_equal(st_fold_push(&f, &items, 2), 0);
	}
	assert_int_equal(items.n, 1);
	assert_int_equal(items.v[0].times, 1000);
	free(items.v);
	st_fold_free(&f);
}

int
main(void)
{
#define WITH_SCENE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	        WITH_SCENE(test_both_ways_meet),
	        WITH_SCENE(test_only_one_way),
	        WITH_SCENE(test_nothing_between),
	        WITH_SCENE(test_entered_again),
	        WITH_SCENE(test_entered),
	        WITH_SCENE(test_entered_one_way),
	        WITH_SCENE(test_left),
	        WITH_SCENE(test_loop),
	        WITH_SCENE(test_loop_at_goal),
	        WITH_SCENE(test_back_in_caller),
	        WITH_SCENE(test_in_second_call),
	        WITH_SCENE(test_in_same_call),
	        WITH_SCENE(test_callers_left),
	        WITH_SCENE(test_callers_left_by_longjmp),
	        WITH_SCENE(test_call_may_leave),
	        WITH_SCENE(test_call_comes_back),
	        WITH_SCENE(test_through_nameless_code),
	        WITH_SCENE(test_jump_through_register),
	        WITH_SCENE(test_entry_in_the_middle),
	        WITH_SCENE(test_another_stack),
	        WITH_SCENE(test_break),
	        WITH_SCENE(test_signal),
	        cmocka_unit_test(test_random_graphs),
	        cmocka_unit_test(test_fold),
	        cmocka_unit_test(test_fold_is_short),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
