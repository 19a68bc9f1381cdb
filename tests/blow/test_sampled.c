/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of this program itself: its image, as if it were mapped elsewhere, and stacks of one
 * frame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "blow/corpus.h"
#include "blow/listed.h"
#include "blow/sampled.h"
#include "session/session.h"
#include "trace/choose.h"

enum { BIAS = 0x10000000 };

static volatile unsigned long marked_sum;

/* The line between the other two has code of its own. */
enum { FIRST = __LINE__ + 5 };
__attribute__((noinline, noipa)) static void
marked(void)
{
	marked_sum += 3;
	marked_sum *= 5;
	marked_sum ^= 7;
}

struct world {
	struct st_probes probes;
	struct st_sampler sampler;
	struct st_blow b;
	struct st_probed_image *image;
	uint64_t offset; /* of `marked` */
};

static void
world_begin(struct world *w)
{
	struct st_error e;
	size_t n;
	static char path[] = "/proc/self/exe";
	memset(w, 0, sizeof *w);
	marked();
	w->image = ST_PUSH(&w->probes.images);
	*w->image = (struct st_probed_image){
	        .probes = &w->probes, .path = path, .bias = BIAS, .image = st_image_open(path, &e)};
	assert_non_null(w->image->image);
	const struct st_function *f = st_image_functions(w->image->image, &n);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(f[i].name, "marked"))
			w->offset = f[i].offset;
	assert_true(w->offset > 0);
	w->image->from = w->offset + BIAS;
	w->image->to = w->image->from + st_image_function(w->image->image, w->offset)->size;
	pthread_mutex_init(&w->probes.installing, NULL);
	w->sampler = (struct st_sampler){.probes = &w->probes, .asked = 1};
	w->probes.process.pid = getpid();
}

static void
world_end(struct world *w)
{
	st_sampler_free(&w->sampler);
	st_image_close(w->image->image);
	free(w->probes.images.v);
	st_blow_free(&w->b);
}

/* An address of the line in `marked`; 0: it has none, since the compiler has merged it. */
static uint64_t
pc_of_line(const struct world *w, uint32_t wanted)
{
	struct st_line line;
	const uint64_t end = w->image->to - BIAS;
	for (uint64_t at = w->offset; at < end; at++)
		if (!st_image_line(w->image->image, at, &line) && line.line == wanted)
			return at + BIAS;
	return 0;
}

static void
add_entry(struct world *w, uint32_t line, bool chosen)
{
	char text[64];
	struct st_blow_function *f = ST_PUSH(&w->b.functions);
	snprintf(text, sizeof text, "test_sampled.c:%u", line);
	*f = (struct st_blow_function){.image = "/proc/self/exe",
	                               .name = "n",
	                               .offset = w->offset,
	                               .traits = ST_BLOW_IS_LINE,
	                               .chosen = chosen};
	f->raw_name = st_blow_text(&w->b, text);
}

/* The frame's return address is 0, so the stack ends there. */
static bool
look_at_pc(struct world *w, uint64_t pc)
{
	static uint64_t stack[8192];
	const struct user_regs_struct regs = {.rip = pc, .rsp = (uintptr_t)stack};
	return st_sampler_look(&w->sampler, getpid(), &regs);
}

static void
test_ranges(void **state)
{
	struct world w;
	struct st_line line;
	(void)state;
	world_begin(&w);
	add_entry(&w, FIRST, false);
	add_entry(&w, FIRST + 1, true);
	add_entry(&w, 1, true); /* no code */
	assert_int_equal(st_sampler_add(&w.sampler, &w.b, w.image), ST_OK);
	assert_int_equal(w.sampler.counts.n, 3);
	assert_true(w.sampler.ranges.n > 0);
	for (size_t i = 0; i < w.sampler.ranges.n; i++) {
		const struct st_sampled_range *r = &w.sampler.ranges.v[i];
		assert_int_equal(r->target, 1);
		assert_true(r->from < r->to && r->from >= w.image->from && r->to <= w.image->to);
		for (uint64_t pc = r->from; pc < r->to; pc++) {
			assert_int_equal(st_image_line(w.image->image, pc - BIAS, &line), 0);
			assert_int_equal(line.line, FIRST + 1);
		}
	}
	world_end(&w);
}

/* The targets are the first two lines of `marked`, whose file is mapped `mappings` times. */
static void
world_of_lines(struct world *w, int mappings)
{
	world_begin(w);
	add_entry(w, FIRST, true);
	add_entry(w, FIRST + 1, true);
	for (int i = 0; i < mappings; i++)
		assert_int_equal(st_sampler_add(&w->sampler, &w->b, w->image), ST_OK);
}

