/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/forkserver.h"

#include <asm/unistd.h>
#include <linux/mman.h>

#include "rt/jit/jit.h"
#include "rt/os/os.h"
#include "rt/tool/tool.h"
#include "wire/results/forest.h"

enum {
	FORK = 17,                                   /* SIGCHLD */
	FORK_WITH_TID = FORK | 0x200000 | 0x1000000, /* CHILD_CLEARTID, CHILD_SETTID */
	MOST_NEW = 1 << 16, /* blocks of one execution that are translated ahead */
	MOST_PARTIALS = 64,
};

/* The part of the header that an execution changes, apart from the statistics. */
enum {
	STATE_FROM = offsetof(struct st_results_header, run),
	STATE_BYTES = offsetof(struct st_results_header, counters) - STATE_FROM,
};

/* The results and the thread at the entry point. */
static struct {
	char state[STATE_BYTES];
	uint64_t stats[ST_STAT_COUNT];
	struct st_partial partials[MOST_PARTIALS];
	uint64_t *counts[2]; /* of slots 0 and 1, n_blocks of each */
	uint32_t n_blocks;
	strobe_node *nodes; /* n_nodes of each; NULL: no tool has made any */
	strobe_cost *costs;
	uint32_t n_nodes;
	uint32_t n_tables, n_rows[ST_MAX_TABLES];
	uint32_t n_sites;                               /* of tool/targets.c */
	uint32_t images_done, n_entries, n_entry_names; /* of the control structure */
	uint32_t *tid; /* in the C library's data, for pthread_kill and others; NULL: not known */
	uint64_t robust_list, robust_bytes;
} at_entry;

/* Mapped by a fork server only: every child of every program that runs natively keeps the runtime's
 * data. */
static uint64_t *new_blocks;

/* The value of the auxiliary vector's AT_ENTRY, which lies after arguments and environment. */
static uint64_t
find_entry(const uint64_t *stack)
{
	enum { AT_NULL = 0, AT_ENTRY = 9 };
	const uint64_t *v = stack + 1 + stack[0] + 1;
	while (*v++)
		;
	for (; v[0] != AT_NULL; v += 2)
		if (v[0] == AT_ENTRY)
			return v[1];
	return FORKSERVER_NOWHERE;
}

void
forkserver_init(void)
{
	rt.serve_entry = FORKSERVER_NOWHERE;
	rt.serves = rt.results->plan.serves && !rt.boot->attached;
	if (rt.serves)
		rt.serve_entry = find_entry((const uint64_t *)rt.boot->regs[RSP]);
}

/* ---- a cache that is copied with the process ---- */

static void
copy_part(uint64_t to, uint32_t from, uint64_t bytes)
{
	memcpy((void *)(to + from), (const void *)(rt.target.area + from), bytes);
}

/* The cache is mapped twice, and shared, so that no page of it is writable and executable. A copy
 * of the process needs one of its own that costs nothing until it is written to: private memory,
 * mapped once. */
static bool
make_cache_private(void)
{
	const int prot = PROT_READ | PROT_WRITE | PROT_EXEC;
	long p = SYS(__NR_mmap, 0, ST_CACHE_SIZE, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	             -1, 0);
	if (sys_failed(p))
		return false;
	copy_part((uint64_t)p, 0, jit.hot);
	copy_part((uint64_t)p, ST_AREA_WARM, jit.warm.next - ST_AREA_WARM);
	copy_part((uint64_t)p, ST_AREA_COLD, (uint64_t)jit.n_stubs * jit_stub_len());
	if (sys_failed(SYS(__NR_mremap, p, ST_CACHE_SIZE, ST_CACHE_SIZE, 3 /* MAYMOVE | FIXED */,
	                   rt.target.area))) {
		SYS(__NR_munmap, p, ST_CACHE_SIZE);
		return false;
	}
	SYS(__NR_madvise, rt.target.area, ST_CACHE_SIZE, 16 /* MADV_DONTDUMP */);
	SYS(__NR_munmap, rt.alias, ST_CACHE_SIZE);
	rt.alias = rt.target.area;
	return true;
}

/* ---- the results ---- */

static void *
results_section(uint64_t offset)
{
	return (char *)rt.results + offset;
}

static uint64_t *
counts_of(uint32_t slot)
{
	return results_section(rt.results->layout.off_counters +
	                       slot * rt.results->layout.counters_stride);
}

/* Blocks that are translated ahead have no counts yet, and the rows of tables that they count in
 * have none. */
static void
keep_state(void)
{
	const struct st_table_results *tables = &rt.results->tables;
	memcpy(at_entry.state, (char *)rt.results + STATE_FROM, STATE_BYTES);
	at_entry.n_sites = targets_sites();
	at_entry.n_tables = tables->n;
	for (uint32_t i = 0; i < tables->n; i++)
		at_entry.n_rows[i] = tables->v[i].n_rows;
}

