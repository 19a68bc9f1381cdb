/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each pair is one task, so that both of its runs have the same CPU of the same node. All pairs of
 * a benchmark are tasks from the beginning, drawn from the seed as without workers, and are judged
 * in the order of their numbers, whichever has its result first. So the verdict does not depend on
 * the speed of workers, and an alarm has the probability that it has without them.
 */
#include "gate/elsewhere.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "timing/timing.h"

static st_status
elsewhere_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the campaign of the gate");
}

st_status
st_gate_elsewhere_check(const struct st_gate_options *o, bool versions, struct st_error *e)
{
	bool slurm;
	if (st_batch_is_slurm(o->place.on, &slurm, e))
		return ST_FAILED;
	const char *left_out = o->times                       ? "--times"
	                       : o->functions                 ? "--functions"
	                       : o->duet == ST_GATE_SHARED    ? "--duet shared"
	                       : o->duet == ST_GATE_TOGETHER  ? "--duet together"
	                       : !slurm && o->unpinned        ? "--cpu all"
	                       : slurm && o->gates            ? "--calibrate"
	                       : slurm && CPU_COUNT(&o->cpus) ? "--cpu with a list"
	                                                      : NULL;
	if (left_out)
		return st_fail(e, ST_EXIT_USAGE, "%s cannot be used with --on %s: leave out one",
		               left_out, slurm ? "slurm" : "local");
	if (!o->rule.pairs)
		return st_fail(e, ST_EXIT_USAGE,
		               "--on is for pairs, and --pairs 0 measures none: leave out one");
	if (slurm && versions)
		return st_fail(e, ST_EXIT_USAGE,
		               "versions are built in a temporary folder, which other nodes do "
		               "not have: build both in a shared folder and give the two "
		               "commands");
	return ST_OK;
}

/* ---- the campaign ---- */

/* A version is the same as long as its name means the same commit, a command as long as the files
 * of its programs and its script are the same. */
static json_t *
elsewhere_side(const char *name, const char *commit, char *const *words)
{
	return commit ? json_pack("[s, s]", name, commit) : st_batch_command_identity(words, NULL);
}

/* What the numbers and the contents of all tasks depend on. */
static char *
elsewhere_identity(const struct st_gate_options *o, char *const commits[ST_GATE_SIDES],
                   const struct st_gate_cases *cases)
{
	const struct st_gate_case *c = cases->v.v; /* commands are one benchmark */
	json_t *sides[ST_GATE_SIDES];
	for (int side = 0; side < ST_GATE_SIDES; side++)
		sides[side] = elsewhere_side(o->names[side], commits[side], c->words[side]);
	char *here = realpath(".", NULL);
	json_t *words = json_array();
	for (char *const *word = o->arguments; word && *word; word++)
		json_array_append_new(words, json_string(*word));
	for (size_t i = 0; i < cases->v.n; i++)
		json_array_append_new(words, json_string(cases->v.v[i].title));
	json_t *all = json_pack("[s, s, o, o, o, s, I, I, I, b]", "gate", here ? here : "",
	                        sides[ST_GATE_BASE], sides[ST_GATE_TARGET], words,
	                        st_gate_metric_words[o->metric], (json_int_t)o->seed,
	                        (json_int_t)o->rule.pairs, (json_int_t)o->gates, (int)o->unpinned);
	char *text = all ? json_dumps(all, JSON_COMPACT) : NULL;
	json_decref(all);
	free(here);
	return text;
}

st_status
st_gate_elsewhere_begin(struct st_gate_elsewhere *w, const struct st_gate_options *o,
                        char *const commits[ST_GATE_SIDES], const struct st_gate_cases *cases,
                        struct st_error *e)
{
	w->identity = elsewhere_identity(o, commits, cases);
	w->seed = st_text_of("--seed=%llu", (unsigned long long)o->seed);
	if (!w->identity || !w->seed)
		return st_fail(e, ST_EXIT_FAILED,
		               "a word of the command is not UTF-8, or memory is exhausted: the "
		               "gate cannot be a campaign");
	w->further[0] = w->seed;
	w->options = (struct st_batch_options){.place = o->place,
	                                       .strobe = o->strobe,
	                                       .tool = "gate",
	                                       .identity = w->identity,
	                                       .command = o->command,
	                                       .further = w->further,
	                                       .cpus = CPU_COUNT(&o->cpus) ? &o->cpus : NULL};
	return st_batch_open(&w->batch, &w->options, e);
}

/* "pairs were measured on n1 (23) and n2 (37)". */
static char *
elsewhere_note(const struct st_gate_elsewhere *w)
{
	struct st_text text;
	FILE *out = st_text_begin(&text);
	if (!out)
		return NULL;
	fprintf(out, "the pairs were measured by workers on");
	for (size_t i = 0; i < w->nodes.n; i++)
		fprintf(out, "%s %s (%zu pair%s)",
		        !i                    ? ""
		        : i + 1 == w->nodes.n ? " and"
		                              : ",",
		        w->nodes.v[i].name, w->nodes.v[i].pairs,
		        w->nodes.v[i].pairs == 1 ? "" : "s");
	return st_text_end(&text);
}

