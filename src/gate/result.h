/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The result of a gate: the benchmarks with their quantities, and the verdict. */
#ifndef STROBE_GATE_RESULT_H
#define STROBE_GATE_RESULT_H

#include <jansson.h>
#include <stdio.h>

#include "batch/batch.h"
#include "gate/calibration.h"
#include "gate/counts.h"
#include "gate/duet.h"
#include "gate/functiontime.h"
#include "gate/gate.h"
#include "gate/project.h"

struct st_gate_options {
	const char *names[ST_GATE_SIDES]; /* commands or versions, as given */
	char *const *arguments;           /* of both commands; for versions, the command itself */
	struct st_gate_rule rule;
	struct st_gate_limits limits;
	size_t counts;      /* runs of each side under the engine; 0: none */
	size_t functions;   /* pairs for the times of functions, at most; 0: none */
	double timeout;     /* of a run under the engine, s; 0: none */
	const char *strobe; /* the program */
	enum st_gate_duet duet;
	bool duet_set; /* the user has chosen it; otherwise it follows from the metric */
	enum st_gate_metric metric;
	cpu_set_t cpus; /* empty: the CPUs that strobe may use */
	bool unpinned;
	uint64_t seed;
	bool seeded;       /* the user has set the seed */
	bool limit_set;    /* the user has set the limit: calibrations do not raise it */
	size_t gates;      /* for a calibration, of the base against itself; 0: a usual gate */
	const char *times; /* a file with the times of pairs, which are not measured then; NULL */
	struct st_gate_listener listener;
	struct st_batch_place place; /* of workers that measure the pairs */
	char *const *command; /* the words of the user after "gate": they resume a campaign */
};

struct st_gate_benchmark {
	char *title;
	struct st_gate_counts counts;
	struct st_gate_time time;
	struct st_gate_function_times functions;
	enum st_gate_verdict verdict;
};

struct st_gate_result {
	ST_VEC(struct st_gate_benchmark) benchmarks;
	enum st_gate_verdict verdict; /* the worst of all */
	char *commits[ST_GATE_SIDES]; /* of versions; NULL: the files of the project */
	bool interrupted;
	char *folder;         /* in which the target ran */
	ST_VEC(char *) notes; /* sentences about exceptions and calibrations */
	struct st_gate_calibrations calibrations;
	char *campaign;    /* a folder from which the gate can be resumed; NULL: none */
	size_t calibrated; /* how many of them this run has made: the last ones */
};

/* 0, or -1 with *e: then there is no verdict. The caller frees in both cases. */
st_status st_gate_run(struct st_gate_options *o, struct st_gate_result *out, struct st_error *e);
void st_gate_result_free(struct st_gate_result *r);

/* The measurement of one benchmark. */
struct st_gate_task {
	struct st_gate_options *o;
	const char *title, *base_title;
	struct st_gate_command commands[ST_GATE_SIDES];
	const char *input;
	struct st_gate_rule rule;            /* of this benchmark */
	size_t round;                        /* of several gates, each has another order of runs */
	struct st_gate_elsewhere *elsewhere; /* NULL: the pairs are measured by strobe itself */
	long *times_at; /* where the file of times goes on; NULL: at its beginning */
};
st_status st_gate_time_task(const struct st_gate_task *t, struct st_gate_time *out,
                            struct st_error *e);
st_status st_gate_function_time_task(const struct st_gate_task *t, const struct st_gate_counts *c,
                                     struct st_gate_function_times *out, struct st_error *e);
st_status st_gate_count_task(const struct st_gate_task *t, struct st_gate_counts *out,
                             struct st_error *e);

/* Reads pairs from a text file, "BASE TARGET" in ns on each line, so that tests are repeatable. */
struct st_gate_replay {
	FILE *file;
	const char *path;
};
st_status st_gate_replay_open(struct st_gate_replay *r, const char *path, long at,
                              struct st_error *e);
st_status st_gate_replay_pair(void *arg, const struct st_gate_pair *pair, double ns[ST_GATE_SIDES],
                              struct st_error *e);
/* Returns where the next pair begins; 0 if the file was not opened. */
long st_gate_replay_close(struct st_gate_replay *r);

/* The lines about counts, and their JSON. */
void st_gate_put_counts(const struct st_gate_counts *counts, FILE *out);
json_t *st_gate_counts_json(const struct st_gate_counts *counts);
/* The text; and the JSON, which docs/json.md describes, NULL: no memory. */
void st_gate_print_text(const struct st_gate_options *o, const struct st_gate_result *r, FILE *out);
json_t *st_gate_json(const struct st_gate_options *o, const struct st_gate_result *r);

#endif
