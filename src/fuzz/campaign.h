/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The search for inputs that make a program work more: docs/fuzz.md.
 *
 *	st_fuzz_campaign_begin -> st_fuzz_campaign_run -> findings (fuzz/finding.h) ->
 *st_fuzz_campaign_free
 *
 * A campaign is resumed by doing the same again with its journal open (fuzz/journal.h).
 */
#ifndef STROBE_FUZZ_CAMPAIGN_H
#define STROBE_FUZZ_CAMPAIGN_H

#include "fuzz/journal.h"
#include "fuzz/known.h"
#include "fuzz/paths.h"
#include "fuzz/series.h"

struct st_fuzz_campaign_choice {
	enum st_fuzz_strategy strategy;
	size_t workers; /* executions at a time; results do not depend on it */
	uint64_t seed;
	double seconds;    /* of the search; then findings are judged */
	size_t executions; /* at most; 0: no limit */
	size_t most_bytes; /* of an input; 0: the largest seed and 1,000,000 more */
	double size_ratio; /* sets most_bytes to this multiple of the largest seed; 0: unused */
	double rate;       /* multiple of the base that work must exceed, in the first round */
	size_t round_interesting,
	        round_executions; /* limits of a round: the first one reached ends it */
};

/* An execution that ended by a signal, or did not end. */
struct st_fuzz_fault {
	struct st_fuzz_input input;
	enum st_fuzz_end end;
	int code;
};

/* Classes of inputs by size: of 0 bytes, 1, 2 and 3, 4 to 7, ... up to 64 MiB. */
enum { ST_FUZZ_SIZES = 28 };

struct st_fuzz_campaign {
	struct st_fuzz_campaign_choice choice;
	struct st_fuzz_target *target;
	const struct st_fuzz_rules *rules;
	struct st_fuzz_places places;
	struct st_corpus corpus;
	struct st_fuzz_known known;      /* seeds and all inputs that were made */
	struct st_fuzz_paths_base paths; /* empty unless the target counts them */
	ST_VEC(size_t) path_hits;        /* by path: interesting inputs on which it grew */
	size_t n_seeds;
	ST_VEC(struct st_fuzz_fault) faults;
	ST_VEC(size_t) hits; /* by rule */
	ST_VEC(size_t) tried;
	uint64_t random;
	double rate;                        /* the threshold of this round */
	size_t round_found, round_executed; /* interesting inputs and executions of this round */
	double began;
	double before;  /* seconds that the campaign lasted before it was resumed */
	double elapsed; /* seconds, until the execution that was taken last */
	struct st_fuzz_journal journal;
	size_t n_elsewhere; /* executions of other processes, whose inputs were imported */
	size_t n_executions, n_interesting, n_hangs, n_faults;
	bool exhausted; /* the rules have made all inputs that they can make of the parents */
	size_t n_not_executed; /* inputs that were made, but not executed when the time was over */
	uint64_t most_work;    /* of all inputs */
	double most_grown;     /* the greatest growth of all inputs */
	size_t greatest;       /* number of the parent that has grown most for each of its bytes */
	size_t densest[ST_FUZZ_SIZES]; /* 1 + the number of that of each class; 0: none yet */
	struct st_fuzz_series series;
	bool has_noted_executed;
	double unsteady; /* greatest difference of the work of equal executions of a seed, as a
	                    share; of paths, the greatest ratio less 1 */
	/* progress is called after each execution, keep for each input that is kept. fault is NULL
	 * for an interesting input. Both functions may be NULL. */
	void (*progress)(void *arg, const struct st_fuzz_campaign *c);
	st_status (*keep)(void *arg, const struct st_fuzz_campaign *c,
	                  const struct st_fuzz_input *input, const struct st_fuzz_fault *fault,
	                  struct st_error *e);
	void *arg;
};

/* Executes the seeds, whose bytes it takes over: each twice. ST_FAILED with *e: a seed makes the
 * program hang or fail by a signal, or nothing of it could be counted. */
st_status st_fuzz_campaign_begin(struct st_fuzz_campaign *c, struct st_fuzz_bytes *seeds, size_t n,
                                 struct st_error *e);
/* Searches until a limit, or a signal. ST_FAILED with *e: strobe itself failed. */
st_status st_fuzz_campaign_run(struct st_fuzz_campaign *c, struct st_error *e);
/* Completes the series: after the search, or what was judged before. */
st_status st_fuzz_campaign_end(struct st_fuzz_campaign *c, struct st_error *e);
void st_fuzz_campaign_free(struct st_fuzz_campaign *c);
/* Seconds since it began, without the time between its parts. */
double st_fuzz_campaign_seconds(const struct st_fuzz_campaign *c);

/* ---- for campaign.c and search.c only ---- */

/* Whether the journal has the result of the next execution, and that result. */
bool st_fuzz_campaign_is_replayed(const struct st_fuzz_campaign *c);
st_status st_fuzz_campaign_replay(struct st_fuzz_campaign *c, struct st_fuzz_execution *x,
                                  struct st_error *e);
/* Writes the result of the next execution into the journal. with_paths: the input may become a
 * parent. */
st_status st_fuzz_campaign_record(struct st_fuzz_campaign *c, const struct st_fuzz_execution *x,
                                  bool with_paths, struct st_error *e);
/* Does the same for a child, and finds the growth of its paths. */
st_status st_fuzz_campaign_record_child(struct st_fuzz_campaign *c,
                                        const struct st_fuzz_input *child,
                                        struct st_fuzz_execution *x, struct st_error *e);
/* The class of an input by its size. */
size_t st_fuzz_size_class(size_t bytes);
/* Keeps or drops a child that the rule has made, by the result of its execution. */
st_status st_fuzz_campaign_take(struct st_fuzz_campaign *c, struct st_fuzz_input *child,
                                size_t rule, const struct st_fuzz_execution *x, struct st_error *e);

#endif
