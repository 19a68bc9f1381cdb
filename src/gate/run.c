/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a gate: builds the sides, measures the benchmarks and decides. */
#include <stdlib.h>
#include <string.h>

#include "gate/calibrate.h"
#include "gate/elsewhere.h"
#include "gate/result.h"
#include "gate/rules.h"

static st_status
gate_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the gate");
}

/* ---- time ---- */

/* Shows the number of each pair before it is measured. */
struct gate_clock {
	const struct st_gate_options *o;
	const struct st_gate_sampler *inner;
	const char *title;
};

static st_status
gate_measure_shown(void *arg, const struct st_gate_pair *pair, double ns[ST_GATE_SIDES],
                   struct st_error *e)
{
	const struct gate_clock *c = arg;
	char text[128];
	snprintf(text, sizeof text, "pair %zu of at most %zu: %s", pair->number + 1,
	         c->o->rule.pairs, c->title);
	st_gate_show(&c->o->listener, text);
	return c->inner->measure(c->inner->arg, pair, ns, e);
}

static st_status
gate_plan_shown(void *arg, const struct st_gate_pair *pair, struct st_error *e)
{
	const struct gate_clock *c = arg;
	return c->inner->plan(c->inner->arg, pair, e);
}

static st_status
gate_time_pairs(const struct st_gate_task *t, const struct st_gate_sampler *inner,
                struct st_gate_time *out, struct st_error *e)
{
	struct gate_clock clock = {t->o, inner, t->title};
	const struct st_gate_sampler shown = {gate_measure_shown, st_gate_is_interrupted,
	                                      st_gate_now, &clock,
	                                      inner->plan ? gate_plan_shown : NULL};
	return st_gate_measure(&t->rule, &shown, t->o->seed + t->round, out, e);
}

st_status
st_gate_time_task(const struct st_gate_task *t, struct st_gate_time *out, struct st_error *e)
{
	struct st_gate_runs runs = {
	        .commands = {t->commands[ST_GATE_BASE], t->commands[ST_GATE_TARGET]},
	        .input = t->input,
	        .duet = t->o->duet,
	        .metric = t->o->metric,
	        .cpus = t->o->cpus,
	        .unpinned = t->o->unpinned,
	};
	struct st_gate_replay replay = {0};
	struct st_gate_far_pairs far = {.w = t->elsewhere, .runs = &runs};
	struct st_gate_sampler inner = {.measure = st_gate_run_pair, .arg = &runs};
	st_status status = st_gate_runs_begin(&runs, e);
	if (t->elsewhere)
		inner = (struct st_gate_sampler){
		        .measure = st_gate_far_pair, .arg = &far, .plan = st_gate_far_plan};
	if (!status && t->o->times) {
		inner = (struct st_gate_sampler){.measure = st_gate_replay_pair, .arg = &replay};
		status = st_gate_replay_open(&replay, t->o->times, t->times_at ? *t->times_at : 0,
		                             e);
	}
	if (!status)
		status = gate_time_pairs(t, &inner, out, e);
	if (!status && t->elsewhere && !out->interrupted)
		status = st_gate_far_end(&far, out->ratios.n, e);
	const long at = st_gate_replay_close(&replay);
	if (t->times_at)
		*t->times_at = at;
	return status;
}

/* ---- counts ---- */

static st_status
gate_count_side(const struct st_gate_task *t, int side, size_t run, struct st_gate_counts *c,
                struct st_error *e)
{
	const struct st_gate_counting counting = {.strobe = t->o->strobe,
	                                          .command = &t->commands[side],
	                                          .input = t->input,
	                                          .timeout = t->o->timeout,
	                                          .side = side};
	char text[128];
	snprintf(text, sizeof text, "counting the %s, run %zu of %zu: %s", st_gate_sides[side],
	         run + 1, t->o->counts, t->title);
	st_gate_show(&t->o->listener, text);
	return st_gate_count_run(&counting, &c->profiles[side][run], e);
}

st_status
st_gate_count_task(const struct st_gate_task *t, struct st_gate_counts *c, struct st_error *e)
{
	for (size_t run = 0; run < t->o->counts; run++)
		for (int side = 0; side < ST_GATE_SIDES; side++)
			if (gate_count_side(t, side, run, c, e))
				return ST_FAILED;
	c->runs = t->o->counts;
	return c->runs ? st_gate_count_judge(c, &t->o->limits, e) : ST_OK;
}

/* ---- the whole ---- */

static void
gate_conclude(const struct st_gate_options *o, struct st_gate_benchmark *b,
              struct st_gate_result *out)
{
	b->verdict = ST_GATE_PASS;
	if (b->counts.runs)
		b->verdict = b->counts.verdict;
	if (o->rule.pairs && b->time.verdict > b->verdict)
		b->verdict = b->time.verdict;
	/* Functions that the pairs do not decide leave the verdict on the program as it is, because
	 * of many functions some always remain; but they are no pass where there is no other
	 * verdict. */
	if (b->functions.pairs && b->functions.verdict > b->verdict)
		b->verdict = b->functions.verdict;
	if (b->verdict == ST_GATE_PASS && !b->counts.runs && !o->rule.pairs &&
	    !st_gate_function_times_decided(&b->functions))
		b->verdict = ST_GATE_INCONCLUSIVE;
	out->interrupted |= b->time.interrupted;
	if (b->verdict > out->verdict)
		out->verdict = b->verdict;
}