st_status
st_gate_elsewhere_end(struct st_gate_elsewhere *w, bool complete, struct st_gate_result *out)
{
	st_status status = ST_OK;
	if (w->nodes.n) {
		char **slot = ST_PUSH(&out->notes);
		if (slot)
			*slot = elsewhere_note(w);
		status = slot && *slot ? ST_OK : ST_FAILED;
		if (slot && !*slot)
			out->notes.n--;
	}
	out->campaign = st_batch_close(w->batch, complete);
	for (size_t i = 0; i < w->nodes.n; i++)
		free(w->nodes.v[i].name);
	free(w->nodes.v);
	free(w->identity);
	free(w->seed);
	*w = (struct st_gate_elsewhere){0};
	return status;
}

/* ---- pairs ---- */

static bool
far_add_run(json_t *task, const struct st_gate_runs *r, const struct st_gate_pair *pair, int side)
{
	char padding[ST_GATE_PADDING];
	st_gate_padding(padding, pair->padding[side]);
	const struct st_gate_command *c = &r->commands[side];
	return st_batch_task_run(task, &(struct st_batch_command){.argv = c->argv,
	                                                          .folder = c->folder,
	                                                          .input = r->input,
	                                                          .setting = padding});
}

st_status
st_gate_far_plan(void *arg, const struct st_gate_pair *pair, struct st_error *e)
{
	struct st_gate_far_pairs *p = arg;
	json_t *task = st_batch_task_new();
	size_t number = 0;
	if (!far_add_run(task, p->runs, pair, pair->first) ||
	    !far_add_run(task, p->runs, pair, !pair->first)) {
		json_decref(task);
		return st_fail(e, ST_EXIT_FAILED,
		               "a word of the command is not UTF-8, or memory is exhausted: the "
		               "gate cannot be a campaign");
	}
	if (!p->runs->unpinned)
		st_batch_task_pin(task, pair->random);
	if (st_batch_add(p->w->batch, task, &number, e))
		return ST_FAILED;
	if (!p->n++)
		p->first = number;
	return ST_OK;
}

static st_status
far_fail(const struct st_gate_far_pairs *p, const struct st_gate_pair *pair,
         const struct st_batch_result *r, struct st_error *e)
{
	const int side = r->n > 1 ? !pair->first : pair->first;
	if (r->reason)
		return st_fail(e, ST_EXIT_FAILED, "the gate measured nothing: %s", r->reason);
	return st_fail(e, ST_EXIT_FAILED,
	               "the gate measured nothing: %s of the %s exited with %d; run it by hand to "
	               "see why",
	               p->runs->commands[side].argv[0], st_gate_sides[side],
	               r->n ? r->runs[r->n - 1].exit : 0);
}

/* NODE.PID.TIME is the name of a worker. */
static st_status
far_count(struct st_gate_elsewhere *w, const char *worker, struct st_error *e)
{
	const char *dot = strrchr(worker, '.');
	size_t n = dot ? (size_t)(dot - worker) : strlen(worker);
	const char *before = memrchr(worker, '.', n);
	n = before ? (size_t)(before - worker) : n;
	for (size_t i = 0; i < w->nodes.n; i++)
		if (!strncmp(w->nodes.v[i].name, worker, n) && !w->nodes.v[i].name[n]) {
			w->nodes.v[i].pairs++;
			return ST_OK;
		}
	char *name = strndup(worker, n);
	struct st_gate_node *slot = name ? ST_PUSH(&w->nodes) : NULL;
	if (!slot) {
		free(name);
		return elsewhere_no_memory(e);
	}
	*slot = (struct st_gate_node){name, 1};
	return ST_OK;
}

static double
far_value(const struct st_gate_runs *r, const struct st_batch_run *run)
{
	return r->metric == ST_GATE_WALL ? run->wall : run->user + run->system;
}

st_status
st_gate_far_pair(void *arg, const struct st_gate_pair *pair, double ns[ST_GATE_SIDES],
                 struct st_error *e)
{
	struct st_gate_far_pairs *p = arg;
	struct st_batch_result r;
	if (st_batch_wait(p->w->batch, p->first + pair->number, &r, e))
		return ST_FAILED;
	if (st_timing_interrupted() && !r.runs)
		return ST_OK;
	st_status status = ST_OK;
	if (r.reason || r.n != ST_GATE_SIDES || r.runs[1].exit)
		status = far_fail(p, pair, &r, e);
	else
		status = far_count(p->w, r.worker, e);
	if (!status) {
		ns[pair->first] = far_value(p->runs, &r.runs[0]);
		ns[!pair->first] = far_value(p->runs, &r.runs[1]);
	}
	st_batch_result_free(&r);
	return status;
}

st_status
st_gate_far_end(struct st_gate_far_pairs *p, size_t judged, struct st_error *e)
{
	return p->n ? st_batch_skip(p->w->batch, p->first + judged, e) : ST_OK;
}
