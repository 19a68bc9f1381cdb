/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session/unique.h"

#include <time.h>

#include "base/number.h"
#include "coverage/contextlog.h"

static void
unique_on_image(void *arg, struct st_results_header *results, uint32_t map)
{
	struct st_unique *u = arg;
	st_codelogger_image(u->logger, results, map);
	if (u->on_image)
		u->on_image(u->image_arg, results, map);
}

static void
on_leaders(void *arg, struct st_results_header *results)
{
	struct st_unique *u = arg;
	st_codelogger_leaders(u->logger, results);
}

static void
on_second(void *arg, const struct st_process *processes, size_t n)
{
	struct st_unique *u = arg;
	st_codelogger_flush(u->logger, processes, n);
}

/* Half, a quarter, three quarters, an eighth, ...: the n-th of them; each is far from all before.
 */
static double
spread(size_t n)
{
	double part = 0, weight = 0.5;
	for (; n; n >>= 1, weight /= 2)
		part += n & 1 ? weight : 0;
	return part;
}

/* Two runs of three look for what is new all over, one sweeps, for what cannot be watched. Of a
 * program that is over after few periods a single run has seen too little for that. */
static bool
watches_at_once(const struct st_codelog_past *past, uint64_t every_ns)
{
	const uint64_t few = 4 * ST_WATCHED_AFTER;
	return past->own_runs % 3 && past->own_cpu_ns > few * every_ns;
}

uint64_t
st_unique_first(const struct st_codelog_past *past, uint64_t every_ns, bool alone)
{
	if (alone && watches_at_once(past, every_ns))
		return ST_WATCHES_AT_ONCE;
	const uint64_t tick = 1000000000 / ST_BUDGET_HZ; /* windows begin at ticks */
	uint64_t most = every_ns, swept = past->swept_ns - past->swept_ns / 3;
	if (past->own_cpu_ns < most)
		most = past->own_cpu_ns;
	if (past->grows && swept > tick && swept < most)
		return swept - tick;
	if (past->grows || past->sweeps == 1)
		return 0;
	return (uint64_t)(spread(past->runs) * (double)most);
}

uint64_t
st_unique_period(const struct st_codelog_past *past, uint64_t period_ns)
{
	enum { PERIODS = 12, LEAST = 50000000 };
	uint64_t wanted = past->own_cpu_ns / PERIODS;
	if (!past->own_cpu_ns || wanted >= period_ns)
		return period_ns;
	return wanted > LEAST ? wanted : LEAST < period_ns ? LEAST : period_ns;
}

static void
shorten_periods(struct st_budget_plan *b, const struct st_codelog_past *past)
{
	uint64_t period = st_unique_period(past, b->period_ns);
	if (!b->period_ns)
		return;
	b->amount = b->most = (uint64_t)((double)b->most * (double)period / (double)b->period_ns);
	b->period_ns = period;
}

/* Do threads outside their windows come back for code that has not been measured
 * (rt/native/breakpoint_sampling.h)?
 */
static bool
may_watch(const struct st_budget_plan *b, const struct st_unique_choice *choice)
{
	return b->period_ns && b->policy == ST_BUDGET_NATIVE && b->share == ST_SHARE_THREAD &&
	       !choice->last;
}

/* Returns the distance of the begins of windows, or the part of a period before a thread watches:
 * later code is found in any case. */
static uint64_t
every_of(const struct st_budget_plan *b, const struct st_unique_choice *choice)
{
	uint64_t every = b->period_ns / (b->bursts ? b->bursts : 1);
	return every / (may_watch(b, choice) ? ST_WATCHED_AFTER : 1);
}

static st_status
unique_open_log(struct st_unique *u, const char *program, struct st_run_options *o,
                struct st_error *e)
{
	struct timespec now;
	struct st_codelog_past past;
	clock_gettime(CLOCK_REALTIME, &now);
	u->log = st_codelog_open(u->choice->log, true, e);
	if (!u->log || st_codelog_check_code(u->log, e) ||
	    st_codelog_begin(u->log, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec, program, &past,
	                     e))
		return -1;
	if (!u->choice->fixed)
		shorten_periods(&o->budget, &past);
	/* The progress of earlier runs is in CPU time, which says nothing about wall time. */
	if (o->budget.clock == ST_CLOCK_CPU)
		o->budget.first_ns =
		        st_unique_first(&past, every_of(&o->budget, u->choice),
		                        may_watch(&o->budget, u->choice) && !o->follow);
	o->on_second = on_second;
	o->second_arg = u;
	return 0;
}

st_status
st_unique_begin(struct st_unique *u, const struct st_unique_choice *choice, const char *program,
                struct st_run_options *o, struct st_error *e)
{
	*u = (struct st_unique){.choice = choice,
	                        .on_image = o->on_image,
	                        .image_arg = o->image_arg,
	                        .known.fd = -1};
	if (!choice->chosen)
		return 0;
	if (choice->log && choice->last)
		return st_fail(e, ST_EXIT_USAGE,
		               "--unique-last measures code again, and --unique-log never does: "
		               "leave out one of them");
	if (choice->log && unique_open_log(u, program, o, e)) {
		st_unique_end(u);
		return -1;
	}
	/* Each process has a separate choice of code to measure again. */
	if (o->follow && !choice->last)
		o->known = &u->known;
	u->logger = st_codelogger_new(u->log, o->known);
	if (!u->logger) {
		st_unique_end(u);
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	}
	o->unique = true;
	o->unique_last = (uint32_t)choice->last;
	o->on_image = unique_on_image;
	o->on_leaders = on_leaders;
	o->image_arg = u;
	return 0;
}

void
st_unique_report(struct st_unique *u, const struct st_run *run, struct st_profile *p)
{
	struct st_codelogger_result r;
	if (u->choice->last)
		st_profile_note(
		        p,
		        "repetitions were left out (--unique-last %ld), in pieces of code that may "
		        "be smaller than basic blocks: counts are not those of all executions",
		        u->choice->last);
	if (!u->log)
		return;
	st_codelogger_finish(u->logger, run, &r);
	if (r.error.code) {
		st_profile_note(p, "the log does not have everything that was measured: %s",
		                r.error.text);
		return;
	}
	st_profile_note(p, "%s with %s new in %s; %s skipped, because it had them already",
	                ST_COUNT(r.run.blocks, "block", "blocks"),
	                ST_COUNT(r.run.instructions, "instruction is", "instructions are"),
	                u->choice->log,
	                ST_COUNT(r.run.refused, "instruction was", "instructions were"));
	if (r.unread)
		st_profile_note(
		        p, "%s was locked when %s loaded: what it has of %s was measured again",
		        u->choice->log, ST_COUNT(r.unread, "image was", "images were"),
		        r.unread == 1 ? "it" : "them");
	if (r.without_room)
		st_profile_note(p,
		                "%s more code than one run can remember: this code is measured "
		                "again in each process, and is not in the log",
		                ST_COUNT(r.without_room, "file has", "files have"));
	if (r.generated)
		st_profile_note(
		        p, "the log does not have %s of generated code, which belongs to no file",
		        ST_COUNT(r.generated, "block", "blocks"));
}

void
st_unique_end(struct st_unique *u)
{
	st_codelogger_free(u->logger);
	st_codelog_close(u->log);
	st_known_free(&u->known);
	u->logger = NULL;
	u->log = NULL;
}
