/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fake.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "symbol/symbol.h"

enum {
	BLOCKS = 256,
	AMOUNTS = 1024,
	PARTIALS = 64,
	SLOTS = 8,
	MAPS = 16,
	THREADS = 16,
	SAMPLES = 1024,
	STRINGS = 8192,
	TABLES = 3,
	CONTEXTS = 32,
	LAST_ROWS = 64, /* of the last table */
	NUMBERS = ((TABLES - 1) * ST_TABLE_ROWS + LAST_ROWS) * ST_MAX_COLUMNS,
};

/* Sections of records that are multiples of eight bytes, so that each is aligned. */
struct fake {
	struct st_results_header header;
	struct st_map maps[MAPS];
	struct st_block blocks[BLOCKS];
	struct st_amount amounts[AMOUNTS];
	struct st_partial partials[PARTIALS];
	uint64_t counters[SLOTS][BLOCKS];
	struct st_thread threads[THREADS];
	struct st_sample samples[SAMPLES];
	uint64_t labels[CONTEXTS];
	strobe_node nodes[CONTEXTS];
	strobe_cost costs[CONTEXTS];
	char strings[STRINGS];
	uint64_t numbers[NUMBERS]; /* of tables */
};

/* Mapped, because most of it is never touched, and such that it ends where nothing is. */
enum { PAGE = 4096, ROOM = (sizeof(struct fake) + PAGE - 1) / PAGE * PAGE };

static struct fake *
map_fake(void)
{
	char *at = mmap(NULL, ROOM + PAGE, PROT_READ | PROT_WRITE,
	                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED || mprotect(at + ROOM, PAGE, PROT_NONE))
		abort();
	return (struct fake *)(at + ROOM - sizeof(struct fake));
}

static uint32_t
add_string(struct fake *f, const char *text)
{
	uint32_t at = f->header.strings.n;
	strcpy(f->strings + at, text);
	f->header.strings.n += (uint32_t)strlen(text) + 1;
	return at;
}

struct fake *
fake_new(const char *const *counters)
{
	struct fake *f = map_fake();
	struct st_results_header *h = &f->header;
	h->layout.magic = ST_RESULTS_MAGIC;
	h->layout.version = ST_WIRE_VERSION;
	h->run.state = ST_RUN_EXITED;
	h->contexts.has_costs = 1;
	h->layout.file_size = sizeof *f;
	h->layout.off_maps = offsetof(struct fake, maps);
	h->layout.off_strings = offsetof(struct fake, strings);
	h->layout.off_blocks = offsetof(struct fake, blocks);
	h->layout.off_amounts = offsetof(struct fake, amounts);
	h->layout.off_partials = offsetof(struct fake, partials);
	h->layout.off_threads = offsetof(struct fake, threads);
	h->layout.off_samples = offsetof(struct fake, samples);
	h->layout.off_labels = offsetof(struct fake, labels);
	h->layout.off_nodes = offsetof(struct fake, nodes);
	h->layout.off_costs = offsetof(struct fake, costs);
	h->layout.off_tables = offsetof(struct fake, numbers);
	h->layout.off_counters = offsetof(struct fake, counters);
	h->layout.counters_stride = sizeof f->counters[0];
	h->blocks.n = ST_FIRST_ID;
	h->threads.n_slots = 1;
	h->layout.slots_here = SLOTS;
	h->run.tsc_begin = 1000;
	h->run.tsc_end = 1000 + 500000000; /* half a second at a gigahertz */
	add_string(f, "");
	for (; *counters; counters++) {
		h->counters.names[h->counters.n] = add_string(f, *counters);
		h->counters.helps[h->counters.n++] = add_string(f, "as the test has it");
		h->blocks.counting = 1;
	}
	return f;
}

void
fake_free(struct fake *f)
{
	if (f)
		munmap((char *)f + sizeof *f - ROOM, ROOM + PAGE);
}

struct st_results_header *
fake_header(struct fake *f)
{
	return &f->header;
}

uint32_t
fake_map(struct fake *f, const char *path, uint64_t start, uint64_t end, uint64_t pgoff)
{
	struct st_map *m = &f->maps[f->header.maps.n];
	*m = (struct st_map){.start = start, .end = end, .pgoff = pgoff};
	m->path = path ? add_string(f, path) : 0;
	return f->header.maps.n++;
}

