/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The journal of a campaign: a line for each execution, in order of their numbers.
 *
 * Inputs follow from the seed of the random choices and from the results of the executions before.
 * So a campaign is resumed by doing the same again, except that executions that the journal has
 * are not executed. The lines are those of experiment/journal.h. The result of an execution is
 *
 *	END CODE WORK SECONDS [@FILE].. [IMAGE:OFFSET=TIMES]..
 *	    [+IMAGE:OFFSET:IMAGE:OFFSET=TIMES | EDGE=TIMES]..
 *	    [>PARENT:IMAGE:OFFSET].. [~MOST,SCORE,BEYOND,PATH] [/PATH=CALLS,INSTRUCTIONS]..
 *
 * SECONDS are those since the campaign began. @FILE is the next image, IMAGE:OFFSET (hexadecimal)
 * the next place, + the next edge; of edges known before, the line has those whose count exceeded
 * all before it.
 * The third row is there if paths of the call graph are counted: > is the next path, by the path
 * of the caller + 1 and the function; ~ the growth; / what was done on a path, of all seeds and of
 * inputs that became parents.
 */
#ifndef STROBE_FUZZ_JOURNAL_H
#define STROBE_FUZZ_JOURNAL_H

#include "experiment/journal.h"
#include "fuzz/corpus.h"

struct st_fuzz_journal {
	struct st_journal file;
	char *path;
	bool open;
	ST_VEC(char *) lines; /* results: those read, and until it is open, those to write */
	size_t n_read;        /* of them */
	size_t n_images, n_places, n_edges, n_paths; /* that the lines so far have named */
};

/* Reads an earlier campaign's journal, to be called before the first execution, or makes one and
 * writes what was added until now. ST_FAILED with *e: it is of another campaign, it is damaged, or
 * it cannot be written. */
st_status st_fuzz_journal_open(struct st_fuzz_journal *j, const char *path, const char *identity,
                               struct st_error *e);
void st_fuzz_journal_close(struct st_fuzz_journal *j);

/* Whether the execution of that number is in the journal that was read. */
bool st_fuzz_journal_has(const struct st_fuzz_journal *j, size_t number);
/* Its result: of the counts only those that the line has. */
st_status st_fuzz_journal_take(struct st_fuzz_journal *j, size_t number,
                               struct st_fuzz_places *places, struct st_fuzz_execution *out,
                               double *seconds, struct st_error *e);
/* Adds an execution, before its counts have raised the map. with_paths: with what it did on each
 * path. */
st_status st_fuzz_journal_add(struct st_fuzz_journal *j, size_t number,
                              const struct st_fuzz_places *places, const struct st_fuzz_map *map,
                              const struct st_fuzz_execution *x, bool with_paths, double seconds,
                              struct st_error *e);

/* A text as a word: blanks, control characters and % as %XX. */
void st_fuzz_write_escaped(const char *text, FILE *out);

/* The inputs that determine results, as one line: the program, its arguments, seeds, rules and
 * choices; malloc'ed, NULL: no memory. */
struct st_fuzz_campaign_choice;
char *st_fuzz_identity(const struct st_fuzz_target *target, const struct st_fuzz_rules *rules,
                       const struct st_fuzz_campaign_choice *choice,
                       const struct st_fuzz_bytes *seeds, size_t n_seeds);

/* Compares it with that of a journal which exists. ST_FAILED with *e: the first part that differs.
 * A journal that cannot be read is not compared. */
st_status st_fuzz_identity_check(const char *journal, const char *identity, struct st_error *e);

#endif
