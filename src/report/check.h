/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the result of a check as text, Markdown or JSON. */
#ifndef STROBE_REPORT_CHECK_H
#define STROBE_REPORT_CHECK_H

#include <jansson.h>

#include "check/check.h"
#include "report/text.h"

struct st_check_report {
	const struct st_check_result *result;
	enum st_check_method method;
	size_t rule;            /* the rule that chose the method, from 1; 0: none */
	const char *rules_file; /* in which the rule is */
	const struct st_check_how *how;
	const char *title; /* the command; NULL: unknown */
	const char *names[ST_SIDES];
	const char *machines; /* in what the machines of the profiles differ; NULL: nothing */
	double cutoff;        /* smaller changes, as shares of the whole, are left out */
	size_t top;           /* rows; 0: all */
	bool all;             /* also locations without a change */
	bool markdown;
	struct st_style style;
};

/* Whether the report lists the finding. */
bool st_check_is_listed(const struct st_check_report *r, const struct st_finding *f);
/* The certainty of the finding, such as "exact" or "q 0.003". Returns text. */
const char *st_check_sureness(const struct st_finding *f, char *text, size_t size);

/* ST_FAILED with *e: no memory. */
st_status st_check_print(const struct st_check_report *r, FILE *out, struct st_error *e);

/* The document, to which groups are added. */
struct st_check_json {
	bool used[ST_CHECK_METHOD_COUNT]; /* methods */
	json_t *methods, *changes, *groups;
};
void st_check_json_begin(struct st_check_json *j);
st_status st_check_json_add(struct st_check_json *j, const struct st_check_report *r,
                            struct st_error *e);
/* Releases it: malloc'ed text, NULL with *e. failed: NULL, and *e remains. */
char *st_check_json_end(struct st_check_json *j, char *const *left_out, size_t n, st_status failed,
                        struct st_error *e);

#endif
