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
#include "probe/exits.h"
#include "wire/probe_arena.h"

enum { TRIES = 200, ARENA = 65536, RCX = 1, R10 = 10, R11 = 11, R12 = 12 };

struct machine {
	uint64_t r[16], flags, stack[32];
};

void call_with(struct machine *m, void *function);
void count_entry(void);
void count_exit(void);
extern uint32_t exits[256], misplaced;
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
	handler = (uint64_t)(uintptr_t)&count_exit;
	memcpy(arena + ST_ARENA_RETURN, &handler, sizeof handler);
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

/* ---- exits ---- */

enum { MOST_EXITS = 8 };

struct probed {
	struct st_probe_site site;
	struct st_probe_exits exits;
	struct st_probe_stub entry, exit[MOST_EXITS];
};

static struct st_probe_where
next_stub(unsigned index)
{
	static unsigned used = 300;
	return (struct st_probe_where){.bias = bias,
	                               .stub = (uint64_t)(uintptr_t)arena + ST_ARENA_STUBS +
	                                       used++ * ST_PROBE_STUB_MOST,
	                               .slot = (uint64_t)(uintptr_t)arena + ST_ARENA_ENTRY,
	                               .returns = (uint64_t)(uintptr_t)arena + ST_ARENA_RETURN,
	                               .index = index};
}

static void
make_stubs(struct probed *p, unsigned index)
{
	struct st_probe_where where = next_stub(index);
	assert_int_equal(st_probe_stub(&p->site, &where, &p->entry), ST_OK);
	memcpy((void *)where.stub, p->entry.bytes, p->entry.size);
	assert_true(p->exits.list.n <= MOST_EXITS);
	for (size_t i = 0; i < p->exits.list.n; i++) {
		where = next_stub(index);
		assert_int_equal(st_probe_exit_stub(&p->exits.list.v[i], &where, &p->exit[i]),
		                 ST_OK);
		memcpy((void *)where.stub, p->exit[i].bytes, p->exit[i].size);
	}
}

static void
put_exits(const struct probed *p)
{
	for (size_t i = 0; i < p->exits.list.n; i++) {
		const struct st_probe_exit *exit = &p->exits.list.v[i];
		if (exit->way == ST_PROBE_ISLAND)
			write_code(exit->island + bias, p->exit[i].island, ST_PROBE_JUMP_LENGTH);
		write_code(exit->at + bias, p->exit[i].patch, exit->patched);
	}
}

static void
remove_exits(const struct probed *p)
{
	for (size_t i = 0; i < p->exits.list.n; i++) {
		const struct st_probe_exit *exit = &p->exits.list.v[i];
		write_code(exit->at + bias, exit->bytes, exit->patched);
		if (exit->way == ST_PROBE_ISLAND)
			write_code(exit->island + bias, exit->under_island, ST_PROBE_JUMP_LENGTH);
	}
}

static void
try_exits(const struct st_function *f, struct probed *p, unsigned index)
{
	static struct machine before[TRIES], with[TRIES], after[TRIES];
	uint64_t seen_before[TRIES], seen_with[TRIES], seen_after[TRIES];
	void *function = (void *)(uintptr_t)(f->offset + bias);
	make_stubs(p, index);
	run_all(function, before, seen_before);
	put_probe(&p->site, &p->entry);
	put_exits(p);
	entries[index] = exits[index] = misplaced = 0;
	run_all(function, with, seen_with);
	uint32_t entered = entries[index], left = exits[index];
	remove_exits(p);
	remove_probe(&p->site);
	run_all(function, after, seen_after);
	if (memcmp(before, with, sizeof before) || memcmp(seen_before, seen_with, sizeof seen_with))
		fail_msg("%s does something else with patched exits", f->name);
	if (memcmp(before, after, sizeof before))
		fail_msg("%s does something else after patched exits", f->name);
	if (left != TRIES || entered < TRIES || misplaced)
		fail_msg("%s: %u entries, %u exits, %u at another place", f->name, entered, left,
		         misplaced);
}

static uint8_t
expected_refusal(const char *name)
{
	static const struct {
		const char *name;
		uint8_t refusal;
	} refused[] = {
	        {"o_unknown", ST_EXIT_NO_INDIRECT},   {"o_pushed", ST_EXIT_NO_STACK},
	        {"o_narrow", ST_EXIT_NO_NARROW},      {"o_part", ST_EXIT_NO_PART},
	        {"e_near_branch", ST_EXIT_NO_NARROW}, {"e_two_branches", ST_EXIT_NO_NARROW},
	        {"e_loop", ST_EXIT_NO_NARROW},        {"e_loopne", ST_EXIT_NO_NARROW},
	};
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		if (!strcmp(refused[i].name, name))
			return refused[i].refusal;
	return ST_EXIT_NO_NONE;
}

static bool
has_exits_to_try(const struct st_function *f)
{
	return !strncmp(f->name, "e_", 2) || !strncmp(f->name, "x_", 2) ||
	       !strncmp(f->name, "o_", 2);
}

static void
same_with_exits(void **state)
{
	size_t n, tried = 0, islands = 0, padded = 0;
	const struct st_function *v = st_image_functions(image, &n);
	struct probed *probed = calloc(n, sizeof *probed);
	struct st_probe_planner *own = st_probe_planner_new(image);
	(void)state;
	assert_true(probed && own);
	for (size_t i = 0; i < n; i++)
		if (has_exits_to_try(&v[i]))
			st_probe_judge(own, &v[i], &probed[i].site);
	for (size_t i = 0; i < n; i++) {
		if (!has_exits_to_try(&v[i]))
			continue;
		assert_int_equal(probed[i].site.refusal, ST_REFUSAL_NONE);
		st_probe_find_exits(own, &v[i], &probed[i].site, &probed[i].exits);
		if (probed[i].exits.refusal != expected_refusal(v[i].name))
			fail_msg("%s: %s", v[i].name, st_probe_exits_text(&probed[i].exits));
		for (size_t k = 0; k < probed[i].exits.list.n; k++) {
			const struct st_probe_exit *exit = &probed[i].exits.list.v[k];
			islands += exit->way == ST_PROBE_ISLAND;
			padded += exit->displaced < exit->patched;
		}
		if (!probed[i].exits.refusal)
			try_exits(&v[i], &probed[i], 100 + (unsigned)++tried);
		free(probed[i].exits.list.v);
	}
	assert_int_equal(tried, 43);
	assert_int_equal(islands, 6);
	assert_int_equal(padded, 14);
	st_probe_planner_free(own);
	free(probed);
}

/* ---- single sites ---- */

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
	assert_int_equal(site_of("n_frameless").refusal, ST_REFUSAL_NONE);
	assert_int_equal(site_of("n_data").refusal, ST_REFUSAL_NO_ENTRY);
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
	        cmocka_unit_test(same_with_exits),
	        cmocka_unit_test(refused),
	        cmocka_unit_test(ways),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
