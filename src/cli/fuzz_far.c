/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * strobe fuzz --on: in each round, several searches are tasks, in which workers start strobe fuzz
 * with the same options and another seed of the random choices. Each begins with the inputs that
 * all searches of the rounds before have found.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/fuzz.h"
#include "cli/on.h"
#include "cli/progress.h"
#include "profile/output.h"
#include "timing/timing.h"

/* Searches of a round where Slurm says later how many nodes there are. */
enum { ROUNDS = 4, SEARCHES = 8 };

struct st_fuzz_far {
	const struct st_fuzz_arguments *a;
	char strobe[PATH_MAX];
	char *identity,
	        *pool; /* the path of what the rounds before have found; NULL: of the first */
	struct st_batch_options options;
	struct st_batch *batch;
	struct st_progress progress;
	size_t searches; /* of a round */
};

static st_status
fuzz_far_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the campaign");
}

st_status
st_fuzz_far_check(const struct st_fuzz_arguments *a, struct st_error *e)
{
	if (st_on_check(&a->place, e))
		return ST_FAILED;
	if (a->experiment && !a->output)
		return st_fail(e, ST_EXIT_USAGE,
		               "--experiment needs a file for its inputs: -o FILE");
	if (a->place.on && a->resume)
		return st_fail(e, ST_EXIT_USAGE,
		               "--resume cannot be used with --on: name the same folder with "
		               "--campaign, which goes on by itself");
	return ST_OK;
}

/* ---- the worker's side ---- */

/* "SECONDS EXECUTIONS SEED". */
static st_status
fuzz_far_choice(const struct st_fuzz_arguments *a, struct st_fuzz_campaign_choice *choice,
                struct st_error *e)
{
	unsigned long long seed;
	int end = 0;
	*choice = a->choice;
	if (sscanf(a->experiment, "%lf %zu %llu%n", &choice->seconds, &choice->executions, &seed,
	           &end) != 3 ||
	    a->experiment[end] || !(choice->seconds >= 0))
		return st_fail(e, ST_EXIT_USAGE, "'%s' is no search of this campaign",
		               a->experiment);
	choice->seed = seed;
	return ST_OK;
}

static st_status
fuzz_far_write(const struct st_fuzz_shared *s, bool fatal, const char *path, struct st_error *e)
{
	struct st_text text;
	FILE *out = st_text_begin(&text);
	if (out)
		st_fuzz_shared_write(s, fatal, out);
	char *bytes = st_text_end(&text);
	const st_status status =
	        bytes ? st_output_bytes(path, bytes, text.n, e) : fuzz_far_memory(e);
	free(bytes);
	return status;
}

static st_status
fuzz_far_search_once(struct st_fuzz_campaign *c, const struct st_fuzz_arguments *a,
                     struct st_fuzz_inputs *seeds, struct st_fuzz_shared *s, struct st_error *e)
{
	struct st_fuzz_shared pool = {0};
	st_status status = fuzz_far_choice(a, &c->choice, e);
	if (!status)
		status = st_fuzz_campaign_begin(c, seeds->v, seeds->n, e);
	if (!status && a->reference && *a->reference)
		status = st_fuzz_shared_read(&pool, a->reference, e);
	if (!status)
		status = st_fuzz_shared_import(&pool, c, e);
	if (c->choice.executions) /* of children */
		c->choice.executions += c->n_executions;
	if (!status)
		status = st_fuzz_campaign_run(c, e);
	st_fuzz_shared_free(&pool);
	if (!status && st_fuzz_interrupted())
		status = st_fail(e, 128 + st_fuzz_interrupted(), "interrupted");
	return status ? ST_FAILED : st_fuzz_shared_take(s, c, e);
}

st_status
st_fuzz_far_work(const struct st_fuzz_arguments *a, struct st_fuzz_inputs *seeds,
                 struct st_error *e)
{
	struct st_fuzz_target target = a->target;
	struct st_fuzz_campaign c = {.target = &target, .rules = &a->rules};
	struct st_fuzz_shared s = {0};
	st_status status = st_fuzz_target_begin(&target, e);
	if (!status)
		status = fuzz_far_search_once(&c, a, seeds, &s, e);
	if (!status) {
		st_fuzz_shared_choose(&s);
		status = fuzz_far_write(&s, true, a->output, e);
	}
	st_fuzz_campaign_free(&c);
	st_fuzz_target_end(&target);
	st_fuzz_shared_free(&s);
	return status;
}

/* ---- tasks ---- */

