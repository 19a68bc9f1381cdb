/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results as one page for a browser: docs/report.md. */
#ifndef STROBE_REPORT_PAGE_H
#define STROBE_REPORT_PAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "profile/profile.h"

struct st_row_reader;

/* The part of each result that goes into the page. */
struct st_page_limits {
	size_t functions, rows; /* rows: of any other table; 0: all */
	bool sources;           /* also the text of source lines */
	bool all_sources;       /* of files that others may not read, too */
};

/* NULL, or why this strobe has no page to put data into. */
const char *st_page_missing(void);
/* A page without results. NULL: no memory. */
json_t *st_page_new(void);
/* Adds a result, called `label`. 0, or -1: no memory. */
int st_page_add_profile(json_t *page, const char *label, const struct st_profile *p,
                        const struct st_page_limits *limits);
/* The same of one that is JSON already; it is taken over. 0, or -1: no memory. */
int st_page_add_json(json_t *page, const char *label, json_t *result);
/* Reads a result that strobe wrote as JSON. NULL with *e when the file is none, or none that a page
 * has a view of. */
json_t *st_page_read_json(const char *path, struct st_error *e);
/* Whether it is a study of strobe tune (tune/study.h), which is not checked. */
bool st_page_is_study(const json_t *result);
/* Whether the file begins as JSON does. */
bool st_page_is_json(const char *path);
/* Nodes of calling contexts that the result which was added last has no room for. */
size_t st_page_left_out(const json_t *page);
/* Source files of it that are not for anybody. */
size_t st_page_kept_back(const json_t *page);
/* Adds to the result that was added last the timeline of its calls, from the rows that were
 * recorded of them. 0, or -1 with *e: they are rows of something else, or memory is exhausted. */
st_status st_page_add_timeline(json_t *page, const struct st_profile *p, struct st_row_reader *rows,
                               struct st_error *e);
/* The same from the rows of waits that strobe run -t locks:times recorded. */
st_status st_page_add_waits(json_t *page, const struct st_profile *p, struct st_row_reader *rows,
                            struct st_error *e);
/* page_blow.c: adds to the result that was added last, which is of strobe blow, its experiments,
 * and the timeline of the one that was recorded, if there is one. 0, or -1 with *e: it is damaged,
 * or memory is exhausted. */
st_status st_page_add_blow(json_t *page, const struct st_profile *p, struct st_error *e);
/* The same where there are no rows: says why there is no timeline. 0, or -1: no memory. */
int st_page_add_no_timeline(json_t *page, const char *reason);
/* Adds the history of a function over versions, which is taken over; NULL: there was no memory for
 * it. 0, or -1: no memory. */
int st_page_add_history(json_t *page, json_t *history);
/* Says which functions are the same in two of the results; after the last one was added. 0, or -1:
 * no memory. */
int st_page_match(json_t *page);
/* The page into a file, "-" standard output. 0, or -1 with *e. */
st_status st_page_write(json_t *page, const char *path, struct st_error *e);

/* The number of results. */
size_t st_page_results(const json_t *page);
/* The entry of the result that was added last. */
json_t *st_page_last(const json_t *page);
/* Of the code of the lines that the result has, and of `more`, a list like those (NULL: none): for
 * each file a list of a line's number and the texts from there on. all: also of those that are not
 * for anybody (report/source.h); *kept_back: how many were left out for that. NULL: no memory. */
json_t *st_page_sources(const json_t *result, const json_t *more, bool all, size_t *kept_back);
/* The calling contexts of a profile, without *left_out nodes that are too many or too deep for a
 * page; *loop_lines: the lines of functions that have loops, and how often they were executed,
 * NULL: it has none. NULL: it has none, or no memory. */
json_t *st_page_paths(const struct st_profile *p, size_t *left_out, json_t **loop_lines);
/* Of the code of the hottest blocks, at most `most` (0: as many as a page has): for each image, and
 * each block of it by its offset, the texts of its instructions. NULL: no memory. */
json_t *st_page_code(const struct st_profile *p, size_t most);
/* The conditional branches that the tool branches has counted, the most executed first, at most
 * `most` (0: all) of the *n. NULL: no memory. */
json_t *st_page_branches(const struct st_profile *p, size_t most, size_t *n);
/* The functions of a profile of strobe trace as docs/json.md has them, each with its `histogram`,
 * and `cut`: what the limits left out. NULL: it has none, or no memory. */
json_t *st_page_trace(const struct st_profile *p, const struct st_page_limits *limits);
/* Of each series of repeated measurements, and each of its features that can be x: the curve of
 * the kind of growth with the least AICc, and a sentence about it. NULL: there is none, or no
 * memory. */
json_t *st_page_models(const struct st_profile *p);

#endif
