/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of commands whose runs workers can make: --on, --campaign, --lease and --noise. */
#ifndef STROBE_CLI_ON_H
#define STROBE_CLI_ON_H

#include "base/vec.h"
#include "batch/batch.h"

/* Takes the value of an option by its name. 0, or -1 with *e. */
st_status st_on_take(struct st_batch_place *p, const char *option, const char *value,
                     struct st_error *e);
/* Checks, after all options, that none is given without --on. 0, or -1 with *e. */
st_status st_on_check(const struct st_batch_place *p, struct st_error *e);
/* Everything that the results depend on, for the identity of a batch: the command's name, folder
 * and options, except for those of workers and of the output, the program, and
 * more, which is released: json_null() if there is nothing more, NULL if memory is exhausted. argv
 * and program: see st_on_experiment. malloc'ed; NULL: a word is not UTF-8, or memory is exhausted.
 */
char *st_on_identity(const char *command, char *const *argv, char *const *program, json_t *more);
/* The path of this program. 0, or -1 with *e. */
st_status st_on_strobe(char *path, size_t size, struct st_error *e);
/* Counts the results by node, for a note. */
struct st_on_node {
	char *name;
	size_t runs;
};
struct st_on_nodes {
	ST_VEC(struct st_on_node) list;
};
/* worker: the name of a worker, NODE.PID.TIME. -1: memory is exhausted. */
st_status st_on_count(struct st_on_nodes *n, const char *worker);
/* "the runs were made by workers on n1 (23) and n2 (37)", malloc'ed; NULL: memory is exhausted. */
char *st_on_note(const struct st_on_nodes *n);
void st_on_nodes_free(struct st_on_nodes *n);
/* The command of one experiment: STROBE TOOL, the user's words before the program, further options
 * (NULL-terminated), "--" and the program.
 * argv: the user's words from the first option on, which contain the
 * program, if it is not NULL. *at: the number of the first further option. malloc'ed, only the
 * array; NULL: memory is exhausted. */
char **st_on_experiment(const char *strobe, const char *tool, char *const *argv,
                        char *const *program, const char *const *further, size_t *at);
/* Prints the command that resumes the campaign on standard error. folder NULL: prints nothing. */
void st_on_say_resume(const char *folder, bool quiet);

#endif