/* Calibrations are of this machine. */
static bool
gate_is_here(const struct st_gate_options *o)
{
	return !o->place.on || strncmp(o->place.on, "slurm", 5) != 0;
}

static st_status
gate_benchmark(struct st_gate_task *t, struct st_gate_result *out, struct st_error *e)
{
	if (t->o->gates)
		return st_gate_calibrate(t, out, e);
	if (gate_is_here(t->o) && st_gate_calibration_apply(t, out, e))
		return ST_FAILED;
	struct st_gate_benchmark *b = ST_PUSH(&out->benchmarks);
	if (!b || !(b->title = strdup(t->title)))
		return gate_no_memory(e);
	if (st_gate_count_task(t, &b->counts, e) ||
	    (t->rule.pairs && st_gate_time_task(t, &b->time, e)))
		return ST_FAILED;
	if (t->o->functions && !b->time.interrupted &&
	    st_gate_function_time_task(t, &b->counts, &b->functions, e))
		return ST_FAILED;
	gate_conclude(t->o, b, out);
	return ST_OK;
}

/* Several benchmarks share the probability of a false alarm; so do the time of the program and the
 * times of its functions. */
static st_status
gate_each_benchmark(struct st_gate_options *o, const struct st_gate_cases *cases,
                    const char *const folders[ST_GATE_SIDES], struct st_gate_elsewhere *elsewhere,
                    struct st_gate_result *out, struct st_error *e)
{
	const char *folder = folders[ST_GATE_TARGET];
	st_status status = ST_OK;
	out->folder = realpath(folder ? folder : ".", NULL);
	for (size_t i = 0; i < cases->v.n && !status && !out->interrupted; i++) {
		const struct st_gate_case *c = &cases->v.v[i];
		struct st_gate_task task = {
		        .o = o,
		        .title = c->title,
		        .base_title = c->base_title,
		        .commands = {{c->words[ST_GATE_BASE], folders[ST_GATE_BASE]},
		                     {c->words[ST_GATE_TARGET], folders[ST_GATE_TARGET]}},
		        .input = c->input,
		        .rule = o->rule,
		        .elsewhere = elsewhere};
		task.rule.alarm /= (double)cases->v.n * (o->functions && o->rule.pairs ? 2 : 1);
		status = gate_benchmark(&task, out, e);
	}
	return status;
}

static st_status
gate_benchmarks(struct st_gate_options *o, const struct st_gate_cases *cases,
                const char *const folders[ST_GATE_SIDES], struct st_gate_result *out,
                struct st_error *e)
{
	struct st_gate_elsewhere elsewhere = {0};
	if (!o->place.on)
		return gate_each_benchmark(o, cases, folders, NULL, out, e);
	st_status status = st_gate_elsewhere_begin(&elsewhere, o, out->commits, cases, e);
	if (!status)
		status = gate_each_benchmark(o, cases, folders, &elsewhere, out, e);
	if (st_gate_elsewhere_end(&elsewhere, !status && !out->interrupted, out) && !status)
		status = gate_no_memory(e);
	return status;
}

static st_status
gate_not_built(const struct st_gate_build *b, int side, struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "cannot build the %s, %.10s: %s", st_gate_sides[side],
	               b->commit, b->reason);
}

static st_status
gate_built(struct st_gate_options *o, const struct st_gate_project *p,
           const struct st_gate_build *builds, struct st_gate_result *out, struct st_error *e)
{
	const char *const folders[] = {builds[ST_GATE_BASE].folder, builds[ST_GATE_TARGET].folder};
	struct st_gate_cases cases = {0};
	for (int side = 0; side < ST_GATE_SIDES; side++)
		if (builds[side].commit && !(out->commits[side] = strdup(builds[side].commit)))
			return gate_no_memory(e);
	st_status status = st_gate_project_cases(p, &cases, e);
	if (!status)
		status = gate_benchmarks(o, &cases, folders, out, e);
	st_gate_cases_free(&cases);
	return status;
}

/* Both sides are versions. */
static st_status
gate_versions(struct st_gate_options *o, struct st_gate_result *out, struct st_error *e)
{
	struct st_gate_project p;
	struct st_gate_build builds[ST_GATE_SIDES] = {0};
	st_status status = st_gate_project_open(&p, o->arguments, &o->listener, e);
	for (int side = 0; side < ST_GATE_SIDES && !status && !out->interrupted; side++) {
		status = st_gate_build_make(&p, o->names[side], st_gate_sides[side], &builds[side],
		                            e);
		if (!status && builds[side].reason)
			status = gate_not_built(&builds[side], side, e);
		out->interrupted = builds[side].interrupted;
	}
	if (!status && !out->interrupted)
		status = gate_built(o, &p, builds, out, e);
	for (int side = 0; side < ST_GATE_SIDES; side++)
		st_gate_build_remove(&builds[side]);
	st_gate_project_close(&p);
	return status;
}

