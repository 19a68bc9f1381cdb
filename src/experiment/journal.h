/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The journal of an experiment: experiment.h says what it is. */
#ifndef STROBE_EXPERIMENT_JOURNAL_H
#define STROBE_EXPERIMENT_JOURNAL_H

#include "experiment/experiment.h"

struct st_journal {
	int fd; /* -1: there is none */
	const char *path;
	bool unsynced;     /* added runs survive this process, but perhaps not the machine */
	char dropped[256]; /* a sentence, or empty */
	/* What to do when there was no space left; NULL: repeat the command. */
	const char *proceed;
};

/* A finished run of the journal. 0, or -1 with *e: the line does not fit. */
typedef int (*st_journal_reader)(void *arg, size_t variant, size_t repetition, const char *result,
                                 struct st_error *e);

/* Opens or creates it, for this process alone, and hands over its runs. 0, or -1 with *e; then it
 * is closed. */
st_status st_journal_open(struct st_journal *j, const char *path, const char *identity,
                          st_journal_reader read, void *arg, struct st_error *e);
/* The identity of the journal in that file, malloc'ed; NULL: there is none, it is damaged, or no
 * memory is left. */
char *st_journal_identity(const char *path);
/* Adds a run, so that it survives whatever becomes of this process. 0, or -1 with *e. */
st_status st_journal_add(struct st_journal *j, size_t variant, size_t repetition,
                         const char *result, struct st_error *e);
void st_journal_close(struct st_journal *j);

#endif