uint32_t
fake_block(struct fake *f, uint32_t map, uint64_t pc, uint32_t bytes, uint32_t insns,
           enum st_block_end end, uint64_t target)
{
	uint32_t id = f->header.blocks.n++, n = f->header.counters.n;
	f->blocks[id] = (struct st_block){.pc = pc,
	                                  .map = map,
	                                  .bytes = bytes,
	                                  .n_insns = insns,
	                                  .end = (uint16_t)end,
	                                  .target = target};
	for (uint32_t c = 0; c < n; c++) {
		const char *name = f->strings + f->header.counters.names[c];
		uint32_t points = strcmp(name, "instructions") ? 1 : insns;
		fake_amount(f, id, 0, points, ST_CELL(0, c, 0), 1);
	}
	return id;
}

uint32_t
fake_label(struct fake *f, uint64_t address, uint32_t bytes)
{
	if (!f->header.contexts.n_labels)
		f->header.contexts.n_labels = 1;
	f->labels[f->header.contexts.n_labels] = st_label_of_block(address, bytes);
	return f->header.contexts.n_labels++;
}

uint32_t
fake_node(struct fake *f, uint32_t label, uint32_t parent, uint64_t count)
{
	if (!f->header.contexts.n_nodes)
		f->header.contexts.n_nodes = 1;
	f->nodes[f->header.contexts.n_nodes] =
	        (strobe_node){.label = label, .parent = parent, .count = count};
	return f->header.contexts.n_nodes++;
}

uint32_t
fake_tally(struct fake *f)
{
	return f->header.blocks.n++;
}

void
fake_amount(struct fake *f, uint32_t block, uint32_t first, uint32_t last, uint64_t cell,
            int64_t amount)
{
	f->amounts[f->header.blocks.n_amounts++] =
	        (struct st_amount){block, (uint16_t)first, (uint16_t)last, cell, amount};
}

void
fake_count(struct fake *f, uint32_t slot, uint32_t block, uint64_t executions)
{
	f->counters[slot][block] += executions;
	if (slot >= f->header.threads.n_slots)
		f->header.threads.n_slots = slot + 1;
}

void
fake_partial(struct fake *f, uint32_t block, uint32_t insns)
{
	f->partials[f->header.blocks.n_partials++] = (struct st_partial){block, insns, 1};
}

uint32_t
fake_table(struct fake *f, const char *name, const strobe_column *columns)
{
	struct st_table *t = &f->header.tables.v[f->header.tables.n];
	*t = (struct st_table){
	        .name = add_string(f, name), .help = add_string(f, "a table"), .n_rows = 1};
	for (; columns->name; columns++) {
		t->columns[t->n_columns++] =
		        (struct st_column){add_string(f, columns->name), (uint16_t)columns->type,
		                           (uint16_t)columns->role};
		t->n_keys += columns->role == STROBE_IS_KEY;
	}
	return f->header.tables.n++;
}

uint32_t
fake_row(struct fake *f, uint32_t table, const uint64_t *values)
{
	struct st_table *t = &f->header.tables.v[table];
	uint64_t *numbers = f->numbers + (size_t)table * ST_TABLE_ROWS * ST_MAX_COLUMNS;
	memcpy(numbers + (size_t)t->n_rows * t->n_columns, values, t->n_columns * sizeof *values);
	return t->n_rows++;
}

uint32_t
fake_text(struct fake *f, const char *text)
{
	return add_string(f, text);
}

void
fake_samples(struct fake *f, uint64_t pc, uint32_t where, unsigned n)
{
	for (; n > 0; n--)
		f->samples[f->header.samples.n++] =
		        (struct st_sample){.pc = pc, .where = (uint8_t)where};
}

uint32_t
fake_thread(struct fake *f, uint32_t tid, const char *name, uint64_t begin, uint64_t end)
{
	struct st_thread *t = &f->threads[f->header.threads.n];
	*t = (struct st_thread){.tid = tid,
	                        .state = end ? ST_THREAD_ENDED : ST_THREAD_LIVE,
	                        .tsc_begin = begin,
	                        .tsc_end = end};
	strncpy(t->name, name, sizeof t->name);
	return f->header.threads.n++;
}

void
fake_fallback(struct fake *f, uint64_t pc, uint32_t cause, uint32_t count)
{
	f->header.fallbacks.v[f->header.fallbacks.n++] =
	        (struct st_fallback){.pc = pc, .cause = cause, .count = count};
}

