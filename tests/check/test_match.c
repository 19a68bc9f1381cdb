/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pairs of two sides made by hand, each rule of check/match.h by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "check/match.h"

enum { MOST = 8 };

/* Functions and images of a side; the first without a path, or without both name and offset, ends
 * its list. */
struct made {
	struct st_match_image images[MOST];
	struct st_match_function functions[MOST];
};

static struct st_match_side
side_of(const struct made *s)
{
	struct st_match_side side = {.images = s->images, .functions = s->functions};
	while (side.n_images < MOST && s->images[side.n_images].path)
		side.n_images++;
	while (side.n_functions < MOST &&
	       (s->functions[side.n_functions].name || s->functions[side.n_functions].offset))
		side.n_functions++;
	return side;
}

/* want: by A's functions the index of B's, -1: none. The same the other way round. */
static void
assert_functions(const struct made *a, const struct made *b, const int *want)
{
	for (int turned = 0; turned < 2; turned++) {
		const struct st_match_side sides[] = {side_of(turned ? b : a),
		                                      side_of(turned ? a : b)};
		const struct st_match_side *first = &sides[turned], *second = &sides[!turned];
		struct st_match m;
		assert_int_equal(st_match_make(&m, sides), ST_OK);
		size_t pairs = 0;
		for (size_t i = 0; i < first->n_functions; i++)
			for (size_t k = 0; k < second->n_functions; k++) {
				bool same = m.function[turned][i] == m.function[!turned][k];
				assert_int_equal(same, want[i] == (int)k);
				pairs += same;
			}
		assert_int_equal(m.n_functions, first->n_functions + second->n_functions - pairs);
		st_match_free(&m);
	}
}

/* The same of images, for which there are no functions. */
static void
assert_images(const struct made *a, const struct made *b, const int *want)
{
	const struct st_match_side sides[] = {side_of(a), side_of(b)};
	struct st_match m;
	assert_int_equal(st_match_make(&m, sides), ST_OK);
	for (size_t i = 0; i < sides[ST_A].n_images; i++)
		for (size_t k = 0; k < sides[ST_B].n_images; k++)
			assert_int_equal(m.image[ST_A][i] == m.image[ST_B][k], want[i] == (int)k);
	st_match_free(&m);
}

static void
nothing(void **state)
{
	(void)state;
	const struct made none = {0},
	                  one = {{{"/bin/x", "", false}}, {{"f", NULL, 0, false, 16, 0}}};
	assert_functions(&none, &none, (int[]){-1});
	assert_functions(&one, &none, (int[]){-1});
}

/* By build-id, then by the name of the file, then by that of the library; each of what is left. */
static void
images(void **state)
{
	(void)state;
	const struct made a = {{{"/a/prog", "b1", false},
	                        {"/lib/libz.so.1.2.13", "z12", false},
	                        {"/lib/libm.so.6", "m1", false},
	                        {"/lib/libnew.so.1.1", "n1", false},
	                        {"/lib/plugin.so", "", false},
	                        {"/lib/other.so.x", "o1", false}},
	                       {{0}}};
	const struct made b = {{{"/b/renamed", "b1", false},
	                        {"/lib/libz.so.1.3", "z13", false},
	                        {"/new/libm.so.6", "m2", false},
	                        {"/lib/libnew.so.2.1", "n2", false},
	                        {"/elsewhere/plugin.so", "", false},
	                        {"/lib/other.so.y", "o2", false}},
	                       {{0}}};
	assert_images(&a, &b, (int[]){0, 1, 2, -1, 4, -1});
	/* The build goes before the name: what is called "prog" in B is another program. */
	const struct made c = {{{"/b/prog", "b2", false}, {"/b/old", "b1", false}}, {{0}}};
	assert_images(&a, &c, (int[]){1, -1, -1, -1, -1, -1});
	/* The program goes before the name of the file, and after the build. */
	const struct made v1 = {{{"/b/v1", "b1", true}, {"/lib/v2", "w1", false}}, {{0}}},
	                  v2 = {{{"/b/v2", "b2", true}, {"/lib/v1", "w2", false}}, {{0}}},
	                  moved = {{{"/b/v1", "b3", true}, {"/c/x", "b1", false}}, {{0}}};
	assert_images(&v1, &v2, (int[]){0, -1});
	assert_images(&v1, &moved, (int[]){1, -1});
	/* That no build is known is no build that both have. */
	const struct made d = {{{"/x/q", "", false}}, {{0}}}, e = {{{"/x/r", "", false}}, {{0}}};
	assert_images(&d, &e, (int[]){-1});
}

static void
names(void **state)
{
	(void)state;
	const struct made a = {{{"/1/x", "b1", false}, {"/1/liby.so.1", "y1", false}},
	                       {{"f", NULL, 0, false, 16, 0},
	                        {"g", NULL, 0, false, 32, 0},
	                        {"f", NULL, 1, false, 16, 0},
	                        {"__root__", NULL, ST_NO_IMAGE, true, 0, 0}}};
	const struct made b = {{{"/2/liby.so.1", "y2", false}, {"/2/x", "b2", false}},
	                       {{"__root__", NULL, ST_NO_IMAGE, true, 0, 0},
	                        {"f", NULL, 0, false, 400, 0},
	                        {"f", NULL, 1, false, 300, 0},
	                        {"G", NULL, 1, false, 32, 0},
	                        {"__root__", NULL, ST_NO_IMAGE, false, 0, 0}}};
	assert_functions(&a, &b, (int[]){2, -1, 1, 0});
}

