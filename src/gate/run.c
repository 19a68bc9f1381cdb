/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A gate from its options to its verdict. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "gate/result.h"
#include "job/job.h"

struct gate {
	const struct st_gate_options *o;
	struct st_gate_result *out;
};

static st_status
gate_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the gate");
}

static void
gate_show(const struct gate *g, const char *text)
{
	if (g->o->show)
		g->o->show(g->o->arg, text);
}

/* ---- commands ---- */

/* The words of a command and the arguments that both sides have, malloc'ed in two pieces. */
struct gate_words {
	char **command, **all;
};

static st_status
gate_make_words(struct gate_words *w, const char *command, char *const *arguments,
                struct st_error *e)
{
	size_t n = 0, more = 0;
	*w = (struct gate_words){.command = st_job_words(command)};
	if (!w->command)
		return st_fail(e, ST_EXIT_USAGE, "a quote of the command is not closed: %s",
		               command);
	while (w->command[n])
		n++;
	while (arguments && arguments[more])
		more++;
	if (!n)
		return st_fail(e, ST_EXIT_USAGE, "a side is an empty command: name a program");
	w->all = calloc(n + more + 1, sizeof *w->all);
	if (!w->all)
		return gate_no_memory(e);
	memcpy(w->all, w->command, n * sizeof *w->all);
	for (size_t i = 0; i < more; i++)
		w->all[n + i] = arguments[i];
	return ST_OK;
}

static void
gate_free_words(struct gate_words *w)
{
	free(w->command);
	free(w->all);
}

static char *
gate_title(char *const *argv)
{
	struct st_text t;
	FILE *out = st_text_begin(&t);
	for (size_t i = 0; out && argv[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", argv[i]);
	return st_text_end(&t);
}

/* ---- time ---- */

struct gate_clock {
	const struct gate *g;
	const struct st_gate_sampler *inner;
};

static st_status
gate_measure_shown(void *arg, const struct st_gate_pair *pair, double ns[ST_GATE_SIDES],
                   struct st_error *e)
{
	const struct gate_clock *c = arg;
	char text[64];
	snprintf(text, sizeof text, "pair %zu of at most %zu", pair->number + 1,
	         c->g->o->rule.pairs);
	gate_show(c->g, text);
	return c->inner->measure(c->inner->arg, pair, ns, e);
}

static st_status
gate_time_pairs(const struct gate *g, const struct st_gate_sampler *inner, struct st_gate_time *out,
                struct st_error *e)
{
	struct gate_clock clock = {g, inner};
	const struct st_gate_sampler shown = {gate_measure_shown, st_gate_is_interrupted,
	                                      st_gate_now, &clock};
	return st_gate_measure(&g->o->rule, &shown, g->o->seed, out, e);
}

static st_status
gate_time(const struct gate *g, const struct gate_words *words, struct st_gate_time *out,
          struct st_error *e)
{
	struct st_gate_runs runs = {
	        .commands = {{words[ST_GATE_BASE].all, NULL}, {words[ST_GATE_TARGET].all, NULL}},
	        .duet = g->o->duet,
	        .metric = g->o->metric,
	        .cpus = g->o->cpus,
	        .unpinned = g->o->unpinned,
	};
	struct st_gate_replay replay = {0};
	struct st_gate_sampler inner = {.measure = st_gate_run_pair, .arg = &runs};
	st_status status = st_gate_runs_begin(&runs, e);
	if (!status && g->o->times) {
		inner = (struct st_gate_sampler){.measure = st_gate_replay_pair, .arg = &replay};
		status = st_gate_replay_open(&replay, g->o->times, e);
	}
	if (!status)
		status = gate_time_pairs(g, &inner, out, e);
	st_gate_replay_close(&replay);
	return status;
}

/* ---- counts ---- */

static st_status
gate_count_side(const struct gate *g, const struct gate_words *words, int side, size_t run,
                struct st_gate_counts *c, struct st_error *e)
{
	const struct st_gate_command command = {.argv = words[side].all};
	const struct st_gate_counting counting = {.strobe = g->o->strobe,
	                                          .command = &command,
	                                          .timeout = g->o->timeout,
	                                          .side = side};
	char text[64];
	snprintf(text, sizeof text, "counting the %s, run %zu of %zu", st_gate_sides[side], run + 1,
	         g->o->counts);
	gate_show(g, text);
	return st_gate_count_run(&counting, &c->profiles[side][run], e);
}

static st_status
gate_count(const struct gate *g, const struct gate_words *words, struct st_gate_counts *c,
           struct st_error *e)
{
	for (size_t run = 0; run < g->o->counts; run++)
		for (int side = 0; side < ST_GATE_SIDES; side++)
			if (gate_count_side(g, words, side, run, c, e))
				return ST_FAILED;
	c->runs = g->o->counts;
	return c->runs ? st_gate_count_judge(c, &g->o->limits, e) : ST_OK;
}

/* ---- the whole ---- */

static void
gate_conclude(const struct gate *g, struct st_gate_benchmark *b)
{
	b->verdict = ST_GATE_PASS;
	if (b->counts.runs)
		b->verdict = b->counts.verdict;
	if (g->o->rule.pairs && b->time.verdict > b->verdict)
		b->verdict = b->time.verdict;
	g->out->interrupted |= b->time.interrupted;
	if (b->verdict > g->out->verdict)
		g->out->verdict = b->verdict;
}

static st_status
gate_benchmark(const struct gate *g, const struct gate_words *words, struct st_error *e)
{
	struct st_gate_benchmark *b = ST_PUSH(&g->out->benchmarks);
	if (!b || !(b->title = gate_title(words[ST_GATE_TARGET].all)))
		return gate_no_memory(e);
	if (gate_count(g, words, &b->counts, e) ||
	    (g->o->rule.pairs && gate_time(g, words, &b->time, e)))
		return ST_FAILED;
	gate_conclude(g, b);
	return ST_OK;
}

st_status
st_gate_run(const struct st_gate_options *o, struct st_gate_result *out, struct st_error *e)
{
	const struct gate g = {o, out};
	struct gate_words words[ST_GATE_SIDES] = {0};
	st_status status = ST_OK;
	*out = (struct st_gate_result){.verdict = ST_GATE_PASS};
	if (!o->rule.pairs && !o->counts)
		return st_fail(e, ST_EXIT_USAGE,
		               "--pairs 0 and --counts 0 leave nothing to measure: leave out one");
	for (int side = 0; side < ST_GATE_SIDES && !status; side++)
		status = gate_make_words(&words[side], o->names[side], o->arguments, e);
	if (!status)
		status = gate_benchmark(&g, words, e);
	for (int side = 0; side < ST_GATE_SIDES; side++)
		gate_free_words(&words[side]);
	return status;
}

void
st_gate_result_free(struct st_gate_result *r)
{
	for (size_t i = 0; i < r->benchmarks.n; i++) {
		free(r->benchmarks.v[i].title);
		st_gate_counts_free(&r->benchmarks.v[i].counts);
		st_gate_time_free(&r->benchmarks.v[i].time);
	}
	free(r->benchmarks.v);
	*r = (struct st_gate_result){0};
}
