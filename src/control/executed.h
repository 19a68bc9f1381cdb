/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which other program has a process executed that runs natively? */
#ifndef STROBE_CONTROL_EXECUTED_H
#define STROBE_CONTROL_EXECUTED_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

struct st_executed;

/* Begins to look at the process, which has not executed one yet. NULL: nothing will be known. */
struct st_executed *st_executed_begin(pid_t pid);
/* Ends that; call it when the process has ended and was not waited for. Returns the file, or at
 * least the name, of the last program that it has executed; NULL: none, or x was NULL. To be freed.
 */
char *st_executed_end(struct st_executed *x);

#endif
