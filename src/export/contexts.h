/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All formats that contexts are written in: those of report/contexts.h, and those of other tools.
 */
#ifndef STROBE_EXPORT_CONTEXTS_H
#define STROBE_EXPORT_CONTEXTS_H

#include "report/contexts.h"
#include "report/contexts_limit.h"

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

struct st_context_format {
	const char *name, *end, *help;
	bool lists;     /* has a place for all functions and all blocks */
	bool printable; /* lines of text, in which names stand as they are */
	void (*write)(const struct st_contexts *c, FILE *out);
	const struct st_context_cost *cost; /* NULL: bounded by the program's functions */
};
extern const struct st_context_format st_context_formats[];
extern const size_t st_n_context_formats;

/* The format that a file of this name usually has: "x.pb.gz", "callgrind.out.1",
 * "x.speedscope.json". NULL: the name does not say one. */
const char *st_export_format_of(const char *path);
/* Whether a file of this name is compressed by gzip. */
bool st_export_is_gzip(const char *path);
/* Calls `write` to write a file, compressed by gzip if its name, `path`, says so; NULL: it is not.
 * The caller looks at `out`. -1 with *e: `write` has failed, or memory is exhausted. */
typedef st_status st_export_writer(const void *arg, FILE *out, struct st_error *e);
st_status st_export_write(const char *path, st_export_writer *write, const void *arg, FILE *out,
                          struct st_error *e);

/* Writers: to a file that may be full; the caller looks at it. */
void st_contexts_xml(const struct st_contexts *c, FILE *out);
void st_contexts_folded(const struct st_contexts *c, FILE *out);
void st_contexts_speedscope(const struct st_contexts *c, FILE *out);
void st_contexts_callgrind(const struct st_contexts *c, FILE *out);
void st_contexts_pprof(const struct st_contexts *c, FILE *out);
/* The size of contexts in these formats. */
extern const struct st_context_cost st_context_cost_xml, st_context_cost_folded,
        st_context_cost_speedscope, st_context_cost_pprof;

#endif