struct st_process
fake_process(struct fake *f, uint32_t pid, uint32_t ppid, const char *command)
{
	f->header.layout.pid = pid;
	f->header.layout.ppid = ppid;
	return (struct st_process){.pid = pid,
	                           .ppid = ppid,
	                           .command = (char *)(uintptr_t)command,
	                           .results = &f->header,
	                           .results_size = sizeof *f,
	                           .exited = true};
}

const char *
fixture_path(void)
{
	const char *path = getenv("STROBE_FIXTURE");
	if (!path)
		abort(); /* the test was not started by meson */
	return path;
}

uint64_t
fixture_offset(const char *function)
{
	struct st_error e;
	struct st_image *image = st_image_open(fixture_path(), &e);
	size_t n = 0;
	const struct st_function *all = image ? st_image_functions(image, &n) : NULL;
	uint64_t offset = UINT64_MAX;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(all[i].name, function))
			offset = all[i].offset;
	if (offset == UINT64_MAX)
		abort();
	st_image_close(image);
	return offset;
}

/* The fixture is linked so that file offsets are link-time addresses less this; see meson.build. */
enum { FIXTURE_LINKED_AT = 0x10000 };

uint64_t
fixture_address(const char *function, uint64_t delta)
{
	return FIXTURE_BASE + fixture_offset(function) - FIXTURE_LINKED_AT + delta;
}

static void
fixture_block(struct fake *f, const char *function, uint64_t delta, uint32_t bytes, uint32_t insns,
              enum st_block_end end, int64_t target, uint64_t executions)
{
	uint64_t to = target < 0 ? 0 : fixture_address(function, (uint64_t)target);
	uint32_t id = fake_block(f, 0, fixture_address(function, delta), bytes, insns, end, to);
	fake_count(f, 0, id, executions / 2);
	fake_count(f, 3, id, executions - executions / 2);
}

struct fake *
fixture_results(void)
{
	static const char *const counters[] = {"blocks", "instructions", NULL};
	struct fake *f = fake_new(counters);
	fake_map(f, fixture_path(), FIXTURE_BASE + 0x1000, FIXTURE_BASE + 0x2000, 0x1000);
	fake_map(f, NULL, 0x7e0000000000, 0x7e0000001000, 0);
	fixture_block(f, "restart", 0, 4, 2, ST_END_BRANCH, 16, 100);
	fixture_block(f, "spin", 0, 10, 4, ST_END_BRANCH, 2, 5);
	fixture_block(f, "spin", 2, 8, 3, ST_END_BRANCH, 2, 40);
	fixture_block(f, "spin", 10, 1, 1, ST_END_RETURN, -1, 5);
	fixture_block(f, "restart", 4, 8, 2, ST_END_BRANCH, 0, 90);
	fixture_block(f, "restart", 12, 4, 2, ST_END_JUMP, 0, 60);
	fixture_block(f, "restart", 16, 1, 1, ST_END_RETURN, -1, 10);
	fixture_block(f, "vague", 0, 4, 2, ST_END_BRANCH, 0, 20);
	fixture_block(f, "vague", 4, 2, 1, ST_END_IJUMP, -1, 7);
	fixture_block(f, "caller", 5, 3, 2, ST_END_RETURN, -1, 5);
	fake_partial(f, f->header.blocks.n - 1, 1);
	uint32_t call = fake_block(f, 0, fixture_address("caller", 0), 5, 1, ST_END_CALL,
	                           fixture_address("spin", 0));
	fake_count(f, 0, call, 5);
	uint32_t made = fake_block(f, 1, 0x7e0000000100, 12, 4, ST_END_RETURN, 0);
	fake_count(f, 1, made, 3);
	fake_block(f, 1, 0x7e0000000200, 12, 4, ST_END_RETURN, 0); /* translated, never executed */
	fake_samples(f, fixture_address("spin", 5), ST_SAMPLE_CODE, 60);
	fake_samples(f, fixture_address("restart", 12), ST_SAMPLE_CODE, 20);
	fake_samples(f, fixture_address("caller", 5), ST_SAMPLE_SYSCALL, 30);
	fake_samples(f, fixture_address("restart", 0), ST_SAMPLE_RUNTIME, 10);
	uint32_t thread = fake_thread(f, 4711, "worker", 1000, 250001000);
	f->threads[thread].samples = 12;
	fake_thread(f, 4712, "a-name-of-16-cha", 2000, 0);
	fake_fallback(f, fixture_address("vague", 4), ST_FALLBACK_FAR, 2);
	f->header.stats[ST_STAT_blocks] = 13;
	f->header.stats[ST_STAT_syscalls] = 77;
	return f;
}

