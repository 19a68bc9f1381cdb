/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files that commands of strobe make for the tasks of a batch, and the messages of these
 * commands. */
#ifndef STROBE_BATCH_OUTPUT_H
#define STROBE_BATCH_OUTPUT_H

#include "campaign/worker.h"

struct st_output_place {
	char *name; /* in the folder of the campaign: "profiles/17.WORKER", which no other has */
	char *path; /* of this file */
	char *said; /* the path of a file for what the command writes to its standard error */
};
/* 0, or -1: memory is exhausted. The caller frees it in both cases, which removes the file `said`.
 */
st_status st_output_place_of(struct st_output_place *p, const struct st_campaign *c,
                             const struct st_worker_task *t);
void st_output_place_free(struct st_output_place *p);
/* Whether the command has made its file. */
bool st_output_place_is_made(const struct st_output_place *p);
/* The last message of strobe, without "strobe: ", or that it said nothing; malloc'ed, NULL: memory
 * is exhausted. */
char *st_output_place_message(const struct st_output_place *p, int exit);

#endif
