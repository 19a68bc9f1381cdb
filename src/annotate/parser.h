/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside the parser of annotations: where it stands, and what its parts take from the text. */
#ifndef STROBE_ANNOTATE_PARSER_H
#define STROBE_ANNOTATE_PARSER_H

#include "annotate/annotation.h"

/* The text ends with a NUL, which it has nowhere else. */
struct st_ann_parser {
	const char *name, *text, *at;
	unsigned depth, operators; /* of the expression that is read */
	struct st_error *e;
};

/* "NAME:LINE:COLUMN: " and the cause; returns ST_FAILED. */
__attribute__((format(printf, 2, 3))) st_status st_ann_wrong(struct st_ann_parser *p,
                                                             const char *format, ...);
/* Memory is exhausted, as the status says. */
st_status st_ann_no_memory(struct st_ann_parser *p);
/* Passes over blanks and comments, but not over notes when `notes`. */
void st_ann_blanks(struct st_ann_parser *p, bool notes);
/* Takes this token if it stands there. */
bool st_ann_accept(struct st_ann_parser *p, const char *token);
st_status st_ann_expect(struct st_ann_parser *p, const char *token, const char *after);
/* The text from `from` to where the parser stands, malloc'ed. */
char *st_ann_taken(const struct st_ann_parser *p, const char *from);
/* A name such as a, ns::b; NULL with *e when there is none. malloc'ed. */
char *st_ann_take_name(struct st_ann_parser *p, const char *what);
/* What stands in double quotes; the parser stands at the first. */
char *st_ann_take_quoted(struct st_ann_parser *p);
st_status st_ann_take_number(struct st_ann_parser *p, double *number);

/* NULL with *e. */
struct st_ann_expr *st_ann_take_condition(struct st_ann_parser *p);
struct st_ann_expr *st_ann_take_expr(struct st_ann_parser *p);
/* A path as text without blanks. */
char *st_ann_take_path(struct st_ann_parser *p);

/* Notes behind what was read: keys and their texts, until no more follow. */
struct st_ann_note {
	char *key, *value;
};
st_status st_ann_take_notes(struct st_ann_parser *p,
                            st_status (*take)(struct st_ann_parser *p, const struct st_ann_note *n,
                                              void *arg),
                            void *arg);

#endif
