/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of the results: their rows by keys; and counters. */
#include "rt/tool/tool.h"
#include "tools/cells.h"

static strobe_map tallies;             /* by key: id */
static strobe_map rows[ST_MAX_TABLES]; /* by hash of the keys: row */
static strobe_table *declared[ST_MAX_TABLES];

static uint64_t *
cell_row(uint32_t table, uint32_t row)
{
	const struct st_results_header *r = rt.results;
	return (uint64_t *)((char *)r + r->layout.off_tables) +
	       (uint64_t)table * ST_TABLE_ROWS * ST_MAX_COLUMNS +
	       (uint64_t)row * r->tables.v[table].n_columns;
}

/* tools.lock held by none: texts are added. */
static void
declare_table(strobe_table *t)
{
	struct st_results_header *r = rt.results;
	if (r->tables.n >= ST_MAX_TABLES)
		return;
	struct st_table *out = &r->tables.v[r->tables.n];
	*out = (struct st_table){.name = text_add(t->name),
	                         .help = text_add(t->help),
	                         .n_rows = 1,
	                         .tool = tool_current()};
	for (unsigned i = 0; i < STROBE_MOST_COLUMNS && t->columns[i].name; i++) {
		out->columns[i] = (struct st_column){text_add(t->columns[i].name),
		                                     (uint16_t)t->columns[i].type,
		                                     (uint16_t)t->columns[i].role};
		out->n_columns++;
		out->n_keys += t->columns[i].role == STROBE_IS_KEY;
	}
	__atomic_store_n(&r->tables.n, r->tables.n + 1, __ATOMIC_RELEASE);
	t->id = r->tables.n;
	declared[t->id - 1] = t;
}

static uint64_t
hash_cell_keys(const uint64_t *keys, unsigned n, unsigned salt)
{
	uint64_t h = salt + 1;
	for (unsigned i = 0; i < n; i++) {
		h = (h ^ keys[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 32;
	}
	return h ? h : 1;
}

static bool
has_cell_keys(const uint64_t *row, const uint64_t *keys, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (row[i] != keys[i])
			return false;
	return true;
}

/* The row with these keys, or 0, which is for all that find none. */
static uint32_t
find_cell(uint32_t table, const uint64_t *keys)
{
	struct st_table *t = &rt.results->tables.v[table];
	for (unsigned salt = 0; salt < 8; salt++) {
		uint64_t *known =
		        strobe_map_at(&rows[table], hash_cell_keys(keys, t->n_keys, salt));
		if (!known)
			return 0;
		if (*known) {
			if (has_cell_keys(cell_row(table, (uint32_t)*known), keys, t->n_keys))
				return (uint32_t)*known;
			continue; /* another of the same hash */
		}
		if (t->n_rows >= ST_TABLE_ROWS)
			return 0;
		memcpy(cell_row(table, t->n_rows), keys, t->n_keys * sizeof *keys);
		*known = t->n_rows;
		__atomic_store_n(&t->n_rows, t->n_rows + 1, __ATOMIC_RELEASE);
		return (uint32_t)*known;
	}
	return 0;
}

void
table_declare(strobe_table *table)
{
	if (!table->id)
		declare_table(table);
}

strobe_cell
strobe_find_cell(strobe_table *table, unsigned column, const uint64_t *keys)
{
	table_declare(table);
	if (!table->id)
		return (strobe_cell){0};
	tools_lock();
	uint32_t row = find_cell(table->id - 1, keys);
	tools_unlock();
	return (strobe_cell){ST_CELL(table->id, row, column)};
}

static uint64_t *
cell_number(strobe_cell c)
{
	uint32_t table = st_cell_table(c.cell);
	if (!table)
		return &rt.results->counters.sums[st_cell_row(c.cell) % ST_MAX_COUNTERS];
	return cell_row(table - 1, st_cell_row(c.cell)) + st_cell_column(c.cell);
}

void
strobe_cell_add(strobe_cell cell, uint64_t amount)
{
	__atomic_fetch_add(cell_number(cell), amount, __ATOMIC_RELAXED);
}

void
strobe_cell_max(strobe_cell cell, uint64_t value)
{
	uint64_t *at = cell_number(cell), now = __atomic_load_n(at, __ATOMIC_RELAXED);
	while (now < value && !__atomic_compare_exchange_n(at, &now, value, false, __ATOMIC_RELAXED,
	                                                   __ATOMIC_RELAXED))
		;
}

void
strobe_cell_min(strobe_cell cell, uint64_t value)
{
	uint64_t *at = cell_number(cell), now = __atomic_load_n(at, __ATOMIC_RELAXED);
	while (value && (!now || value < now) &&
	       !__atomic_compare_exchange_n(at, &now, value, false, __ATOMIC_RELAXED,
	                                    __ATOMIC_RELAXED))
		;
}

uint64_t *
strobe_row_numbers(strobe_cell cell)
{
	return cell_number(cell) - st_cell_column(cell.cell);
}

/* ---- counters ---- */

static struct st_amount *
table_amounts(void)
{
	return (struct st_amount *)((char *)rt.results + rt.results->layout.off_amounts);
}

uint32_t
counter_of(uint64_t key, uint64_t cell, int64_t amount)
{
	struct st_results_header *r = rt.results;
	uint64_t *known = strobe_map_at(&tallies, key);
	/* A value is the counter's id and where its amount is. */
	if (known && *known) {
		const struct st_amount *a = &table_amounts()[*known >> 32];
		if (a->cell == cell && a->amount == amount)
			return (uint32_t)*known;
	}
	if (!known || r->blocks.n >= ST_MAX_BLOCKS || r->blocks.n_amounts >= ST_MAX_AMOUNTS)
		return 0;
	uint32_t id = r->blocks.n;
	struct st_block *blocks = (void *)((char *)r + r->layout.off_blocks);
	blocks[id] = (struct st_block){.flags = ST_BLOCK_TALLY};
	table_amounts()[r->blocks.n_amounts] = (struct st_amount){id, 0, 1, cell, amount};
	*known = r->blocks.n_amounts << 32 | id;
	__atomic_store_n(&r->blocks.n_amounts, r->blocks.n_amounts + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&r->blocks.n, id + 1, __ATOMIC_RELEASE);
	return id;
}

/* ---- forks ---- */

static void
forget_cells(strobe_map *m)
{
	if (m->slots)
		rt_unmap_memory(m->slots, 2 * m->size * sizeof(uint64_t));
	*m = (strobe_map){0};
}

void
tables_forget(void)
{
	forget_cells(&tallies);
	for (unsigned i = 0; i < ST_MAX_TABLES; i++) {
		forget_cells(&rows[i]);
		if (declared[i])
			declared[i]->id = 0;
		declared[i] = NULL;
	}
}
