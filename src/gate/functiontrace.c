/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces pairs of runs for the times of functions. */
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/text.h"
#include "gate/duet.h"
#include "gate/result.h"
#include "profile/profile.h"
#include "profile/tables.h"

enum { MOST_PADDING = 4096 };

/* The file of the image; the program has one name on both sides. */
static const char *
functiontrace_image(const struct st_profile *p, uint32_t image)
{
	const char *path = p->images.v[image].path;
	return st_profile_is_program(p, path) ? "the program" : st_base_name(path);
}

/* Reads the times of a trace. Texts are those of the profile. */
static st_status
functiontrace_read(const struct st_profile *p, struct st_gate_timed_run *out)
{
	enum { THREAD, FUNCTION, CALLS, INCLUSIVE, OUTERMOST, EXCLUSIVE, COLUMNS = 9 };
	const struct st_profile_table *t =
	        st_profile_table_find(p, "calltimes", "functions", COLUMNS);
	for (size_t row = 0; t && row < st_profile_rows(t); row++) {
		const struct st_profile_value *v = &t->values.v[row * t->n_columns];
		const struct st_profile_value *f = &v[FUNCTION];
		if (!f->text || f->image >= p->images.n || !v[EXCLUSIVE].number)
			continue;
		struct st_gate_timed *slot = ST_PUSH(&out->v);
		if (!slot)
			return ST_FAILED;
		*slot = (struct st_gate_timed){.name = f->text,
		                               .image = functiontrace_image(p, f->image),
		                               .ns = (double)v[EXCLUSIVE].number};
	}
	return ST_OK;
}

/* A traced run of a side. */
struct functiontrace_run {
	const struct st_gate_task *t;
	int side;
	unsigned padding;
	cpu_set_t cpus;
	struct st_profile *profile;
	struct st_gate_timed_run times;
	st_status status;
	struct st_error e;
};

static void *
functiontrace_side(void *arg)
{
	static const char *const elapsed[] = {"trace", "-q", "-f", "-o", NULL};
	static const char *const cpu[] = {"trace", "-q", "-f", "--cpu", "-o", NULL};
	struct functiontrace_run *run = arg;
	const struct st_gate_task *t = run->t;
	char setting[ST_GATE_PADDING];
	char *settings[] = {setting, NULL};
	const struct st_gate_counting counting = {.strobe = t->o->strobe,
	                                          .command = &t->commands[run->side],
	                                          .input = t->input,
	                                          .timeout = t->o->timeout,
	                                          .side = run->side,
	                                          .words = t->o->metric == ST_GATE_CPU ? cpu
	                                                                               : elapsed,
	                                          .how = "while its functions were traced",
	                                          .option = "--functions 0",
	                                          .settings = settings,
	                                          .cpus = &run->cpus,
	                                          .advice = st_gate_duet_advice(t->o->duet)};
	st_gate_padding(setting, run->padding);
	run->status = st_gate_count_run(&counting, &run->profile, &run->e);
	return NULL;
}

/* Runs both sides; runs[0] is the side that begins. */
static st_status
functiontrace_both(const struct st_gate_task *t, const struct st_gate_runs *r, uint64_t *random,
                   struct functiontrace_run *runs, struct st_error *e)
{
	struct st_gate_pair pair = {.first = (int)st_random_below(random, 2)};
	for (int i = 0; i < ST_GATE_SIDES; i++)
		runs[i] = (struct functiontrace_run){
		        .t = t,
		        .side = i ? !pair.first : pair.first,
		        .padding = (unsigned)st_random_below(random, MOST_PADDING)};
	pair.random = st_random_next(random);
	for (int i = 0; i < ST_GATE_SIDES; i++)
		st_gate_choose_cpus(r, &pair, runs[i].side, &runs[i].cpus);
	st_status status = st_gate_run_both(r->duet, functiontrace_side, &runs[0], &runs[1], e);
	for (int i = 0; i < ST_GATE_SIDES && !status; i++) {
		status = runs[i].status;
		if (status)
			*e = runs[i].e;
		else if (functiontrace_read(runs[i].profile, &runs[i].times))
			status = st_fail(e, ST_EXIT_FAILED, "no memory left for the functions");
	}
	return status;
}

/* Names of functions whose counts changed. malloc'ed; NULL: no memory. */
static const char **
functiontrace_changed(const struct st_gate_counts *c)
{
	const char **names = calloc(c->functions.n + 1, sizeof *names);
	for (size_t i = 0; names && i < c->functions.n; i++)
		names[i] = c->functions.v[i].name;
	return names;
}

static st_status
functiontrace_pair(const struct st_gate_task *t, const struct st_gate_runs *r,
                   const struct st_gate_counts *c, uint64_t *random,
                   struct st_gate_function_times *out, struct st_error *e)
{
	struct functiontrace_run runs[ST_GATE_SIDES] = {0};
	struct st_gate_timed_run times[ST_GATE_SIDES] = {0};
	const char **changed = functiontrace_changed(c);
	st_status status = changed ? functiontrace_both(t, r, random, runs, e)
	                           : st_fail(e, ST_EXIT_FAILED, "no memory left");
	for (int i = 0; i < ST_GATE_SIDES; i++)
		times[runs[i].side] = runs[i].times;
	if (!status)
		status = st_gate_function_times_add(out, times, changed, c->functions.n, e);
	for (int i = 0; i < ST_GATE_SIDES; i++) {
		free(runs[i].times.v.v);
		st_profile_free(runs[i].profile);
	}
	free(changed);
	return status;
}

st_status
st_gate_function_time_task(const struct st_gate_task *t, const struct st_gate_counts *c,
                           struct st_gate_function_times *out, struct st_error *e)
{
	/* Another sequence than that of the pairs without a trace. */
	uint64_t random = t->o->seed ^ 0x66756e6374696f6e;
	const double begin = st_gate_now(NULL);
	struct st_gate_runs r = {
	        .duet = t->o->duet, .cpus = t->o->cpus, .unpinned = t->o->unpinned};
	st_status status = st_gate_runs_begin(&r, e);
	*out = (struct st_gate_function_times){0};
	while (out->pairs < t->o->functions && !status && !st_gate_function_times_decided(out)) {
		char text[128];
		if (out->pairs && t->rule.seconds > 0 &&
		    st_gate_now(NULL) - begin >= t->rule.seconds)
			break;
		snprintf(text, sizeof text, "tracing pair %zu of at most %zu: %s", out->pairs + 1,
		         t->o->functions, t->title);
		st_gate_show(&t->o->listener, text);
		status = functiontrace_pair(t, &r, c, &random, out, e);
		if (!status && st_gate_function_times_judge(out, &t->rule, t->o->limits.least))
			status = st_fail(e, ST_EXIT_FAILED, "no memory left for the functions");
	}
	out->seconds = st_gate_now(NULL) - begin;
	st_gate_function_times_order(out);
	return status;
}
