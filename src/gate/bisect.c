/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gate/bisect.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "profile/profile.h"
#include "timing/timing.h"

struct bisect {
	struct st_gate_options *o;
	struct st_bisect_result *out;
	struct st_gate_project project;
	struct st_gate_build good; /* for time: the build that each commit is compared with */
	struct st_gate_cases cases;
	const struct st_gate_case *benchmark;
	size_t judged;
};

static st_status
bisect_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left to bisect");
}

/* ---- the quantity ---- */

/* Chooses the count that has grown beyond its limit: of the program, otherwise of a function. */
static bool
bisect_choose_count(const struct st_gate_counts *c, struct st_bisect_quantity *q)
{
	*q = (struct st_bisect_quantity){0};
	for (int i = 0; i < ST_GATE_N_COUNTED; i++) {
		if (c->program[i].verdict != ST_GATE_REGRESSION)
			continue;
		q->counted = (enum st_gate_counted)i;
		memcpy(q->value, c->program[i].value, sizeof q->value);
		return true;
	}
	for (size_t i = 0; i < c->functions.n; i++) {
		const struct st_gate_function *f = &c->functions.v[i];
		if (f->instructions.verdict != ST_GATE_REGRESSION)
			continue;
		q->function = strdup(f->name);
		memcpy(q->value, f->instructions.value, sizeof q->value);
		return q->function != NULL;
	}
	return false;
}

static bool
bisect_choose(const struct st_gate_benchmark *b, struct st_bisect_quantity *q)
{
	if (b->counts.runs && bisect_choose_count(&b->counts, q))
		return true;
	*q = (struct st_bisect_quantity){.time = true, .value = {0, b->time.change.at}};
	return b->time.ratios.n && b->time.verdict == ST_GATE_REGRESSION;
}

/* ---- a commit ---- */

static double
bisect_value(const struct st_bisect_quantity *q, const struct st_profile *p)
{
	double sum = 0;
	if (!q->function)
		return st_gate_count_of(p, q->counted);
	for (size_t i = 0; i < p->functions.n; i++)
		if (!strcmp(p->functions.v[i].name, q->function))
			sum += (double)p->functions.v[i].instructions;
	return sum;
}

static enum st_bisect_state
bisect_nearer(const struct st_bisect_quantity *q, double value)
{
	return value < (q->value[ST_GATE_BASE] + q->value[ST_GATE_TARGET]) / 2 ? ST_BISECT_GOOD
	                                                                       : ST_BISECT_BAD;
}

/* A failure in a commit does not end the search: the commit is left out. */
static st_status
bisect_leave_out(struct st_bisect_step *s, enum st_bisect_state state, const char *reason,
                 struct st_error *e)
{
	s->state = state;
	s->reason = strdup(reason);
	return s->reason ? ST_OK : bisect_no_memory(e);
}

static st_status
bisect_count(const struct bisect *x, const struct st_gate_build *b, struct st_bisect_step *s,
             struct st_error *e)
{
	const struct st_gate_command command = {x->benchmark->words[ST_GATE_TARGET], b->folder};
	const struct st_gate_counting counting = {.strobe = x->o->strobe,
	                                          .command = &command,
	                                          .input = x->benchmark->input,
	                                          .timeout = x->o->timeout,
	                                          .side = ST_GATE_TARGET};
	struct st_profile *p;
	struct st_error cause;
	if (st_gate_count_run(&counting, &p, &cause)) {
		if (!st_timing_interrupted())
			return bisect_leave_out(s, ST_BISECT_FAILED, cause.text, e);
		*e = cause;
		return ST_FAILED;
	}
	s->value = bisect_value(&x->out->quantity, p);
	s->state = bisect_nearer(&x->out->quantity, s->value);
	st_profile_free(p);
	return ST_OK;
}

/* Judges whether the commit is slower than the good end by half of the change or more. */
static st_status
bisect_time(const struct bisect *x, const struct st_gate_build *b, struct st_bisect_step *s,
            struct st_error *e)
{
	const double half = x->out->quantity.value[ST_GATE_TARGET] / 2;
	struct st_gate_task task = {
	        .o = x->o,
	        .title = s->commit,
	        .commands = {{x->benchmark->words[ST_GATE_BASE], x->good.folder},
	                     {x->benchmark->words[ST_GATE_TARGET], b->folder}},
	        .input = x->benchmark->input,
	        .rule = x->o->rule};
	struct st_gate_time t = {0};
	struct st_error cause;
	task.rule.above = task.rule.limit = half;
	task.rule.miss = task.rule.alarm;
	st_status status = st_gate_time_task(&task, &t, &cause);
	if (status) {
		status = bisect_leave_out(s, ST_BISECT_FAILED, cause.text, e);
	} else {
		s->value = t.change.at;
		if (t.verdict == ST_GATE_INCONCLUSIVE)
			status = bisect_leave_out(
			        s, ST_BISECT_UNDECIDED,
			        "the pairs do not decide whether it is good or bad", e);
		else
			s->state = t.verdict == ST_GATE_PASS ? ST_BISECT_GOOD : ST_BISECT_BAD;
	}
	st_gate_time_free(&t);
	return status;
}

static st_status
bisect_judge(void *arg, size_t i, enum st_bisect_state *state, struct st_error *e)
{
	struct bisect *x = arg;
	struct st_bisect_step *s = &x->out->steps.v[i];
	struct st_gate_build b;
	if (st_timing_interrupted())
		return st_fail(e, 128 + st_timing_interrupted(),
		               "interrupted before the first bad commit was found");
	s->number = ++x->judged;
	st_status status = st_gate_build_make(&x->project, s->commit, "target", &b, e);
	if (!status && b.reason)
		status = bisect_leave_out(s, ST_BISECT_NOT_BUILT, b.reason, e);
	else if (!status && x->out->quantity.time)
		status = bisect_time(x, &b, s, e);
	else if (!status)
		status = bisect_count(x, &b, s, e);
	st_gate_build_remove(&b);
	*state = s->state;
	return status;
}

