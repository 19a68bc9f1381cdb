/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints a profile as text and as JSON. */
#ifndef STROBE_REPORT_REPORT_H
#define STROBE_REPORT_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/profile.h"
#include "report/text.h"

#define ST_SORTS(ST_SORT)                                                                          \
	ST_SORT(TIME, "time")                                                                      \
	ST_SORT(TOTAL, "total")                                                                    \
	ST_SORT(WAITING, "waiting")                                                                \
	ST_SORT(TOTAL_WAITING, "total-waiting")                                                    \
	ST_SORT(INSTRUCTIONS, "instructions")                                                      \
	ST_SORT(CALLS, "calls")                                                                    \
	ST_SORT(NAME, "name")

enum st_report_sort {
#define ST_SORT(id, name) ST_SORT_##id,
	ST_SORTS(ST_SORT)
#undef ST_SORT
};

enum st_report_format {
	ST_FORMAT_TEXT,
	ST_FORMAT_JSON,
	ST_FORMAT_CSV,
	ST_FORMAT_LCOV,
	ST_FORMAT_MARKDOWN,
	ST_FORMAT_LATEX,
};

/* A request for one table. */
struct st_table_choice {
	const char *columns;      /* "caller,count"; NULL: the usual ones */
	const char *sort;         /* name of a column; NULL: as the rows are */
	const char *const *where; /* conditions that all must hold, "count>=100" */
	size_t n_where;
	enum st_report_format format;
};

/* Parts of a report beyond the functions. */
enum {
	ST_PART_LINES = 1,
	ST_PART_BLOCKS = 2,
	ST_PART_IMAGES = 4,
	ST_PART_THREADS = 8,
	ST_PART_STATS = 16,
	ST_PART_STACKS = 32, /* printed by st_report_stacks: a profile may have none */
};

struct st_report {
	const struct st_profile *profile;
	enum st_report_sort sort;
	size_t top;       /* rows of each table; 0: all */
	size_t top_parts; /* lines and blocks in JSON, the hottest; 0: all */
	unsigned parts;
	bool no_tables; /* the tables of tools are left out: they are shown in another form */
	struct st_style style;
};

/* The command, its options, totals, and, for a tool that has them, the top functions. */
void st_report_summary(const struct st_report *r, FILE *out);
/* The first rows of each table of the tools. */
void st_report_tables(const struct st_report *r, FILE *out);
/* One of them, or of those that every profile may have (report/grid.c). 0, or -1 with *e. */
st_status st_report_table(const struct st_report *r, FILE *out, const char *name,
                          const struct st_table_choice *choice, struct st_error *e);
/* Overshoots of the budget, and quality of service, over time. 0, or -1 with *e. */
st_status st_report_overshoots(const struct st_report *r, FILE *out, enum st_report_format format,
                               struct st_error *e);
st_status st_report_qos(const struct st_report *r, FILE *out, enum st_report_format format,
                        struct st_error *e);
/* The first rows of a stream, top 0: all; as JSON an object a line. 0, or -1 with *e. */
struct st_row_reader;
st_status st_report_rows(struct st_row_reader *reader, FILE *out, enum st_report_format format,
                         uint64_t top, struct st_style style, struct st_error *e);
/* One table for each of r->parts. */
void st_report_parts(const struct st_report *r, FILE *out);
/* Where the result is and what to do next; path NULL: nowhere. */
void st_report_next(const struct st_report *r, FILE *out, const char *path);

/*
 * Annotated source and disassembly of the functions of that name; if there is none, of those that
 * it fits as a shell pattern. A part of a name will do when one function only has it. 0, or -1 with
 * *e when there is none or no single one.
 */
st_status st_report_function(const struct st_report *r, FILE *out, const char *name,
                             struct st_error *e);

/* The result as one JSON object and a newline, malloc'ed; docs/json.md. NULL and *e when memory is
 * exhausted. */
char *st_report_json(const struct st_report *r, struct st_error *e);

/* Indices of all functions in the order of r->sort, hottest first; *n receives their number. NULL:
 * no memory. */
uint32_t *st_report_order(const struct st_report *r, size_t *n);
/* Indices of n things as compare, which is handed r, orders them. NULL: no memory. */
uint32_t *st_report_ordered(const struct st_report *r, size_t n,
                            int (*compare)(const void *, const void *, void *));
/* All lines, and some blocks, the hottest first. */
uint32_t *st_report_line_order(const struct st_report *r);
uint32_t *st_report_block_order(const struct st_report *r, const struct st_profile_block *v,
                                size_t n);
/* Which lines are among the r->top_parts hottest. malloc'ed; NULL: no memory. */
bool *st_report_hottest_lines(const struct st_report *r);
/* Adds a cell "name [image]" for a function. */
void st_table_function(struct st_table *t, const struct st_profile *p, uint32_t function);

#endif
