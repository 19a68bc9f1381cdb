/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All runs of a study: what each program does natively and without a budget, then the pairs. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "experiment/experiment.h"
#include "tune/run.h"

/* A study under way. */
struct conduct {
	struct st_study *study;
	struct st_tune_how *how;
	struct st_covered *references; /* of each program; NULL for a part */
	struct st_covered *reference;  /* of the program of a part; NULL for the whole study */
	struct st_study_step *steps;   /* of the repetition that was looked at last */
	size_t done, all;              /* runs */
	double begin;
};

/* ---- progress ---- */

static void
pairs_show(struct conduct *c, const struct st_study_program *p, const char *what)
{
	char left[ST_NUMBER_SIZE], line[256];
	double each = c->done ? (st_now_raw() - c->begin) / (double)c->done : 0;
	st_duration(left, (int64_t)(each * (double)(c->all - c->done) * 1e9));
	snprintf(line, sizeof line, "strobe: run %zu of %zu, %s: %s%s%s", c->done + 1, c->all,
	         p->argv[0], what, c->done ? "; left: about " : "", c->done ? left : "");
	c->how->show(c->how->arg, line);
}

/* ---- runs ---- */

/* A study of runs that do not do the same says nothing. A program that SIGTERM ends (--for) may end
 * in any way. */
static st_status
pairs_check_exit(const struct conduct *c, const struct st_study_program *p,
                 const struct st_tune_run *run, const char *how, struct st_error *e)
{
	return c->how->length > 0 || run->exit_code == p->exit_code
	               ? 0
	               : st_fail(e, ST_EXIT_FAILED,
	                         "%s exited with %d at first and with %d %s: its runs cannot be "
	                         "compared",
	                         p->argv[0], p->exit_code, run->exit_code, how);
}

static st_status
run_native(struct conduct *c, const struct st_study_program *p, struct st_tune_run *out,
           struct st_error *e)
{
	pairs_show(c, p, "native");
	int status = st_tune_native(c->how, &(struct st_tune_asked){0}, p->argv, out, e);
	c->done++;
	return status;
}

static int
run_measured(struct conduct *c, const struct st_study_program *p, const struct st_tune_asked *asked,
             struct st_tune_run *out, struct st_error *e)
{
	char what[64] = "without a budget";
	if (asked->budget > 0)
		snprintf(what, sizeof what, "B %g %%, T %g s", 100 * asked->budget, asked->period);
	pairs_show(c, p, what);
	int status = st_tune_measured(c->how, asked, p->argv, out, e);
	c->done++;
	return status;
}

/* ---- without a budget ---- */

/* Which instructions are executed at all. */
static st_status
pairs_find_instructions(struct conduct *c, struct st_study_program *p, struct st_covered *reference,
                        struct st_error *e)
{
	struct st_tune_run run;
	pairs_show(c, p, "without a budget");
	int status = st_tune_refer(c->how, p->argv, reference, &p->instructions, &run, e);
	c->done++;
	return status ? -1 : pairs_check_exit(c, p, &run, "when it was measured", e);
}

static struct st_covered *
reference_of(const struct conduct *c, size_t program)
{
	return c->reference ? c->reference : &c->references[program];
}

static st_status
refer(struct conduct *c, size_t program, struct st_error *e)
{
	struct st_study_program *p = &c->study->programs.v[program];
	struct st_tune_run native, measured;
	if (run_native(c, p, &native, e) || st_tune_interrupted())
		return -1;
	p->exit_code = native.exit_code;
	p->native = native.time;
	if (pairs_find_instructions(c, p, reference_of(c, program), e) || st_tune_interrupted() ||
	    run_measured(c, p, &(struct st_tune_asked){0}, &measured, e) ||
	    pairs_check_exit(c, p, &measured, "when it was measured", e))
		return -1;
	p->measured = measured.time;
	p->raw = measured.raw;
	return p->instructions && p->raw
	               ? 0
	               : st_fail(e, ST_EXIT_FAILED, "nothing of %s was measured", p->argv[0]);
}

/* ---- with one ---- */

/* The pair; not whole after a signal. 0, or -1 with *e. */
static int
run_pair(struct conduct *c, const struct st_study_step *step, size_t repetition,
         struct st_study_pair *out, struct st_error *e)
{
	struct st_study *s = c->study;
	const struct st_study_program *p = &s->programs.v[step->program];
	const struct st_tune_asked asked = {.budget = s->budgets[step->budget],
	                                    .period = s->periods[step->period],
	                                    .reference = reference_of(c, step->program)};
	struct st_tune_run native = {0}, measured = {0};
	int status = 0;
	for (int i = 0; i < 2 && !status && !st_tune_interrupted(); i++)
		status = (i == 0) == step->native_first ? run_native(c, p, &native, e)
		                                        : run_measured(c, p, &asked, &measured, e);
	if (status || st_tune_interrupted())
		return status;
	if (pairs_check_exit(c, p, &native, "later", e) ||
	    pairs_check_exit(c, p, &measured, "when it was measured", e))
		return -1;
	*out = (struct st_study_pair){.program = step->program,
	                              .budget = step->budget,
	                              .period = step->period,
	                              .repetition = repetition,
	                              .native = native.time,
	                              .measured = measured.time,
	                              .instructions = measured.instructions,
	                              .raw = measured.raw};
	return 0;
}

