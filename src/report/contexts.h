/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contexts for people and for other programs. */
#ifndef STROBE_REPORT_CONTEXTS_H
#define STROBE_REPORT_CONTEXTS_H

#include <stdio.h>

#include "base/error.h"
#include "contexts/contexts.h"

/* F(identifier, name, how its files' names end, whether it has a place for lists, what it is) */
#define ST_CONTEXT_FORMATS(F)                                                                      \
	F(text, "text", "txt", true, true, "trees of names and counts")                            \
	F(xml, "xml", "xml", true, false, "the same trees for programs; see docs/paths.xsd")       \
	F(json, "json", "json", true, false, "all there is; see docs/json.md")                     \
	F(folded, "folded", "folded", false, true,                                                 \
	  "a line for each context: flamegraph.pl and its like")                                   \
	F(speedscope, "speedscope", "speedscope", false, false, "for https://www.speedscope.app")  \
	F(callgrind, "callgrind", "callgrind", false, true,                                        \
	  "for KCachegrind and callgrind_annotate")                                                \
	F(pprof, "pprof", "pprof", false, false, "a profile.proto for pprof, not compressed")

/* Writers: to a file that may be full; the caller looks at it. */
#define F(id, name, end, lists, printable, help)                                                   \
	void st_contexts_##id(const struct st_contexts *c, FILE *out);
ST_CONTEXT_FORMATS(F)
#undef F

struct st_context_cost; /* contexts_limit.h */
struct st_context_format {
	const char *name, *end, *help;
	bool lists;     /* has a place for all functions and all blocks */
	bool printable; /* lines of text, in which names stand as they are */
	void (*write)(const struct st_contexts *c, FILE *out);
	const struct st_context_cost *cost; /* NULL: bounded by the program's functions */
};
extern const struct st_context_format st_context_formats[];
extern const size_t st_n_context_formats;

/* The hottest contexts, and what was measured: for a terminal. */
void st_contexts_summary(const struct st_contexts *c, size_t top, FILE *out);
/* How a label is called: "foo()" in function mode, else "{foo+12 at 14,0}". */
void st_contexts_name(const struct st_contexts *c, uint32_t label, FILE *out);
/* The same for JSON: "foo", or "foo+12". */
void st_contexts_json_name(const struct st_contexts *c, const struct st_context_label *l,
                           FILE *out);
/* A label as nodes of these formats have it. */
void st_contexts_xml_label(const struct st_contexts *c, uint32_t label, FILE *out);
void st_contexts_json_label(const struct st_contexts *c, uint32_t label, FILE *out);
void st_contexts_folded_label(const struct st_contexts *c, uint32_t label, FILE *out);
/* What a context is worth: time, else instructions, else activations. */
uint64_t st_contexts_value(const struct st_contexts *c, const struct st_weight *w);
/* "inf", or the number. */
const char *st_contexts_k(const struct st_contexts *c, char text[16]);
const char *st_contexts_mode(const struct st_contexts *c);

#endif
