/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A whole gate: every benchmark, each of its quantities, and the verdict that follows. */
#ifndef STROBE_GATE_RESULT_H
#define STROBE_GATE_RESULT_H

#include <jansson.h>
#include <stdio.h>

#include "gate/counts.h"
#include "gate/duet.h"
#include "gate/gate.h"
#include "gate/project.h"

struct st_gate_options {
	const char *names[ST_GATE_SIDES]; /* commands or versions, as given */
	char *const *arguments;           /* of both, or of versions the command; NULL-terminated */
	struct st_gate_rule rule;
	struct st_gate_limits limits;
	size_t counts;      /* runs of each side under the engine; 0: nothing is counted */
	double timeout;     /* of such a run, s; 0: none */
	const char *strobe; /* the program */
	enum st_gate_duet duet;
	enum st_gate_metric metric;
	cpu_set_t cpus; /* empty: those that strobe may use */
	bool unpinned;
	uint64_t seed;
	bool seeded;       /* it was given */
	const char *times; /* a file that pairs are read from instead of being measured; NULL */
	struct st_gate_listener listener;
};

struct st_gate_benchmark {
	char *title;
	struct st_gate_counts counts;
	struct st_gate_time time;
	enum st_gate_verdict verdict;
};

struct st_gate_result {
	ST_VEC(struct st_gate_benchmark) benchmarks;
	enum st_gate_verdict verdict; /* the worst of all */
	char *commits[ST_GATE_SIDES]; /* of versions; NULL: the files as they are */
	bool interrupted;
	char *folder;         /* that the target ran in */
	ST_VEC(char *) notes; /* sentences a reader must know */
};

/* 0, or -1 with *e: then there is no verdict. The caller frees in both cases. */
st_status st_gate_run(struct st_gate_options *o, struct st_gate_result *out, struct st_error *e);
void st_gate_result_free(struct st_gate_result *r);

/* What is measured of one benchmark. */
struct st_gate_task {
	struct st_gate_options *o;
	const char *title;
	struct st_gate_command commands[ST_GATE_SIDES];
	const char *input;
	struct st_gate_rule rule; /* of this benchmark */
};
st_status st_gate_time_task(const struct st_gate_task *t, struct st_gate_time *out,
                            struct st_error *e);
st_status st_gate_count_task(const struct st_gate_task *t, struct st_gate_counts *out,
                             struct st_error *e);

/* Pairs from a text file, "BASE TARGET" in ns on each line, for tests of all that follows. */
struct st_gate_replay {
	FILE *file;
	const char *path;
};
st_status st_gate_replay_open(struct st_gate_replay *r, const char *path, struct st_error *e);
st_status st_gate_replay_pair(void *arg, const struct st_gate_pair *pair, double ns[ST_GATE_SIDES],
                              struct st_error *e);
void st_gate_replay_close(struct st_gate_replay *r);

/* The lines on counts, and their JSON. */
void st_gate_put_counts(const struct st_gate_counts *counts, FILE *out);
json_t *st_gate_counts_json(const struct st_gate_counts *counts);
/* For people; and as docs/json.md has it, NULL: no memory. */
void st_gate_print_text(const struct st_gate_options *o, const struct st_gate_result *r, FILE *out);
json_t *st_gate_json(const struct st_gate_options *o, const struct st_gate_result *r);

#endif
