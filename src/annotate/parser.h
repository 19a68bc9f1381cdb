/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal: state of the parser of annotations, and its functions. */
#ifndef STROBE_ANNOTATE_PARSER_H
#define STROBE_ANNOTATE_PARSER_H

#include "annotate/annotation.h"

/* The text ends with a NUL and contains no other. */
struct st_ann_parser {
	const char *name, *text, *at;
	unsigned depth, operators; /* of the expression that is read */
	struct st_error *e;
};

/* Sets the message "NAME:LINE:COLUMN: CAUSE" and returns ST_FAILED. */
__attribute__((format(printf, 2, 3))) st_status st_ann_wrong(struct st_ann_parser *p,
                                                             const char *format, ...);
/* Sets the message that memory is exhausted and returns ST_FAILED. */
st_status st_ann_no_memory(struct st_ann_parser *p);
/* Skips blanks and comments. notes: stops at notes, which are skipped otherwise. */
void st_ann_blanks(struct st_ann_parser *p, bool notes);
/* Consumes the token if it comes next. */
bool st_ann_accept(struct st_ann_parser *p, const char *token);
st_status st_ann_expect(struct st_ann_parser *p, const char *token, const char *after);
/* Returns the text from `from` to the parser's position, malloc'ed. */
char *st_ann_taken(const struct st_ann_parser *p, const char *from);
/* Reads a name such as a or ns::b, malloc'ed. Returns NULL with *e if none comes next. */
char *st_ann_take_name(struct st_ann_parser *p, const char *what);
/* Reads a quoted text, malloc'ed; the parser must be at the opening quotation mark. */
char *st_ann_take_quoted(struct st_ann_parser *p);
st_status st_ann_take_number(struct st_ann_parser *p, double *number);

/* Return NULL with *e if the text is wrong. */
struct st_ann_expr *st_ann_take_condition(struct st_ann_parser *p);
struct st_ann_expr *st_ann_take_expr(struct st_ann_parser *p);

/* Calls `take` for each note that follows. */
struct st_ann_note {
	char *key, *value;
};
st_status st_ann_take_notes(struct st_ann_parser *p,
                            st_status (*take)(struct st_ann_parser *p, const struct st_ann_note *n,
                                              void *arg),
                            void *arg);

#endif
