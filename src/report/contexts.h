/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contexts for people and for other programs. */
#ifndef STROBE_REPORT_CONTEXTS_H
#define STROBE_REPORT_CONTEXTS_H

#include <stdio.h>

#include "base/error.h"
#include "contexts/contexts.h"

/* Writers: to a file that may be full; the caller looks at it. */
void st_contexts_text(const struct st_contexts *c, FILE *out);
void st_contexts_json(const struct st_contexts *c, FILE *out);

/* The hottest contexts, and what was measured: for a terminal. */
void st_contexts_summary(const struct st_contexts *c, size_t top, FILE *out);
/* The name of a label: "foo()" in function mode, else "{foo+12 at 14,0}". */
void st_contexts_name(const struct st_contexts *c, uint32_t label, FILE *out);
/* The same for JSON: "foo", or "foo+12". */
void st_contexts_json_name(const struct st_contexts *c, const struct st_context_label *l,
                           FILE *out);
/* A label as nodes of JSON have it. */
void st_contexts_json_label(const struct st_contexts *c, uint32_t label, FILE *out);
/* The value of a context: time, else instructions, else activations. */
uint64_t st_contexts_value(const struct st_contexts *c, const struct st_weight *w);
/* "inf", or the number. */
const char *st_contexts_k(const struct st_contexts *c, char text[16]);
const char *st_contexts_mode(const struct st_contexts *c);

#endif
