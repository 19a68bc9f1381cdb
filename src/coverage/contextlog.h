/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The log of calling contexts, kept across runs (strobe paths --unique-log): docs/codelog.md.
 *
 * One tree for all threads of all runs: functions by the build-ids of their files and their
 * addresses in these. The database, its images and its runs are those of codelog.h.
 */
#ifndef STROBE_COVERAGE_CONTEXTLOG_H
#define STROBE_COVERAGE_CONTEXTLOG_H

#include "base/status.h"
#include "coverage/codelog.h"
#include "profile/profile.h"

/* The content of an open log. */
enum st_codelog_kind { ST_CODELOG_EMPTY, ST_CODELOG_CODE, ST_CODELOG_CONTEXTS };
/* 0, or -1 with *e. */
st_status st_codelog_kind(struct st_codelog *log, enum st_codelog_kind *kind, struct st_error *e);
/* 0, or -1 with *e: it is of calling contexts. */
st_status st_codelog_check_code(struct st_codelog *log, struct st_error *e);

/* Before st_codelog_begin. rules: of the tool, by which contexts are told apart; the same in all
 * runs. 0, or -1 with *e: it is a log of something else. */
st_status st_contextlog_begin(struct st_codelog *log, const char *rules, struct st_error *e);

struct st_contextlog_result {
	uint64_t added, all; /* contexts: new ones, in the log now */
	uint64_t nowhere; /* that it cannot have: generated code, no build-id, pruned, below such */
};
/* Unites what a run has measured with the log, and notes in *run what that brought and that it has
 * ended: all of it, or nothing. 0, or -1 with *e. */
st_status st_contextlog_add(struct st_codelog *log, const struct st_profile *p,
                            struct st_codelog_run *run, struct st_contextlog_result *result,
                            struct st_error *e);

/* Sets *contexts to the number of contexts, 0 for a log of code. 0, or -1 with *e. */
st_status st_contextlog_count(struct st_codelog *log, uint64_t *contexts, struct st_error *e);

/* Is the file a log, of whatever? */
bool st_contextlog_is(const char *path);
/* The log as the profile of one thread. The caller frees; NULL and *e. */
struct st_profile *st_contextlog_read(const char *path, struct st_error *e);

#endif