static st_status
gate_commands(struct st_gate_options *o, struct st_gate_result *out, struct st_error *e)
{
	static const char *const here[ST_GATE_SIDES] = {NULL, NULL};
	struct st_gate_cases cases;
	st_status status = st_gate_command_case(o->names, o->arguments, &cases, e);
	if (!status)
		status = gate_benchmarks(o, &cases, here, out, e);
	st_gate_cases_free(&cases);
	return status;
}

static st_status
gate_check_measured(const struct st_gate_options *o, struct st_error *e)
{
	if (o->gates && !o->rule.pairs)
		return st_fail(e, ST_EXIT_USAGE,
		               "--calibrate measures time, and --pairs 0 does not: leave out one "
		               "of them");
	if (o->gates && o->functions)
		return st_fail(e, ST_EXIT_USAGE,
		               "--calibrate measures the time of programs: leave out --functions");
	return o->rule.pairs || o->counts || o->functions
	               ? ST_OK
	               : st_fail(e, ST_EXIT_USAGE,
	                         "--pairs 0 and --counts 0 leave nothing to measure: leave out "
	                         "one of them");
}

/* Two runs that share a CPU wait for each other, which is a part of their elapsed time. Workers
 * execute the runs of a task one after the other. */
static st_status
gate_settle_duet(struct st_gate_options *o, struct st_error *e)
{
	const bool wall = o->metric == ST_GATE_WALL;
	if (!o->duet_set)
		o->duet = wall || o->place.on ? ST_GATE_ALTERNATE : ST_GATE_SHARED;
	return wall && o->duet == ST_GATE_SHARED
	               ? st_fail(e, ST_EXIT_USAGE,
	                         "--duet shared compares CPU time, because two runs on one CPU "
	                         "wait for each other: use --duet alternate with --metric wall")
	               : ST_OK;
}

/* Reads the calibrations. Without a repository, none can be kept. */
static st_status
gate_begin_calibrations(const struct st_gate_options *o, struct st_gate_result *out,
                        struct st_error *e)
{
	if (st_gate_calibrations_read(&out->calibrations, e))
		return ST_FAILED;
	return !o->gates || out->calibrations.path
	               ? ST_OK
	               : st_fail(e, ST_EXIT_FAILED,
	                         "there is no repository around the current folder to keep the "
	                         "calibration in: run strobe gate --calibrate in one");
}

static st_status
gate_end(const struct st_gate_options *o, struct st_gate_result *out, struct st_error *e)
{
	if (o->gates)
		return out->interrupted
		               ? ST_OK
		               : st_gate_calibrations_keep(&out->calibrations, out->calibrated, e);
	return st_gate_rules_notes(o, out) ? gate_no_memory(e) : ST_OK;
}

st_status
st_gate_run(struct st_gate_options *o, struct st_gate_result *out, struct st_error *e)
{
	bool versions[ST_GATE_SIDES];
	*out = (struct st_gate_result){.verdict = ST_GATE_PASS};
	if (gate_check_measured(o, e) || gate_settle_duet(o, e) ||
	    gate_begin_calibrations(o, out, e))
		return ST_FAILED;
	for (int side = 0; side < ST_GATE_SIDES; side++)
		if (st_gate_is_version(o->names[side], &versions[side], e))
			return ST_FAILED;
	if (versions[ST_GATE_BASE] != versions[ST_GATE_TARGET]) {
		const int version = versions[ST_GATE_TARGET] ? ST_GATE_TARGET : ST_GATE_BASE;
		return st_fail(e, ST_EXIT_USAGE,
		               "the %s '%s' is a version and the %s '%s' is not: give two versions "
		               "or two commands",
		               st_gate_sides[version], o->names[version], st_gate_sides[!version],
		               o->names[!version]);
	}
	if (o->place.on && st_gate_elsewhere_check(o, versions[ST_GATE_BASE], e))
		return ST_FAILED;
	st_status status =
	        versions[ST_GATE_BASE] ? gate_versions(o, out, e) : gate_commands(o, out, e);
	return status ? status : gate_end(o, out, e);
}

void
st_gate_result_free(struct st_gate_result *r)
{
	for (size_t i = 0; i < r->benchmarks.n; i++) {
		free(r->benchmarks.v[i].title);
		st_gate_counts_free(&r->benchmarks.v[i].counts);
		st_gate_time_free(&r->benchmarks.v[i].time);
		st_gate_function_times_free(&r->benchmarks.v[i].functions);
	}
	free(r->benchmarks.v);
	for (size_t i = 0; i < r->notes.n; i++)
		free(r->notes.v[i]);
	free(r->notes.v);
	st_gate_calibrations_free(&r->calibrations);
	free(r->folder);
	free(r->campaign);
	for (int side = 0; side < ST_GATE_SIDES; side++)
		free(r->commits[side]);
	*r = (struct st_gate_result){0};
}