/* Takes the rows back that an execution has made, and with them tables. */
static void
restore_tables(void)
{
	struct st_table_results *tables = &rt.results->tables;
	for (uint32_t i = 0; i < tables->n; i++) {
		const struct st_table *table = &tables->v[i];
		const uint32_t kept = i < at_entry.n_tables ? at_entry.n_rows[i] : 0;
		uint64_t *rows = results_section(rt.results->layout.off_tables);
		rows += (uint64_t)i * ST_TABLE_ROWS * ST_MAX_COLUMNS;
		if (table->n_rows > kept)
			memset(rows + (uint64_t)kept * table->n_columns, 0,
			       (uint64_t)(table->n_rows - kept) * table->n_columns * sizeof *rows);
		tables->v[i].n_rows = kept;
	}
	tables->n = at_entry.n_tables;
}

static strobe_node *
nodes_of_results(void)
{
	return results_section(rt.results->layout.off_nodes);
}

static strobe_cost *
costs_of_results(void)
{
	return results_section(rt.results->layout.off_costs);
}

/* Keeps the contexts that the tool `contexts` has found before the entry point. */
static bool
keep_forest(void)
{
	const uint32_t n = rt.results->contexts.n_nodes;
	if (n <= 1)
		return true;
	at_entry.nodes = rt_map_memory(n * sizeof *at_entry.nodes);
	at_entry.costs = rt_map_memory(n * sizeof *at_entry.costs);
	if (!at_entry.nodes || !at_entry.costs)
		return false;
	memcpy(at_entry.nodes, nodes_of_results(), n * sizeof *at_entry.nodes);
	memcpy(at_entry.costs, costs_of_results(), n * sizeof *at_entry.costs);
	at_entry.n_nodes = n;
	return true;
}

static void
restore_forest(void)
{
	const uint32_t n = rt.results->contexts.n_nodes, kept = at_entry.n_nodes;
	if (n > kept) {
		memset(nodes_of_results() + kept, 0, (n - kept) * sizeof(strobe_node));
		memset(costs_of_results() + kept, 0, (n - kept) * sizeof(strobe_cost));
	}
	if (!kept)
		return;
	memcpy(nodes_of_results(), at_entry.nodes, kept * sizeof(strobe_node));
	memcpy(costs_of_results(), at_entry.costs, kept * sizeof(strobe_cost));
}

/* Each copy that loads a library asks the controller for the functions of the library, even if an
 * earlier copy has loaded it. */
static void
restore_entries(void)
{
	struct st_control *c = &rt.results->control;
	__atomic_store_n(&c->images_done, at_entry.images_done, __ATOMIC_SEQ_CST);
	c->n_entries = at_entry.n_entries;
	c->n_entry_names = at_entry.n_entry_names;
}

static void
keep_entries(void)
{
	const struct st_control *c = &rt.results->control;
	at_entry.images_done = c->images_done;
	at_entry.n_entries = c->n_entries;
	at_entry.n_entry_names = c->n_entry_names;
}

static bool
keep_results(void)
{
	const struct st_results_header *r = rt.results;
	uint32_t n = r->blocks.n;
	new_blocks = rt_map_memory(MOST_NEW * sizeof *new_blocks);
	if (r->blocks.n_partials > MOST_PARTIALS || !new_blocks)
		return false;
	memcpy(at_entry.partials, results_section(r->layout.off_partials),
	       sizeof at_entry.partials);
	memcpy(at_entry.stats, r->stats, sizeof at_entry.stats);
	for (uint32_t slot = 0; slot < 2; slot++) {
		at_entry.counts[slot] = rt_map_memory(n * sizeof(uint64_t) + 1);
		if (!at_entry.counts[slot])
			return false;
		memcpy(at_entry.counts[slot], counts_of(slot), n * sizeof(uint64_t));
	}
	at_entry.n_blocks = n;
	keep_entries();
	keep_state();
	return keep_forest();
}

/* After an execution that has reported n_blocks. */
static void
restore_results(uint32_t n_blocks, uint32_t n_slots)
{
	struct st_results_header *r = rt.results;
	uint32_t kept = at_entry.n_blocks;
	for (uint32_t slot = 0; slot < n_slots; slot++) {
		uint64_t *counts = counts_of(slot);
		uint32_t from = slot < 2 ? kept : 0;
		memset(counts + from, 0, (n_blocks - from) * sizeof *counts);
		if (slot < 2)
			memcpy(counts, at_entry.counts[slot], kept * sizeof *counts);
	}
	memcpy(results_section(r->layout.off_partials), at_entry.partials,
	       sizeof at_entry.partials);
	restore_forest();
	restore_tables();
	restore_entries();
	memcpy(r->stats, at_entry.stats, sizeof at_entry.stats);
	memcpy((char *)r + STATE_FROM, at_entry.state, STATE_BYTES);
	r->fallbacks.n = 0;
}

