/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * strobe fuzz --on: in each round, several searches are tasks, in which workers start strobe fuzz
 * with the same options and another seed of the random choices. Each begins with the inputs that
 * the searches of all earlier rounds have found.
 */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/random.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/fuzz.h"
#include "cli/on_tasks.h"
#include "cli/progress.h"
#include "profile/output.h"
#include "timing/timing.h"

enum { ROUNDS = 4, SEARCHES = 8 }; /* searches of a round with Slurm, whose nodes are not known */

struct st_fuzz_far {
	const struct st_fuzz_arguments *a;
	struct st_on_tasks tasks;
	char *pool; /* the path of the inputs that earlier rounds have found; NULL: in the first */
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
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "--resume cannot be used with --on: to continue, name the same folder "
		        "with --campaign");
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
	if (c->choice.executions) /* the limit does not count those of the seeds and the pool */
		c->choice.executions += c->n_executions;
	if (!status)
		status = st_fuzz_campaign_run(c, e);
	if (!status && st_fuzz_interrupted())
		status = st_fail(e, 128 + st_fuzz_interrupted(), "interrupted");
	if (!status)
		status = st_fuzz_shared_take(s, c, &pool, e);
	st_fuzz_shared_free(&pool);
	return status;
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
	const struct st_fuzz_campaign_choice *o = &f->a->choice;
	const size_t all = ROUNDS * f->searches;
	uint64_t random = o->seed;
	for (size_t i = 0; i <= round * f->searches + search; i++)
		st_random_next(&random);
	char *asked = st_text_of("%.17g %zu %llu", o->seconds / ROUNDS,
	                         o->executions ? (o->executions + all - 1) / all : 0,
	                         (unsigned long long)random);
	return st_on_tasks_plan(&f->tasks, asked, f->pool, e);
}

/* Adds the result of a search to *found. */
static st_status
fuzz_far_take(struct st_fuzz_far *f, struct st_fuzz_shared *found, struct st_error *e)
{
	char line[288], *path;
	snprintf(line, sizeof line, "search %zu of %zu, %s, %s found", f->tasks.taken + 1,
	         ROUNDS * f->searches, ST_COUNT(found->executions, "execution", "executions"),
	         ST_COUNT(found->list.n, "input", "inputs"));
	st_progress_line(&f->progress, line);
	st_status status = st_on_tasks_take(&f->tasks, &path, e);
	if (!status && path)
		status = st_fuzz_shared_read(found, path, e);
	free(path);
	return status;
}

/* Takes the results in the order of the tasks, and then chooses the inputs of the next round. */
static st_status
fuzz_far_round(struct st_fuzz_far *f, size_t round, struct st_fuzz_shared *found,
               struct st_error *e)
{
	for (size_t i = 0; i < f->searches; i++)
		if (fuzz_far_plan(f, round, i, e))
			return ST_FAILED;
	for (size_t i = 0; i < f->searches && !st_timing_interrupted(); i++)
		if (fuzz_far_take(f, found, e))
			return ST_FAILED;
	if (st_timing_interrupted())
		return st_fail(e, 128 + st_timing_interrupted(),
		               "interrupted before the search was complete");
	char name[32];
	snprintf(name, sizeof name, "inputs.%zu", round);
	st_fuzz_shared_choose(found);
	free(f->pool);
	f->pool = st_batch_file(f->tasks.batch, name);
	return f->pool ? fuzz_far_write(found, false, f->pool, e) : fuzz_far_memory(e);
}

/* ---- the campaign ---- */

static st_status
fuzz_far_open(struct st_fuzz_far *f, const char *identity, struct st_error *e)
{
	const struct st_fuzz_arguments *a = f->a;
	json_t *more = json_pack("[I, s]", (json_int_t)f->searches, identity);
	return st_on_tasks_open(&f->tasks, &a->place,
	                        st_on_identity("fuzz", a->command, a->program, more), e);
}

st_status
st_fuzz_far_search(struct st_fuzz_far **out, const struct st_fuzz_arguments *a,
                   const char *identity, struct st_fuzz_shared *found, struct st_error *e)
{
	struct st_fuzz_far *f = *out = calloc(1, sizeof *f);
	if (!f)
		return fuzz_far_memory(e);
	f->a = a;
	f->tasks =
	        (struct st_on_tasks){.tool = "fuzz", .command = a->command, .program = a->program};
	f->searches = st_batch_workers(a->place.on);
	f->searches = f->searches ? f->searches : SEARCHES;
	f->tasks.planned = ROUNDS * f->searches;
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
	char *folder = st_on_tasks_close(&f->tasks, complete);
	st_on_say_resume(folder, f->a->quiet);
	free(folder);
	free(f->pool);
	free(f);
}
