/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sides of a gate: two commands, or two versions of a project, each checked out into a work
 * tree and built with the commands of the job file. The benchmarks are the commands of the job
 * file, unless the user gives a command.
 */
#ifndef STROBE_GATE_PROJECT_H
#define STROBE_GATE_PROJECT_H

#include "gate/gate.h"
#include "job/place.h"
#include "job/plan.h"
#include "job/versions.h"

/* Receives progress messages. */
struct st_gate_listener {
	void (*show)(void *arg, const char *text); /* may be NULL */
	void *arg;
};
void st_gate_show(const struct st_gate_listener *l, const char *text);

struct st_gate_project {
	bool git; /* the sides are versions; false: commands */
	struct st_job_place place;
	struct st_job job; /* without commands if the project has no job file */
	struct st_job_plan plan;
	char *const *arguments; /* of the user; NULL: none */
	char *workloads;        /* a folder */
	struct st_gate_listener listener;
};

/* One benchmark, on both sides. */
struct st_gate_case {
	char *title, *base_title;    /* the commands of the target and of the base */
	char **words[ST_GATE_SIDES]; /* each malloc'ed in one piece with its strings */
	const char *input;           /* file for standard input; NULL: none */
};
struct st_gate_cases {
	ST_VEC(struct st_gate_case) v;
};

/* Whether the text names a version of the project around the current folder, and not a program. */
st_status st_gate_is_version(const char *text, bool *is, struct st_error *e);

/* For versions: finds the project, reads its job and locks it, so that one job runs at a time. 0,
 * or -1 with *e. The caller closes in both cases. */
st_status st_gate_project_open(struct st_gate_project *p, char *const *arguments,
                               const struct st_gate_listener *listener, struct st_error *e);
void st_gate_project_close(struct st_gate_project *p);
/* Lists the benchmarks of the project. */
st_status st_gate_project_cases(const struct st_gate_project *p, struct st_gate_cases *cases,
                                struct st_error *e);
/* Makes the single benchmark of two commands with further arguments. */
st_status st_gate_command_case(const char *const commands[ST_GATE_SIDES], char *const *arguments,
                               struct st_gate_cases *cases, struct st_error *e);
void st_gate_cases_free(struct st_gate_cases *cases);

/* The build of a version. */
struct st_gate_build {
	char *commit; /* NULL: the files of the project, without a checkout */
	struct st_worktree tree;
	const char *folder;
	char *reason; /* why the build failed; NULL: it succeeded */
	bool interrupted;
};

/* Checks the version out and builds it; name: "base" or "target", of its work tree. "." is the
 * project as it is, which is not built. 0, or -1 with *e; a version that does not build has a
 * reason. The caller removes in both cases. */
st_status st_gate_build_make(const struct st_gate_project *p, const char *rev, const char *name,
                             struct st_gate_build *b, struct st_error *e);
void st_gate_build_remove(struct st_gate_build *b);

#endif
