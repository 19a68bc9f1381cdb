/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any table of a profile as rows of named columns, for strobe show --table: which columns and rows
 * are asked for, in which order, and the formats. Cells are made when they are asked for, so that a
 * table of a million rows needs no copy of them.
 */
#ifndef STROBE_REPORT_GRID_H
#define STROBE_REPORT_GRID_H

#include "report/report.h"

enum st_grid_kind {
	ST_GRID_NULL, /* not known */
	ST_GRID_COUNT,
	ST_GRID_SIGNED,
	ST_GRID_HEX,
	ST_GRID_REAL,
	ST_GRID_TEXT, /* with a number that decides between equal texts */
};

struct st_grid_cell {
	enum st_grid_kind kind;
	uint64_t number;
	double real;
	const char *text; /* lives as long as the grid; of a COUNT: what it is sorted by, or NULL */
};

struct st_grid_column {
	char name[80];
	bool left, number; /* aligned; its cells are numbers */
	bool data;         /* CSV and JSON have it if no columns are named */
	size_t position;   /* the same of the other formats: in this order; 0: they do not */
	size_t of, part;   /* for the source */
	bool timed;        /* people get its nanoseconds with a unit: so its title has none */
};

struct st_grid {
	const struct st_profile *profile;
	const char *name, *help;
	const char *more; /* options that print all rows; NULL: "--table NAME, --top" */
	ST_VEC(struct st_grid_column) columns;
	size_t rows;
	bool others; /* the last row stands for all that found no row of its own */
	const void *of;
	void (*cell)(const struct st_grid *g, size_t row, const struct st_grid_column *c,
	             struct st_grid_cell *out);
	/* For people, malloc'ed; NULL: no memory. The function itself NULL: as its kind says. */
	char *(*text)(const struct st_grid *g, size_t row, const struct st_grid_column *c);
	void *owned;                  /* of the source, released by: */
	void (*release)(void *owned); /* NULL: nothing is */
};

/* The names of all tables of a profile: those of its tools first, in their order. */
struct st_grid_names {
	const char **v;
	size_t n, cap;
};
/* -1: no memory. The caller frees names->v in both cases. */
st_status st_grid_names(const struct st_profile *p, struct st_grid_names *names);

/* The table of that name; it refers to the profile. 0, or -1 with *e; the caller frees in both
 * cases. */
st_status st_grid_open(struct st_grid *g, const struct st_profile *p, const char *name,
                       struct st_error *e);
void st_grid_free(struct st_grid *g);

/* The columns and rows that are asked for. */
struct st_grid_view {
	const struct st_grid *grid;
	ST_VEC(const struct st_grid_column *) columns;
	uint32_t *rows; /* indices, in their order */
	size_t n, all;  /* those that --top leaves; all that fit */
	bool others;    /* the others' row is shown, too */
};
st_status st_grid_view_make(struct st_grid_view *v, const struct st_grid *g,
                            const struct st_report *r, const struct st_table_choice *choice,
                            struct st_error *e);
void st_grid_view_free(struct st_grid_view *v);
st_status st_grid_print(const struct st_grid_view *v, const struct st_report *r, FILE *out,
                        enum st_report_format format, struct st_error *e);

/* The name of the column as people read it, malloc'ed; NULL: no memory. */
char *st_grid_title(const struct st_grid_column *c);

/* Inside: the sources. 0, or -1: no memory. */
st_status st_grid_of_table(struct st_grid *g, const struct st_profile *p,
                           const struct st_profile_table *t);
st_status st_grid_of_functions(struct st_grid *g, const struct st_profile *p);
st_status st_grid_of_lines(struct st_grid *g, const struct st_profile *p);
st_status st_grid_of_images(struct st_grid *g, const struct st_profile *p);
st_status st_grid_of_threads(struct st_grid *g, const struct st_profile *p);
st_status st_grid_of_processes(struct st_grid *g, const struct st_profile *p);
st_status st_grid_of_series(struct st_grid *g, const struct st_profile *p);
st_status st_grid_of_measurements(struct st_grid *g, const struct st_profile *p);
/* Adds a column that all formats have. NULL: no memory. */
struct st_grid_column *st_grid_add(struct st_grid *g, const char *name, bool number, size_t of);
/* The i-th of the columns that formats for people have, in their order; NULL: there are no more. */
const struct st_grid_column *st_grid_shown_column(const struct st_grid *g, size_t i);
/* The text of a cell as its kind says, malloc'ed. NULL: no memory. */
char *st_grid_plain(const struct st_grid_cell *cell);
/* The end of a message about an unknown name: the nearest one, or all of them. malloc'ed. */
char *st_grid_suggest(const char *word, const char *all, size_t n,
                      const char *(*get)(const void *, size_t), const void *of);
/* Rows in the order of a column; NULL: as they are. *order receives indices. 0, or -1: no memory.
 */
st_status st_grid_order(const struct st_grid *g, const struct st_grid_column *column,
                        uint32_t *order, size_t n);
/* The rows for which all conditions hold; *n of them. 0, or -1 with *e. */
st_status st_grid_filter(const struct st_grid *g, const char *const *where, size_t n_where,
                         uint32_t *rows, size_t *n, struct st_error *e);
/* The column of that name. NULL with *e when there is none. */
const struct st_grid_column *st_grid_column_of(const struct st_grid *g, const char *name,
                                               struct st_error *e);

#endif
