/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The counters, tables and streams that a tool in a file declares: sections of it list them. */
#include <stdlib.h>
#include <string.h>

#include "toolkit/toolelf.h"

/* An entry of such a section: what is declared, its source file and line, and an unused word. */
enum { WHAT, SOURCE, LINE, ENTRY_WORDS = 4, ENTRY_BYTES = 8 * ENTRY_WORDS };

/* By enum st_tool_result_kind. */
static const char *const sections[ST_TOOL_KINDS] = {"strobe_counters", "strobe_tables",
                                                    "strobe_streams"};

/* The lists: where they are in the tool's memory. */
struct lists {
	uint64_t at[ST_TOOL_KINDS], n[ST_TOOL_KINDS];
};

static void
find_lists(const struct st_tool_file *f, const struct st_tool_bytes *b, struct lists *lists)
{
	Elf64_Ehdr h;
	Elf64_Shdr s, names;
	memcpy(&h, b->at, sizeof h);
	if (!st_tool_section(b, &h, h.e_shstrndx, &names) || names.sh_type != SHT_STRTAB)
		return;
	for (uint64_t i = 0; i < h.e_shnum; i++) {
		if (!st_tool_section(b, &h, i, &s) || s.sh_name >= names.sh_size ||
		    s.sh_addr > f->size || s.sh_size > f->size - s.sh_addr)
			continue;
		const char *name = (const char *)b->at + names.sh_offset + s.sh_name;
		size_t room = names.sh_size - s.sh_name;
		for (int k = 0; k < ST_TOOL_KINDS; k++)
			if (strnlen(name, room) < room && !strcmp(name, sections[k])) {
				lists->at[k] = s.sh_addr;
				lists->n[k] = s.sh_size / ENTRY_BYTES;
			}
	}
}

/* Copies what is declared at an offset. False: it is not within the tool. */
static bool
copy(const struct st_tool_file *f, uint64_t at, void *to, size_t bytes)
{
	if (at > f->size || bytes > f->size - at)
		return false;
	memcpy(to, f->memory + at, bytes);
	return true;
}

static bool
is_column(const strobe_column *c)
{
	return (unsigned)c->type <= STROBE_CALLER_LINE && (unsigned)c->role <= STROBE_IS_MIN;
}

/* Columns end at one without a name. */
static bool
take_columns(struct st_tool_file *f, struct st_tool_result *r, const strobe_column *columns)
{
	strobe_column *mine = f->columns[f->n_results];
	r->columns = mine;
	for (; r->n_columns < STROBE_MOST_COLUMNS && columns[r->n_columns].name; r->n_columns++) {
		mine[r->n_columns] = columns[r->n_columns];
		if (!is_column(&mine[r->n_columns]) || !st_tool_string(f, &mine[r->n_columns].name))
			return false;
	}
	return true;
}

static bool
toolresults_take_result(struct st_tool_file *f, enum st_tool_result_kind kind,
                        const uint64_t *entry)
{
	struct st_tool_result r = {.kind = kind, .line = entry[LINE]};
	uint64_t at = entry[WHAT];
	strobe_counter counter;
	strobe_table table;
	strobe_stream stream = {.consume = NULL};
	bool good;
	if (kind == ST_TOOL_COUNTER) {
		good = copy(f, at, &counter, sizeof counter);
		r.name = good ? counter.name : NULL;
		r.help = good ? counter.help : NULL;
	} else if (kind == ST_TOOL_TABLE) {
		good = copy(f, at, &table, sizeof table) && take_columns(f, &r, table.columns);
		r.name = good ? table.name : NULL;
		r.help = good ? table.help : NULL;
	} else {
		good = copy(f, at, &stream, sizeof stream) && take_columns(f, &r, stream.columns);
		r.name = good ? stream.name : NULL;
		r.help = good ? stream.help : NULL;
	}
	if (!good || !st_tool_string(f, &r.name) || !st_tool_string(f, &r.help))
		return false;
	if (!stream.consume)
		f->results[f->n_results++] = r;
	return true;
}

st_status
st_tool_results(struct st_tool_file *f, const struct st_tool_bytes *b, struct st_error *e)
{
	struct lists lists = {.n = {0}};
	size_t n = 1;
	find_lists(f, b, &lists);
	for (int k = 0; k < ST_TOOL_KINDS; k++)
		n += lists.n[k];
	f->results = calloc(n, sizeof *f->results);
	f->columns = calloc(n, sizeof *f->columns);
	if (!f->results || !f->columns)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	for (int k = 0; k < ST_TOOL_KINDS; k++)
		for (uint64_t i = 0; i < lists.n[k]; i++) {
			uint64_t entry[ENTRY_WORDS];
			memcpy(entry, f->memory + lists.at[k] + i * ENTRY_BYTES, sizeof entry);
			if (!toolresults_take_result(f, k, entry))
				return st_tool_damaged(f, "what it declares is not readable", e);
		}
	return 0;
}