/* Two of four samples are in the line, one of them in another one that is a target, too. */
static void
test_look(void **state)
{
	struct world w;
	struct st_blow_run run = {.function = ST_BLOW_NONE, .cpu_ns = 1000};
	(void)state;
	world_of_lines(&w, 1);
	const uint64_t first = pc_of_line(&w, FIRST), second = pc_of_line(&w, FIRST + 1);
	assert_true(first && second);
	assert_false(look_at_pc(&w, first));
	assert_true(look_at_pc(&w, second));
	assert_true(look_at_pc(&w, second));
	assert_false(look_at_pc(&w, 64)); /* of no image */
	/* Strobe is putting probes into an image. */
	pthread_mutex_lock(&w.probes.installing);
	assert_false(look_at_pc(&w, second));
	pthread_mutex_unlock(&w.probes.installing);
	assert_int_equal(w.sampler.samples, 4);
	assert_int_equal(st_sampler_end(&w.sampler, &run), ST_OK);
	assert_int_equal(run.samples.n, 2);
	assert_int_equal(run.samples.v[0].calls, 1);
	assert_int_equal(run.samples.v[0].ns, 250);
	assert_int_equal(run.samples.v[1].calls, 2);
	assert_int_equal(run.samples.v[1].ns, 500);
	st_blow_run_clear(&run);
	run = (struct st_blow_run){.function = 1, .cpu_ns = 1000};
	assert_int_equal(st_sampler_end(&w.sampler, &run), ST_OK);
	assert_int_equal(run.samples.n, 1);
	assert_int_equal(run.samples.v[0].function, 1);
	st_blow_run_clear(&run);
	world_end(&w);
}

/* A file that was mapped again, at the same place: each sample still counts once. */
static void
test_mapped_again(void **state)
{
	struct world w;
	struct st_blow_run run = {.function = ST_BLOW_NONE, .cpu_ns = 1000};
	(void)state;
	world_of_lines(&w, 2);
	for (int i = 0; i < 3; i++)
		look_at_pc(&w, pc_of_line(&w, FIRST + (i & 1)));
	assert_int_equal(st_sampler_end(&w.sampler, &run), ST_OK);
	assert_int_equal(run.samples.n, 2);
	assert_int_equal(run.samples.v[0].calls, 2);
	assert_int_equal(run.samples.v[1].calls, 1);
	st_blow_run_clear(&run);
	world_end(&w);
}

/* Lists what 300 samples have found: 2 in a line, 200 in the next one, and the others elsewhere. */
static void
list_samples(struct world *w, const struct st_blow_locations *lines, struct st_blow *out)
{
	struct st_session session = ST_SESSION_DEFAULT;
	struct st_trace_request request = {.session = &session};
	const struct st_blow_how how = {.samples = true,
	                                .sampled = 1u << ST_BLOW_TARGET_LINE,
	                                .lines = lines,
	                                .request = &request};
	struct st_blow_listing listing;
	struct st_text text;
	w->sampler.keeps = true;
	for (int i = 0; i < 300; i++)
		look_at_pc(w, i < 2     ? pc_of_line(w, FIRST)
		              : i < 202 ? pc_of_line(w, FIRST + 1)
		                        : 64);
	assert_int_equal(st_blow_listing_begin(&listing, &how, &w->probes), ST_OK);
	assert_non_null(st_text_begin(&text));
	assert_int_equal(st_sampler_list(&w->sampler, &listing, text.out), ST_OK);
	st_blow_listing_end(&listing);
	char *lines_text = st_text_end(&text), *rest = lines_text;
	*out = (struct st_blow){.causal = true};
	for (char *line; (line = strsep(&rest, "\n"));)
		if (*line)
			assert_int_equal(st_blow_read_function(out, line), ST_OK);
	free(lines_text);
	st_session_free(&session);
}

static void
test_list(void **state)
{
	struct world w;
	struct st_blow found;
	struct st_blow_locations l = {0};
	struct st_error e;
	char name[64], user[64];
	(void)state;
	world_begin(&w);
	list_samples(&w, NULL, &found);
	assert_int_equal(found.functions.n, 1); /* 2 of 300 are too few */
	snprintf(name, sizeof name, "test_sampled.c:%d in marked", FIRST + 1);
	assert_string_equal(found.functions.v[0].name, name);
	assert_int_equal(found.functions.v[0].calls, 200);
	assert_int_equal(found.functions.v[0].traits, ST_BLOW_IS_LINE);
	assert_int_equal(found.functions.v[0].offset, w.offset);
	/* The result names the line so that it is found again. */
	assert_int_equal(st_blow_choose(&found, &(struct st_blow_criteria){.by = 1}), 1);
	w.sampler.keeps = false;
	assert_int_equal(st_sampler_add(&w.sampler, &found, w.image), ST_OK);
	w.sampler.asked = 0;
	assert_true(look_at_pc(&w, pc_of_line(&w, FIRST + 1)));
	st_blow_free(&found);
	world_end(&w);
	/* Those that the user has named are listed in any case. */
	world_begin(&w);
	snprintf(user, sizeof user, "test_sampled.c:%d", FIRST);
	assert_int_equal(st_blow_locations_add(&l, user, &e), ST_OK);
	list_samples(&w, &l, &found);
	assert_int_equal(found.functions.n, 2);
	assert_string_equal(found.functions.v[0].raw_name, user);
	assert_int_equal(found.functions.v[0].calls, 2);
	st_blow_free(&found);
	st_blow_locations_free(&l);
	world_end(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_ranges), cmocka_unit_test(test_look),
	        cmocka_unit_test(test_mapped_again), cmocka_unit_test(test_list)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
