/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The judgements of a gate as a list with a sentence for each, and formats for other tools. */
#ifndef STROBE_GATE_FINDINGS_H
#define STROBE_GATE_FINDINGS_H

#include "gate/result.h"

struct st_gate_finding {
	enum st_gate_verdict verdict;
	const char *benchmark, *quantity; /* "time", "instructions", ... */
	const char *function;             /* NULL: the program */
	const char *file; /* relative to the project; NULL: unknown, or not part of it */
	uint32_t line;    /* 0: unknown */
	bool blamed;      /* false for a function whose code is the same */
	char *message;
};
struct st_gate_findings {
	ST_VEC(struct st_gate_finding) v;
};

/* 0; ST_FAILED: no memory. The caller frees in both cases; texts are those of the result. */
st_status st_gate_findings_make(struct st_gate_findings *f, const struct st_gate_options *o,
                                const struct st_gate_result *r);
void st_gate_findings_free(struct st_gate_findings *f);

/* Write sentences without a full stop. */
void st_gate_put_count(const struct st_gate_count *c, FILE *out);
void st_gate_put_function(const struct st_gate_counts *all, const struct st_gate_function *f,
                          FILE *out);
void st_gate_put_function_time(const struct st_gate_function_time *f, FILE *out);
void st_gate_put_time(const struct st_gate_options *o, const struct st_gate_time *t, FILE *out);

/*
 * F(identifier, "name of the format", ".ending of files that have it")
 * junit: an XML report of tests; sarif: of static analysis, version 2.1.0; github: workflow
 * commands that annotate files.
 */
#define ST_GATE_FORMATS(F)                                                                         \
	F(TEXT, "text", ".txt")                                                                    \
	F(JSON, "json", ".json")                                                                   \
	F(MARKDOWN, "markdown", ".md")                                                             \
	F(JUNIT, "junit", ".xml")                                                                  \
	F(SARIF, "sarif", ".sarif")                                                                \
	F(GITHUB, "github", ".github")
enum st_gate_format {
#define F(id, name, ending) ST_GATE_FORMAT_##id,
	ST_GATE_FORMATS(F)
#undef F
};

/* Writes the result in a format. ST_FAILED: no memory. */
st_status st_gate_write(enum st_gate_format format, const struct st_gate_options *o,
                        const struct st_gate_result *r, FILE *out);
/* Inside: the writers of single formats. */
void st_gate_put_markdown(const struct st_gate_options *o, const struct st_gate_result *r,
                          const struct st_gate_findings *f, FILE *out);
void st_gate_put_junit(const struct st_gate_result *r, const struct st_gate_findings *f, FILE *out);
void st_gate_put_github(const struct st_gate_findings *f, FILE *out);
json_t *st_gate_sarif(const struct st_gate_findings *f);

#endif
