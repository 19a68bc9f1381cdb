/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A campaign: tasks that workers on one machine or on several execute, each of which has exactly
 * one result. Everything that a campaign knows is in files of one folder; docs/campaigns.md says
 * what each of them means. No process has to stay alive for the campaign to stay correct.
 */
#ifndef STROBE_CAMPAIGN_CAMPAIGN_H
#define STROBE_CAMPAIGN_CAMPAIGN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct st_campaign {
	char *folder;
	json_t *about; /* campaign.json; its member "job" describes the tasks: src/job */
	size_t tasks;
	double lease; /* s after which the task of a silent worker is taken over */
	double noise; /* the largest difference of A and A that a node may have; 0: any */
	const char *noise_option; /* the option that sets `noise`: "--noise" or "--node-noise" */
};

/* Writes the description and makes the folders; what a folder of the same campaign has stays. The
 * description takes the place of an earlier one. 0, or -1 with *e. */
st_status st_campaign_make(const char *folder, const json_t *about, struct st_error *e);
/* Reads a campaign. 0, or -1 with *e; the caller closes in both cases. */
st_status st_campaign_open(struct st_campaign *c, const char *folder, struct st_error *e);
void st_campaign_close(struct st_campaign *c);

/* A file of the folder, "results/17", malloc'ed; NULL: memory is exhausted. */
__attribute__((format(printf, 2, 3))) char *st_campaign_path(const struct st_campaign *c,
                                                             const char *format, ...);
/* Whether a file of the folder is there. */
bool st_campaign_has(const struct st_campaign *c, const char *name);
/* The text of a file of the folder, malloc'ed; NULL: there is none, or it cannot be read. */
char *st_campaign_read(const struct st_campaign *c, const char *name);

/* Puts a file with the text in its place, unless it is there already; the file is there as a whole
 * or not at all. `who` is the name of the only process that writes so. *first: it was not there. */
st_status st_campaign_put(const struct st_campaign *c, const char *who, const char *name,
                          const char *text, bool *first, struct st_error *e);

/* Asks all workers to end without a result of the task that they execute, and cancels the jobs of
 * Slurm. */
st_status st_campaign_cancel(const struct st_campaign *c, struct st_error *e);
bool st_campaign_is_cancelled(const struct st_campaign *c);
/* A new attempt: forgets that it was cancelled, tasks that were given up, and bad nodes. */
void st_campaign_forgive(const struct st_campaign *c);

/* The result of a task, malloc'ed; NULL: there is none yet. A result that a crash of the machine
 * has left incomplete is removed. */
char *st_campaign_result(const struct st_campaign *c, size_t task);
/* Whether a file in "results" is the complete result of a task. */
bool st_campaign_has_result(const struct st_campaign *c, const char *name);
/* Why a task was given up, malloc'ed; NULL: it was not. */
char *st_campaign_given_up(const struct st_campaign *c, size_t task);
/* Why a node is in quarantine, malloc'ed; NULL: it is not, or memory is exhausted. */
char *st_campaign_why_bad(const struct st_campaign *c, const char *node);
/* A bad node and why, "n1: ...", malloc'ed; NULL: there is none. */
char *st_campaign_bad_node(const struct st_campaign *c);

/* Counts the entries of a folder of the campaign and hands each name over; each may be NULL. */
size_t st_campaign_each(const struct st_campaign *c, const char *folder,
                        void (*each)(void *arg, const char *name), void *arg);

#endif
