/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A tool in a file, as strobe build-tool makes it: read, checked, described. Nothing of it is
 * executed here. What can be wrong with it is found when it is read, before any program runs.
 */
#ifndef STROBE_TOOLKIT_TOOLFILE_H
#define STROBE_TOOLKIT_TOOLFILE_H

#include <stdbool.h>
#include <strobe/tool.h>

#include "base/error.h"

struct st_tool_file;

/* NULL and *e when there is none, or one that cannot be used. */
struct st_tool_file *st_tool_file_read(const char *path, struct st_error *e);
void st_tool_file_free(struct st_tool_file *file);

/* The tool's description. Its strings belong to the file; its functions are offsets into the tool's
 * memory, not to be called. */
const strobe_tool *st_tool_file_about(const struct st_tool_file *file);
const char *st_tool_file_path(const struct st_tool_file *file);

/* A counter, table or stream that a tool declares. */
enum st_tool_result_kind { ST_TOOL_COUNTER, ST_TOOL_TABLE, ST_TOOL_STREAM, ST_TOOL_KINDS };
struct st_tool_result {
	enum st_tool_result_kind kind;
	uint64_t line; /* where it stands in the source */
	const char *name, *help;
	const strobe_column *columns;
	size_t n_columns;
};
/* Those of the file, but for streams that the tool consumes itself. None when its sections are not
 * there any more. */
size_t st_tool_file_results(const struct st_tool_file *file, const struct st_tool_result **results);

/* ---- for those who map it, or look into it ---- */

/* Pages of the tool's memory with the same protection: offsets from where it is loaded. */
struct st_tool_part {
	uint64_t start, end;
	bool written, executed;
};
enum { ST_TOOL_PARTS = 8 };

/* Its memory made ready to lie at `address`, with the runtime at `runtime`: *size bytes, a multiple
 * of the page size, malloc'ed. NULL: out of memory. */
unsigned char *st_tool_file_place(const struct st_tool_file *file, uint64_t address,
                                  uint64_t runtime, size_t *size);
size_t st_tool_file_parts(const struct st_tool_file *file, const struct st_tool_part **parts);
/* Its memory before relocation. */
const unsigned char *st_tool_file_memory(const struct st_tool_file *file, size_t *size);
/* Where in it the strobe_tool lies. */
uint64_t st_tool_file_entry(const struct st_tool_file *file);
/* Does it refer to the runtime's function of that name? */
bool st_tool_file_uses(const struct st_tool_file *file, const char *name);
/* The function at an offset, and the offset in it; NULL when that is not known. */
const char *st_tool_file_function(const struct st_tool_file *file, uint64_t offset,
                                  uint64_t *delta);

#endif