/* ---- the search ---- */

static st_status
bisect_take_commits(struct bisect *x, struct st_error *e)
{
	const char *const *ends = x->o->names;
	struct st_commits commits = {0};
	char *range = st_text_of("%s..%s", ends[ST_GATE_BASE], ends[ST_GATE_TARGET]);
	st_status status = range ? st_commits_line(&commits, x->project.place.root, range, e)
	                         : bisect_no_memory(e);
	for (size_t i = 0; i < commits.v.n && !status; i++) {
		struct st_bisect_step *s = ST_PUSH(&x->out->steps);
		if (!s || !(s->commit = strdup(commits.v.v[i])))
			status = bisect_no_memory(e);
		else
			s->value = NAN;
	}
	st_commits_free(&commits);
	free(range);
	return status;
}

static st_status
bisect_search(struct bisect *x, struct st_error *e)
{
	struct st_bisect_result *r = x->out;
	enum st_bisect_state *states = calloc(r->steps.n, sizeof *states);
	st_status status = states ? st_bisect_search(r->steps.n, bisect_judge, x, states, &r->first,
	                                             &r->last, e)
	                          : bisect_no_memory(e);
	struct st_bisect_step *last = &r->steps.v[r->steps.n - 1];
	last->state = ST_BISECT_BAD;
	last->value = r->quantity.value[ST_GATE_TARGET];
	free(states);
	return status;
}

/* Compares the counts of the first bad commit with those of the commit before it. */
static st_status
bisect_explain(struct bisect *x, struct st_error *e)
{
	struct st_bisect_result *r = x->out;
	const char *const revs[] = {r->first ? r->steps.v[r->first - 1].commit
	                                     : x->o->names[ST_GATE_BASE],
	                            r->steps.v[r->first].commit};
	struct st_gate_build builds[ST_GATE_SIDES] = {0};
	st_status status = ST_OK;
	if (r->first != r->last || !x->o->counts)
		return ST_OK;
	st_gate_build_remove(&x->good);
	for (int side = 0; side < ST_GATE_SIDES && !status; side++)
		status = st_gate_build_make(&x->project, revs[side], st_gate_sides[side],
		                            &builds[side], e);
	struct st_gate_task task = {
	        .o = x->o,
	        .title = r->title,
	        .commands = {{x->benchmark->words[ST_GATE_BASE], builds[ST_GATE_BASE].folder},
	                     {x->benchmark->words[ST_GATE_TARGET], builds[ST_GATE_TARGET].folder}},
	        .input = x->benchmark->input};
	if (!status)
		status = st_gate_count_task(&task, &r->why, e);
	for (int side = 0; side < ST_GATE_SIDES; side++)
		st_gate_build_remove(&builds[side]);
	return status;
}

/* Searches by the first benchmark in which the ends differ. */
static st_status
bisect_between(struct bisect *x, struct st_error *e)
{
	struct st_bisect_result *r = x->out;
	size_t at = 0;
	while (at < r->ends.benchmarks.n && !bisect_choose(&r->ends.benchmarks.v[at], &r->quantity))
		at++;
	r->nothing = at == r->ends.benchmarks.n;
	if (r->nothing || r->ends.interrupted)
		return ST_OK;
	if (st_gate_project_open(&x->project, x->o->arguments, &x->o->listener, e) ||
	    st_gate_project_cases(&x->project, &x->cases, e) || bisect_take_commits(x, e))
		return ST_FAILED;
	x->benchmark = &x->cases.v.v[at];
	r->title = strdup(x->benchmark->title);
	if (!r->title)
		return bisect_no_memory(e);
	if (r->quantity.time &&
	    st_gate_build_make(&x->project, x->o->names[ST_GATE_BASE], "base", &x->good, e))
		return ST_FAILED;
	return bisect_search(x, e) ? ST_FAILED : bisect_explain(x, e);
}

st_status
st_bisect_run(struct st_gate_options *o, struct st_bisect_result *out, struct st_error *e)
{
	struct bisect x = {.o = o, .out = out};
	*out = (struct st_bisect_result){0};
	for (int side = 0; side < ST_GATE_SIDES; side++) {
		bool version;
		if (st_gate_is_version(o->names[side], &version, e))
			return ST_FAILED;
		if (!version || !strcmp(o->names[side], "."))
			return st_fail(e, ST_EXIT_USAGE,
			               "'%s' is no version of a project around the current folder",
			               o->names[side]);
	}
	st_status status = st_gate_run(o, &out->ends, e);
	if (!status)
		status = bisect_between(&x, e);
	st_gate_build_remove(&x.good);
	st_gate_cases_free(&x.cases);
	st_gate_project_close(&x.project);
	return status;
}

int
st_bisect_exit(const struct st_bisect_result *r)
{
	return !r->nothing && r->first == r->last ? 0 : st_gate_exit(ST_GATE_INCONCLUSIVE);
}

void
st_bisect_result_free(struct st_bisect_result *r)
{
	for (size_t i = 0; i < r->steps.n; i++) {
		free(r->steps.v[i].commit);
		free(r->steps.v[i].reason);
	}
	free(r->steps.v);
	free(r->title);
	free(r->quantity.function);
	st_gate_result_free(&r->ends);
	st_gate_counts_free(&r->why);
	*r = (struct st_bisect_result){0};
}
