/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs of a search: natively, once without a budget, and then with each budget or
 * threshold that is tried. */
#include <stdio.h>

#include "base/number.h"
#include "tune/run.h"

/* A search under way. */
struct seeking {
	struct st_limit *limit;
	struct st_tune_how *how;
	struct st_qos_choice qos;
	char *const *argv;
	struct st_covered reference;
	int exit_code;
	struct st_error *error;
};

static void
search_show(struct seeking *s, const char *what)
{
	char line[256];
	snprintf(line, sizeof line, "strobe: %s: %s", s->argv[0], what);
	s->how->show(s->how->arg, line);
}

/* A program that SIGTERM ends may end in any way. */
static st_status
search_check_exit(const struct seeking *s, const struct st_tune_run *run)
{
	return s->how->length > 0 || run->exit_code == s->exit_code
	               ? 0
	               : st_fail(s->error, ST_EXIT_FAILED,
	                         "%s exited with %d at first and with %d later: its runs cannot "
	                         "be compared",
	                         s->argv[0], s->exit_code, run->exit_code);
}

/* The value without Strobe: no budget can be better. */
static st_status
run_natively(struct seeking *s)
{
	struct st_limit *l = s->limit;
	const struct st_tune_asked asked = {.period = l->period, .qos = &s->qos};
	for (size_t r = 0; r < l->repeat && !st_tune_interrupted(); r++) {
		struct st_tune_run run = {0};
		search_show(s, "native");
		if (st_tune_native(s->how, &asked, s->argv, &run, s->error))
			return -1;
		s->exit_code = r ? s->exit_code : run.exit_code;
		if (search_check_exit(s, &run))
			return -1;
		st_quality_add(&l->native, &run.quality, l->lower);
	}
	if (st_tune_interrupted() || st_quality_holds(&l->native))
		return 0;
	return st_fail(s->error, ST_EXIT_FAILED,
	               "natively %s %.6g is kept in %s of %s only: no budget can do better",
	               l->lower ? "--qos-max" : "--qos-min", l->threshold,
	               ST_NUMBER(l->native.kept),
	               ST_COUNT(l->native.readings, "reading", "readings"));
}

static st_status
search_find_instructions(struct seeking *s)
{
	struct st_tune_run run;
	search_show(s, "without a budget");
	if (st_tune_refer(s->how, s->argv, &s->reference, &s->limit->instructions, &run, s->error))
		return -1;
	return search_check_exit(s, &run);
}

/* Does the level hold? 1, 0, or -1 with the error. */
static int
try_level(void *arg, int i)
{
	struct seeking *s = arg;
	struct st_limit *l = s->limit;
	struct st_limit_step step = {.level = st_limit_level(l, i)};
	struct st_qos_choice qos = s->qos;
	char what[64];
	if (l->of_threshold)
		*(qos.has_min ? &qos.min : &qos.max) = step.level;
	const struct st_tune_asked asked = {.budget = l->of_threshold ? l->budget : step.level,
	                                    .period = l->period,
	                                    .reference = &s->reference,
	                                    .qos = &qos};
	snprintf(what, sizeof what, l->of_threshold ? "threshold %.6g" : "B %.0f %%",
	         l->of_threshold ? step.level : 100 * step.level);
	for (size_t r = 0; r < l->repeat; r++) {
		struct st_tune_run run;
		search_show(s, what);
		if (st_tune_measured(s->how, &asked, s->argv, &run, s->error) ||
		    st_tune_interrupted() || search_check_exit(s, &run))
			return -1;
		st_quality_add(&step.quality, &run.quality, l->lower);
		step.instructions = run.instructions;
	}
	step.holds = st_quality_holds(&step.quality);
	struct st_limit_step *kept = ST_PUSH(&l->steps);
	if (!kept)
		return st_fail(s->error, ST_EXIT_FAILED, "out of memory");
	*kept = step;
	return step.holds;
}

/* The last step that held is the best: later ones are tried above it only. */
static void
search_choose(struct st_limit *l)
{
	for (size_t i = 0; i < l->steps.n; i++)
		if (l->steps.v[i].holds) {
			l->found = true;
			l->best = i;
		}
}

/* Runs with the best level, which share a log, until nearly everything has been measured. 0, or -1
 * with the error. */
static st_status
cover(struct seeking *s)
{
	struct st_limit *l = s->limit;
	const struct st_limit_step *best = &l->steps.v[l->best];
	struct st_qos_choice qos = s->qos;
	char log[sizeof s->how->folder + 16];
	snprintf(log, sizeof log, "%s/log", s->how->folder);
	if (l->of_threshold)
		*(qos.has_min ? &qos.min : &qos.max) = best->level;
	const struct st_tune_asked asked = {.budget = l->of_threshold ? l->budget : best->level,
	                                    .period = l->period,
	                                    .log = log,
	                                    .qos = &qos};
	while (l->n_runs < ST_LIMIT_RUNS && !st_limit_runs_to(l, ST_LIMIT_COVERED)) {
		struct st_tune_run run;
		uint64_t covered;
		char what[64];
		snprintf(what, sizeof what, "further run %zu", l->n_runs + 1);
		search_show(s, what);
		if (st_tune_measured(s->how, &asked, s->argv, &run, s->error) ||
		    st_tune_interrupted() || search_check_exit(s, &run) ||
		    st_tune_covered(&s->reference, log, &covered, s->error))
			return -1;
		l->covered[l->n_runs++] = covered;
	}
	return 0;
}

static st_status
seek(struct seeking *s)
{
	if (run_natively(s) || st_tune_interrupted() || search_find_instructions(s) ||
	    st_tune_interrupted())
		return -1;
	int best = st_limit_search(ST_LIMIT_LEVELS, try_level, s);
	/* The threshold that was given has not been tried yet; natively it is kept. */
	if (best == 0 && s->limit->of_threshold)
		best = try_level(s, 0);
	search_choose(s->limit);
	s->limit->complete = best >= 0;
	if (best < 0)
		return -1;
	/* The limit found stands, even if the following runs fail. */
	if (s->limit->found && cover(s) && !st_tune_interrupted()) {
		char sentence[sizeof s->error->text + 80];
		snprintf(sentence, sizeof sentence,
		         "the unique coverage of further runs was not measured: %s",
		         s->error->text);
		s->how->say(s->how->arg, sentence);
	}
	st_tune_clear(s->how);
	return 0;
}

int
st_tune_limit(struct st_limit *l, struct st_tune_how *how, const struct st_qos_choice *qos,
              char *const *argv, struct st_error *e)
{
	struct seeking s = {.limit = l, .how = how, .qos = *qos, .argv = argv, .error = e};
	s.qos.policy = l->of_threshold ? qos->policy : ST_QOS_WATCH;
	int status = seek(&s);
	how->show(how->arg, NULL);
	st_covered_free(&s.reference);
	/* A run that a signal ended is no failure. */
	return st_tune_interrupted() ? 0 : status;
}