/* Learns from the last execution, and makes the results ready for the next one. */
static void
prepare_next(void)
{
	struct st_results_header *r = rt.results;
	struct st_serve *serve = &r->control.serve;
	const struct st_block *blocks = results_section(r->layout.off_blocks);
	uint32_t n_blocks = r->blocks.n, n_slots = r->threads.n_slots, n_new = 0;
	const struct st_block_results *known =
	        (const void *)(at_entry.state + offsetof(struct st_results_header, blocks) -
	                       STATE_FROM);
	for (uint32_t id = known->n; id < n_blocks && n_new < MOST_NEW; id++)
		if (!(blocks[id].flags & ST_BLOCK_TALLY))
			new_blocks[n_new++] = blocks[id].pc;
	restore_results(n_blocks, n_slots);
	uint32_t n_misses = serve->n_misses < ST_SERVE_MISSES ? serve->n_misses : ST_SERVE_MISSES;
	if (n_new || n_misses || serve->n_directions) {
		jit_translate_ahead(new_blocks, n_new, serve, n_misses);
		memcpy(r->stats, at_entry.stats, sizeof at_entry.stats);
		keep_state();
	}
	serve->n_misses = 0;
	serve->n_directions = 0;
}

void
forkserver_missed(uint64_t pc, uint32_t site)
{
	struct st_serve *serve = &rt.results->control.serve;
	if (serve->n_misses >= ST_SERVE_MISSES)
		return;
	serve->misses[serve->n_misses] = pc;
	/* The server does not know the branches that a copy was the first to translate. */
	serve->miss_sites[serve->n_misses++] = site <= at_entry.n_sites ? site : 0;
}

/* ---- executions ---- */

static void
tell(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
	SYS(__NR_futex, word, 1 /* FUTEX_WAKE */, 1);
}

/* Finds what the kernel and the C library know of the thread and fork does not copy. */
static void
keep_thread(const struct thread *t)
{
	uint32_t *word = NULL;
	if (SYS(__NR_prctl, 40 /* PR_GET_TID_ADDRESS */, &word) == 0 && word && *word == t->tid)
		at_entry.tid = word; /* musl names another word to the kernel */
	SYS(__NR_get_robust_list, 0, &at_entry.robust_list, &at_entry.robust_bytes);
}

/* In a copy. Its standard input shares its offset with those of the copies before. */
static void
serve_begin_copy(struct thread *t)
{
	enum { SET_PDEATHSIG = 1, SIGKILL_IT = 9 };
	uint32_t server = rt.pid;
	rt.served = true;
	rt.pid = (uint32_t)SYS(__NR_getpid);
	rt.boot->controller = (uint32_t)SYS(__NR_getppid);
	t->tid = (uint32_t)SYS(__NR_gettid);
	SYS(__NR_setpgid, 0, 0);
	SYS(__NR_prctl, SET_PDEATHSIG, SIGKILL_IT);
	if (rt.boot->controller != server || (uint32_t)SYS(__NR_getppid) != server)
		SYS(__NR_exit_group, 125); /* the server had ended before */
	if (at_entry.robust_list)
		SYS(__NR_set_robust_list, at_entry.robust_list, at_entry.robust_bytes);
	SYS(__NR_lseek, 0, 0, 0);
}

/* True in the copy. */
static bool
serve_once(struct st_serve *serve)
{
	int status = -1;
	long pid = SYS(__NR_clone, at_entry.tid ? FORK_WITH_TID : FORK, 0, 0, at_entry.tid, 0);
	if (pid == 0)
		return true;
	if (pid > 0) {
		SYS(__NR_setpgid, pid, pid);
		__atomic_store_n(&serve->child, (uint32_t)pid, __ATOMIC_SEQ_CST);
		while (SYS(__NR_wait4, pid, &status, 0, 0) == -4 /* EINTR */)
			;
		__atomic_store_n(&serve->child, 0, __ATOMIC_SEQ_CST);
	}
	serve->status = status;
	return false;
}

static void
serve_executions(struct thread *t, struct st_serve *serve)
{
	for (uint32_t n = 0;; n++) {
		while (__atomic_load_n(&serve->asked, __ATOMIC_SEQ_CST) == n)
			SYS(__NR_futex, &serve->asked, 0 /* FUTEX_WAIT */, n, 0);
		prepare_next();
		if (serve_once(serve)) {
			serve_begin_copy(t);
			return;
		}
		tell(&serve->ended, n + 1);
	}
}

void
forkserver_run(struct thread *t)
{
	struct st_serve *serve = &rt.results->control.serve;
	rt.serve_entry = FORKSERVER_NOWHERE;
	if (t != rt.main || t->next_thread || rt.threads != t || !keep_results() ||
	    !make_cache_private()) {
		tell(&serve->state, ST_SERVE_NOT);
		return;
	}
	uint64_t mask = signals_block_all();
	keep_thread(t);
	tell(&serve->state, ST_SERVE_READY);
	serve_executions(t, serve);
	SYS(__NR_rt_sigprocmask, 2 /* SIG_SETMASK */, &mask, 0, 8);
}