/* ---- the pairs as an experiment ---- */

/* A variant is a combination of program, budget and period. */
static void
give_order(void *arg, size_t repetition, size_t *variants)
{
	const struct conduct *c = arg;
	const struct st_study *s = c->study;
	st_study_plan(s, repetition, c->steps);
	for (size_t i = 0; i < st_study_steps(s); i++) {
		const struct st_study_step *step = &c->steps[i];
		variants[i] =
		        (step->program * s->n_budgets + step->budget) * s->n_periods + step->period;
	}
}

static int
pairs_execute(void *arg, const struct st_experiment_step *step, FILE *result, struct st_error *e)
{
	struct conduct *c = arg;
	struct st_study_pair pair = {0};
	st_study_plan(c->study, step->repetition, c->steps);
	const struct st_study_step *planned = &c->steps[step->run % st_study_steps(c->study)];
	if (run_pair(c, planned, step->repetition, &pair, e))
		return -1;
	st_study_write_pair(&pair, result);
	return 0;
}

static int
pairs_take_pair(void *arg, const struct st_experiment_step *step, const char *result,
                struct st_error *e)
{
	struct conduct *c = arg;
	(void)step;
	struct st_study_pair *pair = ST_PUSH(&c->study->pairs);
	if (!pair)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	return st_study_read_pair(pair, result)
	               ? 0
	               : st_fail(e, ST_EXIT_FAILED, "the result of a run is no pair: %s", result);
}

static bool
pairs_is_interrupted(void *arg)
{
	(void)arg;
	return st_tune_interrupted() != 0;
}

static st_status
run_pairs(struct conduct *c, struct st_error *e)
{
	struct st_study *s = c->study;
	const struct st_experiment_plan plan = {.n_variants = st_study_steps(s),
	                                        .n_repetitions = s->repeat,
	                                        .order = ST_EXPERIMENT_GIVEN,
	                                        .give_order = give_order};
	const struct st_experiment_runner runner = {pairs_execute, pairs_take_pair,
	                                            pairs_is_interrupted, c};
	enum st_experiment_end end = ST_EXPERIMENT_FAILED;
	struct st_experiment *x = st_experiment_open(&plan, &runner, e);
	if (!x)
		return ST_FAILED;
	st_status status = st_experiment_run(x, &end, e);
	s->complete = end == ST_EXPERIMENT_COMPLETE;
	st_experiment_close(x);
	return status;
}

static st_status
run_all(struct conduct *c, struct st_error *e)
{
	struct st_study *s = c->study;
	for (size_t i = 0; i < s->programs.n && !st_tune_interrupted(); i++)
		if (refer(c, i, e))
			return -1;
	return run_pairs(c, e);
}

/* ---- parts ---- */

st_status
st_tune_program(struct st_study *s, struct st_tune_how *how, size_t program,
                struct st_covered *reference, struct st_error *e)
{
	struct conduct c = {
	        .study = s, .how = how, .reference = reference, .all = 3, .begin = st_now_raw()};
	const st_status status = refer(&c, program, e);
	how->show(how->arg, NULL);
	return status;
}

st_status
st_tune_pair(struct st_study *s, struct st_tune_how *how, const struct st_study_step *step,
             size_t repetition, struct st_covered *reference, struct st_study_pair *out,
             struct st_error *e)
{
	struct conduct c = {
	        .study = s, .how = how, .reference = reference, .all = 2, .begin = st_now_raw()};
	const st_status status = run_pair(&c, step, repetition, out, e) ? ST_FAILED : ST_OK;
	how->show(how->arg, NULL);
	return status;
}

/* ---- the study ---- */

st_status
st_tune_study(struct st_study *s, struct st_tune_how *how, struct st_error *e)
{
	enum { REFERRING = 3 }; /* runs of each program */
	struct conduct c = {.study = s,
	                    .how = how,
	                    .references = calloc(s->programs.n, sizeof *c.references),
	                    .all = REFERRING * s->programs.n + 2 * s->repeat * st_study_steps(s),
	                    .begin = st_now_raw()};
	c.steps = calloc(st_study_steps(s), sizeof *c.steps);
	int status = c.references && c.steps ? run_all(&c, e)
	                                     : st_fail(e, ST_EXIT_FAILED, "out of memory");
	how->show(how->arg, NULL);
	/* A run that a signal ended is no failure. */
	if (status && st_tune_interrupted())
		status = 0;
	for (size_t i = 0; c.references && i < s->programs.n; i++)
		st_covered_free(&c.references[i]);
	free(c.references);
	free(c.steps);
	return status;
}