/* A block is what it is by where it begins in its function. */
static void
blocks(void **state)
{
	(void)state;
	const struct made a = {{{"/x", "b1", false}},
	                       {{"f", NULL, 0, false, 16, 0},
	                        {"f", NULL, 0, false, 20, 4},
	                        {"f", NULL, 0, false, 8, -8}}};
	const struct made b = {{{"/x", "b2", false}},
	                       {{"f", NULL, 0, false, 104, 4},
	                        {"f", NULL, 0, false, 100, 0},
	                        {"f", NULL, 0, false, 108, 8}}};
	assert_functions(&a, &b, (int[]){1, 0, -1});
}

static void
without_names(void **state)
{
	(void)state;
	const struct st_match_function code[] = {{NULL, NULL, 0, false, 16, 0},
	                                         {NULL, NULL, 0, false, 64, 0}};
	const struct made a = {{{"/x", "b1", false}}, {code[0], code[1]}};
	const struct made same = {{{"/y", "b1", false}}, {code[1]}},
	                  other = {{{"/x", "b2", false}}, {code[0]}};
	const struct made unknown = {{{"/x", "", false}}, {code[0]}};
	const struct made nowhere = {{{0}}, {{NULL, NULL, ST_NO_IMAGE, false, 16, 0}}};
	assert_functions(&a, &same, (int[]){-1, 0});
	assert_functions(&a, &other, (int[]){-1, -1});
	assert_functions(&unknown, &unknown, (int[]){-1});
	assert_functions(&nowhere, &nowhere, (int[]){-1});
}

static void
names_made_of_places(void **state)
{
	(void)state;
	assert_true(st_match_is_name("func_11b2", "/bin/x", 0x11b3));
	assert_false(st_match_is_name("func_11b2", "/bin/x", 0x11b2));
	assert_true(st_match_is_name("func_11b2x", "/bin/x", 0x11b2));
	assert_false(st_match_is_name("x+0x20", "/bin/x", 0x20));
	assert_true(st_match_is_name("y+0x20", "/bin/x", 0x20));
	assert_true(st_match_is_name("x+0x20", "/bin/x", 0x2));
	assert_false(st_match_is_name("+0x7f00", NULL, 0));
	assert_true(st_match_is_name("[no symbol]", "/bin/x", 0));
	assert_true(st_match_is_name("__root__", NULL, 0));
}

/* Static functions of one name. */
static void
one_build(void **state)
{
	(void)state;
	const struct made a = {
	        {{"/x", "b1", false}},
	        {{"init", "a.c", 0, false, 16, 0}, {"init", "b.c", 0, false, 32, 0}}};
	const struct made b = {{{"/x", "b1", false}}, {{"init", "a.c", 0, false, 32, 0}}};
	assert_functions(&a, &b, (int[]){-1, 0});
	const struct made moved = {{{"/x", "b1", false}}, {{"init", "a.c", 0, false, 48, 0}}};
	assert_functions(&b, &moved, (int[]){-1});
}

static void
by_files(void **state)
{
	(void)state;
	const struct made a = {{{"/x", "b1", false}},
	                       {{"init", "/1/a.c", 0, false, 16, 0},
	                        {"init", "/1/b.c", 0, false, 32, 0},
	                        {"init", "/1/c.c", 0, false, 48, 0}}};
	const struct made b = {{{"/x", "b2", false}},
	                       {{"init", "/2/c.c", 0, false, 16, 0},
	                        {"init", "/2/a.c", 0, false, 32, 0},
	                        {"init", "/2/d.c", 0, false, 64, 0}}};
	assert_functions(&a, &b, (int[]){1, -1, 0});
	/* The only one of its name may have moved to another file. */
	const struct made one = {{{"/x", "b1", false}}, {{"init", "/1/a.c", 0, false, 16, 0}}};
	const struct made other = {{{"/x", "b2", false}}, {{"init", "/1/z.c", 0, false, 96, 0}}};
	assert_functions(&one, &other, (int[]){0});
}

/* One file that is not known, and none of them counts. */
static void
by_order(void **state)
{
	(void)state;
	const struct made a = {{{"/x", "b1", false}},
	                       {{"init", "a.c", 0, false, 32, 0},
	                        {"init", NULL, 0, false, 16, 0},
	                        {"init", "c.c", 0, false, 48, 0}}};
	const struct made b = {
	        {{"/x", "b2", false}},
	        {{"init", "c.c", 0, false, 100, 0}, {"init", "a.c", 0, false, 200, 0}}};
	assert_functions(&a, &b, (int[]){1, 0, -1});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(nothing),       cmocka_unit_test(images),
	        cmocka_unit_test(names),         cmocka_unit_test(blocks),
	        cmocka_unit_test(without_names), cmocka_unit_test(names_made_of_places),
	        cmocka_unit_test(one_build),     cmocka_unit_test(by_files),
	        cmocka_unit_test(by_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
