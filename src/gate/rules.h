/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the rules of a project's gate from a file of the project; strobe-gate(1) describes it. */
#ifndef STROBE_GATE_RULES_H
#define STROBE_GATE_RULES_H

#include "gate/result.h"
#include "job/projectfile.h"
#include "job/yamlfile.h"

#define ST_GATE_FILE ".strobe/gate.yaml"

/* Owns the texts that the options refer to. */
struct st_gate_rules {
	struct st_yaml yaml;
	struct st_project_file file;
};

/* Reads a file into the options; path NULL: that of the project around the current folder, if it
 * has one. today: "2026-11-26". 0, or -1 with *e. The caller frees in both cases, after the
 * options. */
st_status st_gate_rules_read(struct st_gate_rules *r, const char *path, const char *today,
                             struct st_gate_options *o, struct st_error *e);
/* The same of bytes in memory. */
st_status st_gate_rules_of_bytes(struct st_gate_rules *r, const char *path, const char *bytes,
                                 size_t n, const char *today, struct st_gate_options *o,
                                 struct st_error *e);
void st_gate_rules_free(struct st_gate_rules *r);
void st_gate_limits_free(struct st_gate_limits *limits);

/* Parses percents that are greater than 0 and at most `most`; returns a share. */
st_status st_gate_share(const char *text, double most, double *share);
/* Adds a sentence for each exception that has expired, and for each that was applied. ST_FAILED:
 * no memory. */
st_status st_gate_rules_notes(const struct st_gate_options *o, struct st_gate_result *r);

#endif
