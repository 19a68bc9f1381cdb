/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of commands whose runs workers may do: --on, --campaign, --lease and --noise. */
#ifndef STROBE_CLI_ON_H
#define STROBE_CLI_ON_H

#include "batch/batch.h"

/* Takes the value of an option by its name. 0, or -1 with *e. */
st_status st_on_take(struct st_batch_place *p, const char *option, const char *value,
                     struct st_error *e);
/* Checks, after all options, that none is given without --on. 0, or -1 with *e. */
st_status st_on_check(const struct st_batch_place *p, struct st_error *e);
/* The words of strobe itself that make one experiment of a command with workers: STROBE TOOL, what
 * the user has given up to the program, further options (NULL-terminated), "--" and the program.
 * argv: from the user's first option on, with the program in it. *at: the number of the first
 * further option. malloc'ed, only the array; NULL: memory is exhausted. */
char **st_on_experiment(const char *strobe, const char *tool, char *const *argv,
                        char *const *program, const char *const *further, size_t *at);
/* Says on standard error how a campaign that is not complete goes on. folder NULL: there is none.
 */
void st_on_say_resume(const char *folder, bool quiet);

#endif
