/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Probes by execution: the functions of entries.S are called with random registers, first as they
 * are, then each with a probe, whose handler counts. Registers, flags, stack and return addresses
 * that were seen must be the same.
 */
#include <elf.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/random.h"
#include "probe/site.h"
#include "probe/stub.h"
#include "wire/probe_arena.h"

enum { TRIES = 200, ARENA = 65536, RCX = 1, R10 = 10, R11 = 11, R12 = 12 };

struct machine {
	uint64_t r[16], flags, stack[32];
};

void call_with(struct machine *m, void *function);
void count_entry(void);
extern uint64_t noted, callee_address;
extern uint32_t entries[256];

static struct st_image *image;
static struct st_probe_planner *planner;
static uint64_t bias;
static uint8_t *arena;

static int
note_bias(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	*(uint64_t *)arg = info->dlpi_addr;
	return 1;
}

/* Somewhere within reach of the program. */
static uint8_t *
map_arena(void)
{
	uint64_t near = (uint64_t)(uintptr_t)&count_entry & ~0xfffull;
	for (uint64_t d = 16 << 20; d < 1u << 30; d += 1 << 20) {
		void *at = mmap((void *)(near - d), ARENA, PROT_READ | PROT_WRITE | PROT_EXEC,
		                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (at != MAP_FAILED)
			return at;
	}
	return NULL;
}

static int
set_up(void **state)
{
	struct st_error e;
	(void)state;
	image = st_image_open("/proc/self/exe", &e);
	planner = image ? st_probe_planner_new(image) : NULL;
	dl_iterate_phdr(note_bias, &bias);
	arena = map_arena();
	if (!planner || !arena)
		return -1;
	uint64_t handler = (uint64_t)(uintptr_t)&count_entry;
	memcpy(arena + ST_ARENA_ENTRY, &handler, sizeof handler);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	st_probe_planner_free(planner);
	st_image_close(image);
	munmap(arena, ARENA);
	return 0;
}

static void
write_code(uint64_t at, const uint8_t *bytes, size_t n)
{
	uint64_t page = at & ~0xfffull;
	assert_int_equal(mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	memcpy((void *)at, bytes, n);
	assert_int_equal(mprotect((void *)page, 8192, PROT_READ | PROT_EXEC), 0);
}

static void
random_machine(uint64_t *random, struct machine *m)
{
	for (size_t i = 0; i < sizeof m->r / sizeof *m->r; i++)
		m->r[i] = st_random_next(random) >> st_random_next(random) % 64;
	/* Loops end, and what is called is there. */
	m->r[RCX] %= 4;
	m->r[R10] = 0;
	m->r[R11] = callee_address;
	m->r[R12] = (uint64_t)(uintptr_t)&callee_address - 8;
	m->flags = 0x202 | (st_random_next(random) & 0x8d5);
	for (size_t i = 0; i < sizeof m->stack / sizeof *m->stack; i++)
		m->stack[i] = callee_address;
}

static void
run_all(void *function, struct machine *results, uint64_t *seen)
{
	uint64_t random = 7;
	for (int i = 0; i < TRIES; i++) {
		random_machine(&random, &results[i]);
		noted = 0;
		call_with(&results[i], function);
		seen[i] = noted;
	}
}

static void
judge(const struct st_function *f, struct st_probe_site *site, unsigned index,
      struct st_probe_stub *stub)
{
	struct st_probe_where where = {.bias = bias,
	                               .stub = (uint64_t)(uintptr_t)arena + ST_ARENA_STUBS +
	                                       index * ST_PROBE_STUB_MOST,
	                               .slot = (uint64_t)(uintptr_t)arena + ST_ARENA_ENTRY,
	                               .index = index};
	st_probe_judge(planner, f, site);
	if (site->refusal)
		fail_msg("%s takes no probe: %s", f->name, st_probe_refusal_text(site));
	assert_int_equal(st_probe_stub(site, &where, stub), ST_OK);
	assert_true(stub->size <= ST_PROBE_STUB_MOST);
	memcpy((void *)where.stub, stub->bytes, stub->size);
}

static void
put_probe(const struct st_probe_site *site, const struct st_probe_stub *stub)
{
	if (site->way == ST_PROBE_ISLAND)
		write_code(site->island + bias, stub->island, ST_PROBE_JUMP_LENGTH);
	write_code(site->at + bias, stub->patch, stub->patched);
}

static void
remove_probe(const struct st_probe_site *site)
{
	write_code(site->at + bias, site->bytes, site->patched);
	if (site->way == ST_PROBE_ISLAND)
		write_code(site->island + bias, site->under_island, ST_PROBE_JUMP_LENGTH);
}

static void
try_function(const struct st_function *f, unsigned index)
{
	static struct machine before[TRIES], with[TRIES], after[TRIES];
	uint64_t seen_before[TRIES], seen_with[TRIES], seen_after[TRIES];
	struct st_probe_site site;
	struct st_probe_stub stub;
	void *function = (void *)(uintptr_t)(f->offset + bias);
	run_all(function, before, seen_before);
	judge(f, &site, index, &stub);
	put_probe(&site, &stub);
	entries[index] = 0;
	run_all(function, with, seen_with);
	uint32_t entered = entries[index];
	remove_probe(&site);
	run_all(function, after, seen_after);
	if (memcmp(before, with, sizeof before) || memcmp(seen_before, seen_with, sizeof seen_with))
		fail_msg("%s does something else with a probe", f->name);
	if (memcmp(before, after, sizeof before))
		fail_msg("%s does something else after a probe", f->name);
	if (site.loops ? entered < TRIES : entered != TRIES)
		fail_msg("%s: %u entries were counted", f->name, entered);
}

static void
same_with_probes(void **state)
{
	size_t n;
	unsigned index = 0;
	const struct st_function *v = st_image_functions(image, &n);
	(void)state;
	for (size_t i = 0; i < n; i++)
		if (!strncmp(v[i].name, "e_", 2))
			try_function(&v[i], ++index);
	assert_int_equal(index, 40);
}

static struct st_probe_site
site_of(const char *name)
{
	size_t n;
	struct st_probe_site site = {.refusal = ST_REFUSALS};
	const struct st_function *v = st_image_functions(image, &n);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(v[i].name, name))
			st_probe_judge(planner, &v[i], &site);
	if (site.refusal == ST_REFUSALS)
		fail_msg("there is no function %s", name);
	return site;
}

static void
refused(void **state)
{
	(void)state;
	assert_int_equal(site_of("n_one_first").refusal, ST_REFUSAL_ENTERED);
	assert_int_equal(site_of("n_system_call").refusal, ST_REFUSAL_UNMOVABLE);
	assert_int_equal(site_of("n_invalid").refusal, ST_REFUSAL_UNMOVABLE);
	assert_int_equal(site_of("n_call_rsp").refusal, ST_REFUSAL_UNMOVABLE);
	assert_int_equal(site_of("n_call_below").refusal, ST_REFUSAL_UNMOVABLE);
	assert_int_equal(site_of("n_narrow").refusal, ST_REFUSAL_UNMOVABLE);
	assert_int_equal(site_of("n_inner").refusal, ST_REFUSAL_NO_ENTRY);
	assert_int_equal(site_of("n_frameless").refusal, ST_REFUSAL_NO_ENTRY);
	assert_int_equal(site_of("n_signal").refusal, ST_REFUSAL_NO_ENTRY);
	assert_int_equal(site_of("n_chooses").refusal, ST_REFUSAL_IFUNC);
}

static void
ways(void **state)
{
	(void)state;
	assert_int_equal(site_of("e_pushes").way, ST_PROBE_JUMP);
	assert_int_equal(site_of("e_four_first").way, ST_PROBE_ISLAND);
	assert_int_equal(site_of("e_table").way, ST_PROBE_ISLAND);
	assert_int_equal(site_of("e_call_register").way, ST_PROBE_ISLAND);
	assert_true(site_of("e_repeat").loops);
	assert_true(site_of("e_repeat_late").loops);
	assert_false(site_of("e_pushes").loops);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(same_with_probes),
	        cmocka_unit_test(refused),
	        cmocka_unit_test(ways),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
