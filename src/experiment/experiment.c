/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiment/experiment.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "base/text.h"
#include "experiment/journal.h"

struct st_experiment {
	struct st_experiment_plan plan;
	struct st_experiment_runner runner;
	struct st_journal journal;
	size_t *order;  /* variants, a repetition after the other */
	bool *finished; /* by variant and repetition */
	size_t n_finished;
};

/* ---- the order ---- */

/* Fisher and Yates, from the inside out. */
static void
shuffle(uint64_t seed, size_t repetition, size_t *variants, size_t n)
{
	uint64_t state = seed;
	state = st_random_next(&state) ^ repetition;
	for (size_t i = 0; i < n; i++) {
		size_t at = st_random_below(&state, i + 1);
		variants[i] = variants[at];
		variants[at] = i;
	}
}

static void
order_repetition(const struct st_experiment *x, size_t repetition, size_t *variants)
{
	const struct st_experiment_plan *p = &x->plan;
	if (p->order == ST_EXPERIMENT_GIVEN)
		p->give_order(x->runner.arg, repetition, variants);
	else if (p->order == ST_EXPERIMENT_RANDOM)
		shuffle(p->seed, repetition, variants, p->n_variants);
	else
		for (size_t i = 0; i < p->n_variants; i++)
			variants[i] = i;
}

/* ---- finished runs ---- */

static bool *
finished_of(const struct st_experiment *x, const struct st_experiment_step *step)
{
	return &x->finished[step->repetition * x->plan.n_variants + step->variant];
}

static st_status
experiment_finish(struct st_experiment *x, const struct st_experiment_step *step,
                  const char *result, struct st_error *e)
{
	*finished_of(x, step) = true;
	x->n_finished++;
	return x->runner.take && x->runner.take(x->runner.arg, step, result, e) ? ST_FAILED : ST_OK;
}

static size_t
number_in_order(const struct st_experiment *x, size_t variant, size_t repetition)
{
	size_t first = repetition * x->plan.n_variants, i = 0;
	while (i < x->plan.n_variants && x->order[first + i] != variant)
		i++;
	return first + i;
}

static int
resume_from_journal(void *arg, size_t variant, size_t repetition, const char *result,
                    struct st_error *e)
{
	struct st_experiment *x = arg;
	struct st_experiment_step step = {.variant = variant, .repetition = repetition};
	if (variant >= x->plan.n_variants || repetition >= x->plan.n_repetitions)
		return st_fail(e, ST_EXIT_FAILED,
		               "the journal %s has a run that the experiment does not have",
		               x->plan.journal);
	if (*finished_of(x, &step))
		return st_fail(e, ST_EXIT_FAILED, "the journal %s has a run twice",
		               x->plan.journal);
	step.run = number_in_order(x, variant, repetition);
	return experiment_finish(x, &step, result, e);
}

/* ---- opening and closing ---- */

struct st_experiment *
st_experiment_open(const struct st_experiment_plan *plan, const struct st_experiment_runner *runner,
                   struct st_error *e)
{
	struct st_experiment *x = calloc(1, sizeof *x);
	if (!x) {
		st_cause(e, ST_EXIT_FAILED, "no memory left for the experiment");
		return NULL;
	}
	*x = (struct st_experiment){.plan = *plan, .runner = *runner, .journal.fd = -1};
	x->order = calloc(st_experiment_runs(x) + 1, sizeof *x->order);
	x->finished = calloc(st_experiment_runs(x) + 1, sizeof *x->finished);
	bool good = x->order && x->finished;
	if (!good)
		st_cause(e, ST_EXIT_FAILED, "no memory left for the experiment");
	for (size_t i = 0; good && i < plan->n_repetitions; i++)
		order_repetition(x, i, x->order + i * plan->n_variants);
	if (good && plan->journal &&
	    st_journal_open(&x->journal, plan->journal, plan->identity, resume_from_journal, x, e))
		good = false;
	if (good)
		return x;
	st_experiment_close(x);
	return NULL;
}

void
st_experiment_close(struct st_experiment *x)
{
	if (!x)
		return;
	st_journal_close(&x->journal);
	free(x->order);
	free(x->finished);
	free(x);
}

size_t
st_experiment_runs(const struct st_experiment *x)
{
	return x->plan.n_variants * x->plan.n_repetitions;
}

size_t
st_experiment_finished(const struct st_experiment *x)
{
	return x->n_finished;
}

struct st_experiment_step
st_experiment_step_at(const struct st_experiment *x, size_t run)
{
	return (struct st_experiment_step){
	        .variant = x->order[run], .repetition = run / x->plan.n_variants, .run = run};
}

bool
st_experiment_has_finished(const struct st_experiment *x, const struct st_experiment_step *step)
{
	return *finished_of(x, step);
}

const char *
st_experiment_dropped(const struct st_experiment *x)
{
	return *x->journal.dropped ? x->journal.dropped : NULL;
}

/* ---- execution ---- */

static bool
experiment_is_interrupted(const struct st_experiment *x)
{
	return x->runner.interrupted && x->runner.interrupted(x->runner.arg);
}

/* The result of a run, malloc'ed; NULL: with *e. */
static char *
experiment_execute(struct st_experiment *x, const struct st_experiment_step *step,
                   struct st_error *e)
{
	struct st_text built;
	FILE *out = st_text_begin(&built);
	int failed = out ? x->runner.execute(x->runner.arg, step, out, e) : 0;
	char *result = st_text_end(&built);
	if (!failed && result && !strchr(result, '\n'))
		return result;
	if (!failed)
		st_cause(e, ST_EXIT_FAILED,
		         result ? "the result of a run has a newline"
		                : "no memory left for the result of a run");
	free(result);
	return NULL;
}

/* In the journal first: what was taken from a run is never more than what it has. */
static st_status
run_step(struct st_experiment *x, const struct st_experiment_step *step, struct st_error *e)
{
	char *result = experiment_execute(x, step, e);
	st_status status = ST_FAILED;
	if (result && experiment_is_interrupted(x))
		status = ST_OK;
	else if (result && (x->journal.fd < 0 || !st_journal_add(&x->journal, step->variant,
	                                                         step->repetition, result, e)))
		status = experiment_finish(x, step, result, e);
	free(result);
	return status;
}

static bool
is_limited(const struct st_experiment *x, size_t runs, double seconds)
{
	const struct st_experiment_plan *p = &x->plan;
	return (p->most_runs && runs >= p->most_runs) ||
	       (p->most_seconds > 0 && seconds >= p->most_seconds);
}

st_status
st_experiment_run(struct st_experiment *x, enum st_experiment_end *end, struct st_error *e)
{
	double begin = st_now_raw();
	size_t runs = 0;
	for (size_t i = 0; i < st_experiment_runs(x); i++) {
		const struct st_experiment_step step = st_experiment_step_at(x, i);
		if (*finished_of(x, &step))
			continue;
		*end = ST_EXPERIMENT_LIMITED;
		if (is_limited(x, runs, st_now_raw() - begin))
			return ST_OK;
		*end = ST_EXPERIMENT_INTERRUPTED;
		if (experiment_is_interrupted(x))
			return ST_OK;
		*end = ST_EXPERIMENT_FAILED;
		if (run_step(x, &step, e))
			return ST_FAILED;
		runs++;
	}
	*end = x->n_finished == st_experiment_runs(x) ? ST_EXPERIMENT_COMPLETE
	                                              : ST_EXPERIMENT_INTERRUPTED;
	return ST_OK;
}