static st_status
fuzz_far_plan(struct st_fuzz_far *f, size_t round, size_t search, struct st_error *e)
{
	enum { OUTPUT = 5 }; /* its number among the further words */
	const struct st_fuzz_campaign_choice *o = &f->a->choice;
	const size_t all = ROUNDS * f->searches;
	uint64_t random = o->seed;
	for (size_t i = 0; i <= round * f->searches + search; i++)
		st_random_next(&random);
	char *asked = st_text_of("%.17g %zu %llu", o->seconds / ROUNDS,
	                         o->executions ? (o->executions + all - 1) / all : 0,
	                         (unsigned long long)random);
	const char *const further[] = {
	        "--experiment", asked,    "--reference", f->pool ? f->pool : "",
	        "--output",     "OUTPUT", NULL};
	struct st_batch_command c = {0};
	json_t *task = st_batch_task_new();
	size_t number;
	char **words = asked ? st_on_experiment(f->strobe, "fuzz", f->a->command, f->a->program,
	                                        further, &c.output)
	                     : NULL;
	c.argv = words;
	c.output += OUTPUT;
	const bool good = words && task && st_batch_task_run(task, &c);
	free(words);
	free(asked);
	if (good)
		return st_batch_add(f->batch, task, &number, e);
	json_decref(task);
	return st_fail(e, ST_EXIT_FAILED,
	               "a word of the command is not UTF-8, or memory is exhausted: it cannot be "
	               "a campaign");
}

static st_status
fuzz_far_take(struct st_fuzz_far *f, size_t task, struct st_fuzz_shared *found, struct st_error *e)
{
	struct st_batch_result r;
	char line[96];
	snprintf(line, sizeof line, "search %zu of %zu, %zu executions, %zu inputs found", task + 1,
	         ROUNDS * f->searches, found->executions, found->list.n);
	st_progress_line(&f->progress, line);
	if (st_batch_wait(f->batch, task, &r, e))
		return ST_FAILED;
	st_status status = ST_OK;
	if (r.reason)
		status = st_fail(e, ST_EXIT_FAILED, "%s", r.reason);
	else if (r.output)
		status = st_fuzz_shared_read(found, r.output, e);
	st_batch_result_free(&r);
	return status;
}

/* The results are taken in the order of the tasks, and chosen when all are there. */
static st_status
fuzz_far_round(struct st_fuzz_far *f, size_t round, struct st_fuzz_shared *found,
               struct st_error *e)
{
	for (size_t i = 0; i < f->searches; i++)
		if (fuzz_far_plan(f, round, i, e))
			return ST_FAILED;
	for (size_t i = 0; i < f->searches && !st_timing_interrupted(); i++)
		if (fuzz_far_take(f, round * f->searches + i, found, e))
			return ST_FAILED;
	if (st_timing_interrupted())
		return st_fail(e, 128 + st_timing_interrupted(),
		               "interrupted before the search was complete");
	char name[32];
	snprintf(name, sizeof name, "inputs.%zu", round);
	st_fuzz_shared_choose(found);
	free(f->pool);
	f->pool = st_batch_file(f->batch, name);
	return f->pool ? fuzz_far_write(found, false, f->pool, e) : fuzz_far_memory(e);
}

/* ---- the campaign ---- */

static st_status
fuzz_far_open(struct st_fuzz_far *f, const char *identity, struct st_error *e)
{
	const struct st_fuzz_arguments *a = f->a;
	char *options = st_on_identity("fuzz", a->command, a->program);
	f->identity =
	        options ? st_text_of("%zu searches %s %s", f->searches, options, identity) : NULL;
	free(options);
	if (!f->identity)
		return st_fail(e, ST_EXIT_FAILED,
		               "a word of the command is not UTF-8, or memory is exhausted: it "
		               "cannot be a campaign");
	f->options = (struct st_batch_options){.place = a->place,
	                                       .strobe = f->strobe,
	                                       .tool = "fuzz",
	                                       .identity = f->identity,
	                                       .command = a->command};
	return st_on_strobe(f->strobe, sizeof f->strobe, e) ||
	                       st_batch_open(&f->batch, &f->options, e)
	               ? ST_FAILED
	               : ST_OK;
}

st_status
st_fuzz_far_search(struct st_fuzz_far **out, const struct st_fuzz_arguments *a,
                   const char *identity, struct st_fuzz_shared *found, struct st_error *e)
{
	struct st_fuzz_far *f = *out = calloc(1, sizeof *f);
	if (!f)
		return fuzz_far_memory(e);
	*f = (struct st_fuzz_far){.a = a, .searches = st_batch_workers(a->place.on)};
	f->searches = f->searches ? f->searches : SEARCHES;
	st_progress_init(&f->progress, a->quiet);
	st_timing_watch_signals();
	st_status status = fuzz_far_open(f, identity, e);
	for (size_t round = 0; round < ROUNDS && !status; round++)
		status = fuzz_far_round(f, round, found, e);
	st_progress_erase(&f->progress);
	return status;
}

void
st_fuzz_far_end(struct st_fuzz_far *f, bool complete)
{
	if (!f)
		return;
	char *folder = st_batch_close(f->batch, complete);
	st_on_say_resume(folder, f->a->quiet);
	free(folder);
	free(f->identity);
	free(f->pool);
	free(f);
}