/* Two tables that have all types of keys between them. */
void
fixture_tables(struct fake *f)
{
	static const strobe_column calls[] = {STROBE_KEY("caller", STROBE_FUNCTION),
	                                      STROBE_KEY("callee", STROBE_FUNCTION),
	                                      STROBE_SUM("count", STROBE_NUMBER),
	                                      STROBE_MAX("longest", STROBE_TICKS),
	                                      {0}};
	static const strobe_column all[] = {
	        STROBE_KEY("source", STROBE_ADDRESS), STROBE_KEY("line", STROBE_LINE),
	        STROBE_KEY("call", STROBE_SYSCALL),   STROBE_KEY("text", STROBE_TEXT),
	        STROBE_KEY("thread", STROBE_THREAD),  STROBE_KEY("data", STROBE_HEX),
	        STROBE_SUM("change", STROBE_SIGNED),  {0}};
	static const strobe_column registers[] = {STROBE_KEY("insn", STROBE_MNEMONIC),
	                                          STROBE_KEY("category", STROBE_CATEGORY),
	                                          STROBE_KEY("read", STROBE_REGISTERS_READ),
	                                          STROBE_KEY("written", STROBE_REGISTERS_WRITTEN),
	                                          STROBE_SUM("n", STROBE_NUMBER),
	                                          {0}};
	uint64_t caller = fixture_address("caller", 0), spin = fixture_address("spin", 0);
	uint32_t pairs = fake_table(f, "pairs", calls);
	uint32_t row = fake_row(f, pairs, (uint64_t[]){caller, spin, 10, 500});
	fake_row(f, pairs, (uint64_t[]){caller + 5, spin + 10, 7, 700});
	fake_row(f, pairs, (uint64_t[]){caller, 0x7e0000000100, 2, 0});
	fake_row(f, pairs, (uint64_t[]){caller, 0x123, 1, 0});
	fake_row(f, pairs, (uint64_t[]){caller, 0x456, 0, 0}); /* of code that never ran */
	uint32_t tally = fake_tally(f);
	fake_amount(f, tally, 0, 1, ST_CELL(pairs + 1, row, 2), 1);
	fake_amount(f, tally, 0, 1, ST_CELL(pairs + 1, 0, 2), 1);
	fake_count(f, 0, tally, 100);
	uint32_t every = fake_table(f, "every-thing", all);
	uint64_t text = fake_text(f, "a,\"b\"\n");
	fake_row(f, every, (uint64_t[]){spin + 2, spin + 2, 0, text, 0, ~0ull, (uint64_t)-5});
	fake_row(f, every, (uint64_t[]){caller, 0x7e0000000100, 99999, 0, 7, 16, 3});
	uint32_t regs = fake_table(f, "registers", registers);
	uint64_t insn = fake_text(f, "01d8");           /* add eax, ebx */
	uint64_t load = fake_text(f, "488b0500000000"); /* mov rax, [rip] */
	fake_row(f, regs, (uint64_t[]){insn, insn, insn, insn, 4});
	fake_row(f, regs, (uint64_t[]){load, load, load, load, 4});
}

/* Paths of blocks that overlap: `spin` and generated code, both entered in their middle, too; a
 * block that was ended early once. */
void
fixture_contexts(struct fake *f)
{
	const uint64_t spin = fixture_address("spin", 0), made = 0x7e0000000100;
	uint32_t thread = fake_node(f, 0, 0, 0);
	uint32_t whole = fake_node(f, fake_label(f, spin, 10), thread, 5);
	uint32_t again = fake_node(f, fake_label(f, spin + 2, 8), whole, 40);
	fake_node(f, fake_label(f, spin + 10, 1), again, 5);
	uint32_t early = fake_node(f, fake_label(f, spin, 5), thread, 3);
	fake_node(f, fake_label(f, spin + 5, 5), early, 3);
	uint32_t first = fake_node(f, fake_label(f, made, 12), thread, 2);
	fake_node(f, fake_label(f, made + 4, 8), first, 7);
	fake_label(f, spin + 8, 2); /* translated, never executed */
}
