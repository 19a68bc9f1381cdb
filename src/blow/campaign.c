/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/campaign.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "base/text.h"
#include "blow/clocks.h"
#include "blow/infer.h"
#include "blow/live.h"
#include "blow/origins.h"
#include "blow/overhead.h"
#include "blow/pick.h"
#include "blow/points.h"
#include "experiment/journal.h"

/* Kinds of lines in the journal. */
enum { LINE_OF_SELECTION, LINE_OF_RUN, LINE_OF_PLAIN_RUN, LINE_OF_CLOCK_RUN };
#define SEPARATOR '\x1e'  /* between functions: st_blow_write_function replaces it in names */
enum { QUIET_AFTER = 8 }; /* experiments between two runs without noise */
enum { ROUND = 2 * QUIET_AFTER }; /* experiments that workers are given at a time */
enum { QUIET_OF = 4 }; /* of that many windows, chance makes one without noise, on average */

struct st_blow_campaign {
	const struct st_blow_options *o;
	struct st_blow *b;
	struct st_journal journal;
	struct st_blow_noises database;
	struct st_blow_tries tries;
	bool selected; /* the journal had the selection */
	double opened; /* when the time of --timeout began */
	double begin;
	size_t done_before;  /* experiments of a resumed campaign that an earlier one has made */
	double selection_ns; /* time of the selection */
};

static st_status
campaign_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the campaign");
}

/* ---- the journal ---- */

static st_status
take_selection(struct st_blow_campaign *c, const char *result)
{
	char *copy = strdup(result), *rest = copy;
	st_status status = copy && !c->selected ? ST_OK : ST_FAILED;
	for (char *line; !status && (line = strsep(&rest, (char[]){SEPARATOR, 0}));)
		status = *line ? st_blow_read_function(c->b, line) : ST_OK;
	free(copy);
	c->selected = true;
	return status;
}

static st_status
add_plain_run(struct st_blow *b, const struct st_blow_run *run)
{
	struct st_blow_plain_run *slot = ST_PUSH(&b->plain);
	if (slot)
		*slot = (struct st_blow_plain_run){run->fault ? 0 : run->total_ns, run->cpu_ns};
	return slot ? ST_OK : ST_FAILED;
}

/* Takes over the run, unless that fails. */
static st_status
add_journal_run(struct st_blow *b, struct st_blow_run *run)
{
	struct st_blow_run *slot = st_blow_match_threads(b, run) ? NULL : ST_PUSH(&b->runs);
	if (slot)
		*slot = *run;
	return slot ? ST_OK : ST_FAILED;
}

static int
take_journal_line(void *arg, size_t kind, size_t repetition, const char *result, struct st_error *e)
{
	struct st_blow_campaign *c = arg;
	struct st_blow_run run = {0};
	(void)repetition;
	st_status status = kind == LINE_OF_SELECTION
	                           ? take_selection(c, result)
	                           : st_blow_read_line(&run, result, c->b->functions.n);
	if (!status && kind == LINE_OF_PLAIN_RUN)
		status = add_plain_run(c->b, &run);
	else if (!status && kind == LINE_OF_CLOCK_RUN)
		status = st_blow_clocks_add(c->b, &run);
	else if (!status && kind == LINE_OF_RUN)
		status = add_journal_run(c->b, &run);
	if (status || kind != LINE_OF_RUN)
		st_blow_run_clear(&run);
	if (!status)
		return 0;
	return st_fail(e, ST_EXIT_FAILED,
	               "the journal %s has a line that is damaged: remove it to begin again",
	               c->o->journal);
}

static char *
text_of_selection(const struct st_blow *b)
{
	struct st_text text;
	if (!st_text_begin(&text))
		return NULL;
	st_blow_write_selection(b, text.out);
	char *out = st_text_end(&text);
	for (char *at = out; at && *at; at++)
		*at = *at == '\n' ? SEPARATOR : *at;
	return out;
}

static char *
text_of_run(const struct st_blow_run *r)
{
	struct st_text text;
	if (!st_text_begin(&text))
		return NULL;
	st_blow_write_line(r, text.out);
	char *out = st_text_end(&text);
	if (out)
		out[strcspn(out, "\n")] = '\0';
	return out;
}

/* Releases the text. */
static st_status
keep_in_journal(struct st_blow_campaign *c, size_t kind, size_t n, char *text, struct st_error *e)
{
	st_status status = ST_OK;
	if (!text)
		status = campaign_no_memory(e);
	else if (c->journal.fd >= 0)
		status = st_journal_add(&c->journal, kind, n, text, e);
	free(text);
	return status;
}

/* ---- a run ---- */

enum st_blow_fault
st_blow_judge(const struct st_blow *b, const struct st_blow_run *run)
{
	const struct st_blow_baseline base = st_blow_baseline_of(b);
	if (run->fault || run->function == ST_BLOW_NONE || !base.n)
		return run->fault;
	if (run->exit != base.exit)
		return ST_BLOW_EXIT;
	return base.has_output && run->output != base.output ? ST_BLOW_OUTPUT : ST_BLOW_NO_FAULT;
}

/* Seconds. The factor and the constant leave time for a busy machine. Before the first run without
 * noise has ended, nothing is known, so there is no default limit. */
static double
limit_of_run(const struct st_blow_campaign *c, const struct st_blow_run *run)
{
	const struct st_blow_baseline base = st_blow_baseline_of(c->b);
	if (c->o->how.limit > 0 || !base.n)
		return c->o->how.limit;
	const double noise_ns = run->function == ST_BLOW_NONE
	                                ? 0
	                                : (double)st_blow_noisy_calls(c->b, run->function) *
	                                          st_blow_tries_ns(&c->tries, run->noise);
	return 10 + 10 * (base.total_ns + noise_ns) * 1e-9;
}

static bool
is_time_over(const struct st_blow_campaign *c)
{
	return c->o->most_seconds > 0 && st_now_raw() - c->opened >= c->o->most_seconds;
}

/* The moment at which the runs before the first experiment are ended; 0: none. */
static double
end_of_first_runs(const struct st_blow_campaign *c)
{
	return c->o->most_seconds > 0 ? c->opened + c->o->most_seconds : 0;
}

static st_status
execute_run(struct st_blow_campaign *c, struct st_blow_run *run, struct st_error *e)
{
	struct st_blow_how how = c->o->how;
	how.limit = limit_of_run(c, run);
	how.yield_ns = c->tries.plan.b ? st_blow_tries_most_ns(&c->tries, run->function) : 0;
	how.end_at = c->tries.plan.b ? 0 : end_of_first_runs(c);
	if (how.live && !c->o->run)
		return st_blow_live_window(how.live, c->b, run, e);
	return c->o->run ? c->o->run(c->o->arg, c->b, run, e)
	                 : st_blow_run_once(&how, c->b, run, e);
}

/* Experiments of a resumed campaign that were made before tell nothing of this machine now. */
static double
seconds_left(const struct st_blow_campaign *c)
{
	const struct st_blow_options *o = c->o;
	const double passed = st_now_raw() - c->begin;
	const size_t made = c->tries.done - c->done_before;
	double left = INFINITY;
	if (made && c->tries.done >= c->done_before)
		left = passed / (double)made * (double)c->tries.left;
	if (made && o->most_runs && o->most_runs >= c->tries.done)
		left = fmin(left, passed / (double)made * (double)(o->most_runs - c->tries.done));
	if (o->most_seconds > 0)
		left = fmin(left, fmax(c->opened + o->most_seconds - st_now_raw(), 0));
	return isinf(left) ? NAN : left;
}

/* next: NULL: the campaign has ended. */
static void
show_run(const struct st_blow_campaign *c, const struct st_blow_run *next)
{
	const struct st_blow_options *o = c->o;
	const struct st_blow_state state = {.done = c->tries.done,
	                                    .left = c->tries.left,
	                                    .seconds_left = next ? seconds_left(c) : 0,
	                                    .next = next ? next->function : ST_BLOW_NONE,
	                                    .ended = !next};
	if (o->show)
		o->show(o->arg, c->b, &state);
}

/* Whether the run that has ended is discarded: a signal arrived during it, or the time was over
 * before the first experiment. */
static bool
is_run_discarded(const struct st_blow_campaign *c)
{
	const struct st_blow_options *o = c->o;
	return (o->interrupted && o->interrupted(o->arg)) || (!c->tries.plan.b && is_time_over(c));
}

/* Takes over a run that was made, with the status of that. *stopped: it is discarded, see
 * is_run_discarded. */
static st_status
keep_run(struct st_blow_campaign *c, struct st_blow_run run, st_status status, bool *stopped,
         struct st_error *e)
{
	*stopped = is_run_discarded(c);
	if (!status && !*stopped) {
		run.fault = st_blow_judge(c->b, &run);
		status = keep_in_journal(c, LINE_OF_RUN, c->b->runs.n, text_of_run(&run), e);
		if (!status && st_blow_match_threads(c->b, &run))
			status = campaign_no_memory(e);
	}
	struct st_blow_run *slot = !status && !*stopped ? ST_PUSH(&c->b->runs) : NULL;
	if (slot)
		*slot = run;
	else
		st_blow_run_clear(&run);
	return status || slot || *stopped ? status : campaign_no_memory(e);
}

static st_status
make_run(struct st_blow_campaign *c, const struct st_blow_run *asked, bool *stopped,
         struct st_error *e)
{
	struct st_blow_run run = *asked;
	show_run(c, &run);
	const st_status status = execute_run(c, &run, e);
	return keep_run(c, run, status, stopped, e);
}

static size_t
count_runs(const struct st_blow *b, bool quiet)
{
	size_t n = 0;
	for (size_t i = 0; i < b->runs.n; i++)
		n += (b->runs.v[i].function == ST_BLOW_NONE) == quiet;
	return n;
}

/* The runs without noise and without a fault. */
static size_t
count_good_quiet_runs(const struct st_blow *b)
{
	size_t n = 0;
	for (size_t i = 0; i < b->runs.n; i++)
		n += st_blow_is_quiet(&b->runs.v[i]);
	return n;
}

/* Whether faults without noise are the rule, so that there is no baseline. A rare one is listed, as
 * those under noise are, and the campaign goes on. */
static bool
fails_often(const struct st_blow *b)
{
	enum { RARE = 1 };
	const size_t good = count_good_quiet_runs(b), bad = count_runs(b, true) - good;
	return bad > RARE && bad > good;
}

/* Looks at the last run, if it was without noise. */
static st_status
check_quiet_run(const struct st_blow_campaign *c, bool stopped, struct st_error *e)
{
	const struct st_blow_run *run = stopped ? NULL : &c->b->runs.v[c->b->runs.n - 1];
	if (!run || run->function != ST_BLOW_NONE || st_blow_is_good(run) || !fails_often(c->b))
		return ST_OK;
	if (run->fault == ST_BLOW_CRASH)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "the program was ended by signal %d in more than half of the runs without "
		        "noise, so there is no baseline: use an input with which it ends normally",
		        run->exit - 128);
	return st_fail(e, ST_EXIT_FAILED,
	               "the program does not end within %g s in more than half of the runs without "
	               "noise (%s): raise --limit, or use an input with which it ends",
	               limit_of_run(c, run), st_blow_fault_name(run->fault));
}

static st_status
run_quietly(struct st_blow_campaign *c, bool *stopped, struct st_error *e)
{
	const struct st_blow_run quiet = {.function = ST_BLOW_NONE};
	return make_run(c, &quiet, stopped, e) ? ST_FAILED : check_quiet_run(c, *stopped, e);
}

/* ---- runs without probes ---- */

/* The number of runs without probes. Windows are compared with each other instead, and all runs of
 * --for last the same time. */
static size_t
plain_runs_of(const struct st_blow_campaign *c)
{
	const struct st_blow_options *o = c->o;
	return o->workers || o->how.live || o->how.duration > 0 || (o->run && !o->run_plain)
	               ? 0
	               : o->plain_runs;
}

static st_status
execute_plain_run(struct st_blow_campaign *c, struct st_blow_run *run, struct st_error *e)
{
	struct st_blow_how how = c->o->how;
	how.plain = true;
	how.limit = limit_of_run(c, run);
	how.end_at = end_of_first_runs(c);
	return c->o->run_plain ? c->o->run_plain(c->o->arg, run, e)
	                       : st_blow_run_once(&how, c->b, run, e);
}

static st_status
make_plain_run(struct st_blow_campaign *c, bool *stopped, struct st_error *e)
{
	struct st_blow_run run = {.function = ST_BLOW_NONE};
	show_run(c, &run);
	st_status status = execute_plain_run(c, &run, e);
	*stopped = is_run_discarded(c);
	if (!status && !*stopped) {
		status = keep_in_journal(c, LINE_OF_PLAIN_RUN, c->b->plain.n, text_of_run(&run), e);
		if (!status && add_plain_run(c->b, &run))
			status = campaign_no_memory(e);
	}
	st_blow_run_clear(&run);
	return status;
}

/* ---- runs that read both clocks ---- */

/* Whether one is to be made: not in windows, nor with virtual speed-ups, whose time is CPU time. It
 * must not take the time of the experiments, so none begins after half of --timeout. */
static bool
needs_clock_run(const struct st_blow_campaign *c)
{
	const struct st_blow_options *o = c->o;
	if (o->workers || o->how.live || o->how.causal || (o->run && !o->run_clocks))
		return false;
	return c->b->clock_runs < o->clock_runs &&
	       (!(o->most_seconds > 0) || st_now_raw() - c->opened < o->most_seconds / 2);
}

static st_status
execute_clock_run(struct st_blow_campaign *c, struct st_blow_run *run, struct st_error *e)
{
	struct st_blow_how how = c->o->how;
	how.clocks = true;
	how.limit = limit_of_run(c, run);
	how.end_at = end_of_first_runs(c);
	return c->o->run_clocks ? c->o->run_clocks(c->o->arg, run, e)
	                        : st_blow_run_once(&how, c->b, run, e);
}

static st_status
make_clock_run(struct st_blow_campaign *c, bool *stopped, struct st_error *e)
{
	struct st_blow_run run = {.function = ST_BLOW_NONE};
	show_run(c, &run);
	st_status status = execute_clock_run(c, &run, e);
	*stopped = is_run_discarded(c);
	if (!status && !*stopped) {
		status = keep_in_journal(c, LINE_OF_CLOCK_RUN, c->b->clock_runs, text_of_run(&run),
		                         e);
		if (!status && st_blow_clocks_add(c->b, &run))
			status = campaign_no_memory(e);
	}
	st_blow_run_clear(&run);
	return status;
}

/* The runs before the first experiment. */
static st_status
make_first_runs(struct st_blow_campaign *c, bool *stopped, struct st_error *e)
{
	const size_t quiet = c->o->quiet_runs, plain = plain_runs_of(c);
	for (;;) {
		const size_t good = count_good_quiet_runs(c->b), made = c->b->plain.n;
		const bool is_plain = st_blow_is_plain_next(good, made, quiet, plain);
		if (*stopped || (good >= quiet && !is_plain))
			break;
		if (is_plain ? make_plain_run(c, stopped, e) : run_quietly(c, stopped, e))
			return ST_FAILED;
	}
	while (!*stopped && needs_clock_run(c))
		if (make_clock_run(c, stopped, e))
			return ST_FAILED;
	return ST_OK;
}

/* ---- the loop ---- */

static bool
needs_quiet_run(const struct st_blow_campaign *c)
{
	const size_t quiet = count_good_quiet_runs(c->b), noisy = count_runs(c->b, false);
	uint64_t random = c->o->seed + c->b->runs.n;
	/* What recurs in the program could recur with the windows: chance puts them in order. */
	if (c->b->live)
		return !st_random_below(&random, QUIET_OF);
	return quiet < c->o->quiet_runs + noisy / QUIET_AFTER;
}

/* Returns the limit that is reached; ST_BLOW_COMPLETE: none. */
static enum st_blow_end
campaign_limit(const struct st_blow_campaign *c, bool stopped)
{
	const struct st_blow_options *o = c->o;
	if ((o->interrupted && o->interrupted(o->arg)) || (stopped && c->tries.plan.b))
		return ST_BLOW_INTERRUPTED;
	if (o->most_runs && count_runs(c->b, false) >= o->most_runs)
		return ST_BLOW_RUNS;
	if (is_time_over(c))
		return ST_BLOW_SECONDS;
	return ST_BLOW_COMPLETE;
}

/* Fails if the time was over before the runs without noise were made. */
static st_status
check_first_runs(const struct st_blow_campaign *c, struct st_error *e)
{
	const struct st_blow_options *o = c->o;
	const size_t quiet = count_good_quiet_runs(c->b), plain = plain_runs_of(c);
	if (quiet >= o->quiet_runs || (o->interrupted && o->interrupted(o->arg)))
		return ST_OK;
	return st_fail(e, ST_EXIT_FAILED,
	               "the %g s of --timeout ended after %zu of the %zu runs before the first "
	               "experiment: raise --timeout%s%s",
	               o->most_seconds, quiet + c->b->plain.n, o->quiet_runs + plain,
	               plain ? ", or leave out the runs without probes (--native-runs 0)" : "",
	               quiet ? ""
	                     : "; if the program does not end by itself, use --for or --window");
}

/* The mean of the runs before the first experiment only, so that a resumed campaign makes the same
 * plan. */
static double
first_run_ns(const struct st_blow_campaign *c)
{
	double sum = 0;
	size_t n = 0;
	for (size_t i = 0; i < c->b->runs.n && n < c->o->quiet_runs; i++) {
		const struct st_blow_run *r = &c->b->runs.v[i];
		sum += st_blow_is_quiet(r) ? (double)r->total_ns : 0;
		n += st_blow_is_quiet(r);
	}
	return sum / (double)n;
}

static st_status
begin_tries(struct st_blow_campaign *c, struct st_error *e)
{
	const struct st_blow_options *o = c->o;
	const struct st_blow_live *live = o->how.live;
	const struct st_blow_plan plan = {
	        .b = c->b,
	        .database = &c->database,
	        .run_ns = live ? c->selection_ns : first_run_ns(c),
	        .longest_ns = live ? st_blow_live_seconds(live) * 1e9 / ST_BLOW_LIVE_NOISES : 0,
	        .repeat = live || c->b->causal ? o->noise.repeat : 1,
	        .most_slower = o->full ? INFINITY : o->most_slower,
	        .full = o->full,
	        .sampling = o->noise.sampling,
	        .pick = o->pick,
	        .seed = o->seed};
	if (st_blow_tries_begin(&c->tries, &plan))
		return campaign_no_memory(e);
	c->done_before = c->tries.done;
	return ST_OK;
}

/* ---- the loop with workers ---- */

struct campaign_round {
	struct st_blow_run runs[ROUND + ROUND / QUIET_AFTER + 1];
	size_t n, noisy;
};

/* Runs that are begun together. Results are taken in the order of the beginning, so that it does
 * not matter which worker is faster. */
static st_status
make_round(struct st_blow_campaign *c, const struct st_blow_run *runs, size_t n, bool *stopped,
           struct st_error *e)
{
	const struct st_blow_workers *w = c->o->workers;
	for (size_t i = 0; i < n; i++)
		if (w->begin(w->arg, &runs[i], limit_of_run(c, &runs[i]), e))
			return ST_FAILED;
	for (size_t i = 0; i < n && !*stopped; i++) {
		struct st_blow_run run = {.function = ST_BLOW_NONE};
		show_run(c, &runs[i]);
		const st_status status = w->end(w->arg, c->b, &run, e);
		if (keep_run(c, run, status, stopped, e) || check_quiet_run(c, *stopped, e))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
make_quiet_round(struct st_blow_campaign *c, bool *stopped, struct st_error *e)
{
	struct st_blow_run quiet[ROUND];
	for (size_t i = 0; i < ROUND; i++)
		quiet[i] = (struct st_blow_run){.function = ST_BLOW_NONE};
	while (!*stopped && count_good_quiet_runs(c->b) < c->o->quiet_runs) {
		const size_t left = c->o->quiet_runs - count_good_quiet_runs(c->b);
		if (make_round(c, quiet, left < ROUND ? left : ROUND, stopped, e))
			return ST_FAILED;
	}
	return ST_OK;
}

/* The next experiments, with runs without noise where they are due. */
static st_status
choose_round(struct st_blow_campaign *c, struct campaign_round *r)
{
	const size_t most = c->o->most_runs, before = count_runs(c->b, false);
	const size_t quiet = count_good_quiet_runs(c->b);
	bool left = true;
	*r = (struct campaign_round){0};
	while (left && r->noisy < ROUND && (!most || before + r->noisy < most)) {
		struct st_blow_run *next = &r->runs[r->n];
		const size_t due = c->o->quiet_runs + (before + r->noisy) / QUIET_AFTER;
		if (quiet + r->n - r->noisy < due) {
			*next = (struct st_blow_run){.function = ST_BLOW_NONE};
			r->n++;
			continue;
		}
		if (st_blow_tries_next(&c->tries, next, &left))
			return ST_FAILED;
		r->noisy += left;
		r->n += left;
	}
	return ST_OK;
}

static st_status
campaign_run_rounds(struct st_blow_campaign *c, enum st_blow_end *end, struct st_error *e)
{
	struct campaign_round round;
	bool stopped = false;
	if (make_quiet_round(c, &stopped, e) || (stopped && check_first_runs(c, e)))
		return ST_FAILED;
	if (!stopped && begin_tries(c, e))
		return ST_FAILED;
	while (!(*end = campaign_limit(c, stopped))) {
		if (choose_round(c, &round))
			return campaign_no_memory(e);
		if (!round.noisy)
			return ST_OK;
		if (make_round(c, round.runs, round.n, &stopped, e))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
campaign_run_all(struct st_blow_campaign *c, enum st_blow_end *end, struct st_error *e)
{
	bool stopped = false;
	if (make_first_runs(c, &stopped, e) || (stopped && check_first_runs(c, e)))
		return ST_FAILED;
	if (!stopped && begin_tries(c, e))
		return ST_FAILED;
	while (!(*end = campaign_limit(c, stopped))) {
		struct st_blow_run next = {0};
		bool left = true;
		st_status status = ST_OK;
		if (needs_quiet_run(c))
			status = run_quietly(c, &stopped, e);
		else if (st_blow_tries_next(&c->tries, &next, &left))
			status = campaign_no_memory(e);
		else if (left)
			status = make_run(c, &next, &stopped, e);
		if (status || !left)
			return status;
	}
	return ST_OK;
}

/* ---- the campaign ---- */

/* Fails if the run that selects functions was ended by a signal to Strobe, or by --timeout. */
static st_status
check_selected(const struct st_blow_campaign *c, struct st_error *e)
{
	const struct st_blow_options *o = c->o;
	if (!o->how.live && o->interrupted && o->interrupted(o->arg))
		return st_fail(e, ST_EXIT_FAILED,
		               "the campaign was interrupted in the run that selects functions, so "
		               "there is no result");
	if (!o->how.live && is_time_over(c))
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "the %g s of --timeout ended in the run that selects functions: raise "
		        "--timeout; if the program does not end by itself, use --for or "
		        "--window",
		        o->most_seconds);
	return ST_OK;
}

static st_status
select_functions(struct st_blow_campaign *c, struct st_error *e)
{
	struct st_blow_run run = {0};
	if (c->selected)
		return ST_OK;
	const struct st_blow_options *o = c->o;
	struct st_blow_how how = o->how;
	how.end_at = end_of_first_runs(c);
	const st_status status = o->select    ? o->select(o->arg, c->b, &run, e)
	                         : o->workers ? o->workers->select(o->workers->arg, c->b, &run, e)
	                         : o->how.live
	                                 ? st_blow_live_select(o->how.live, &o->how, c->b, &run, e)
	                                 : st_blow_select(&how, c->b, &run, e);
	c->selection_ns = (double)run.total_ns;
	st_blow_run_clear(&run);
	if (status || check_selected(c, e))
		return ST_FAILED;
	if (st_blow_points_list(o->how.points, c->b))
		return campaign_no_memory(e);
	if (o->how.points && o->how.points->automatic)
		(void)st_blow_infer(c->b, o->how.points, c->selection_ns * 1e-9, o->criteria.all);
	if (run.fault == ST_BLOW_CRASH)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "the program was ended by signal %d in the run that selects functions: "
		        "use an input with which it ends normally",
		        run.exit - 128);
	return keep_in_journal(c, LINE_OF_SELECTION, 0, text_of_selection(c->b), e);
}

static st_status
open_journal(struct st_blow_campaign *c, struct st_error *e)
{
	return c->o->journal ? st_journal_open(&c->journal, c->o->journal, c->o->identity,
	                                       take_journal_line, c, e)
	                     : ST_OK;
}

void
st_blow_set_mode(struct st_blow *b, const struct st_blow_options *o)
{
	b->seed = o->seed;
	b->speedup = o->how.speedup;
	b->causal = o->how.causal;
	b->live = o->how.live != NULL;
	b->cut = o->how.duration > 0 || b->live;
}

struct st_blow_campaign *
st_blow_open(const struct st_blow_options *o, struct st_blow *b, struct st_error *e)
{
	struct st_blow_campaign *c = calloc(1, sizeof *c);
	if (!c) {
		ST_IGNORE(campaign_no_memory(e)); /* called to fill *e */
		return NULL;
	}
	*c = (struct st_blow_campaign){
	        .o = o, .b = b, .journal = {.fd = -1}, .opened = st_now_raw()};
	st_blow_set_mode(b, o);
	st_status status =
	        st_blow_database(&o->noise, &c->database) ? campaign_no_memory(e) : ST_OK;
	if (!status)
		status = open_journal(c, e);
	if (!status)
		status = select_functions(c, e);
	struct st_blow_criteria criteria = o->criteria;
	criteria.run_ns = o->how.live ? c->selection_ns : 0;
	st_blow_choose(b, &criteria);
	if (!status)
		return c;
	st_blow_close(c);
	return NULL;
}

st_status
st_blow_run(struct st_blow_campaign *c, enum st_blow_end *end, struct st_error *e)
{
	*end = ST_BLOW_COMPLETE;
	c->begin = st_now_raw();
	const st_status status =
	        c->o->workers ? campaign_run_rounds(c, end, e) : campaign_run_all(c, end, e);
	if (!status)
		show_run(c, NULL);
	return status;
}

const char *
st_blow_dropped(const struct st_blow_campaign *c)
{
	return *c->journal.dropped ? c->journal.dropped : NULL;
}

void
st_blow_close(struct st_blow_campaign *c)
{
	if (!c)
		return;
	st_journal_close(&c->journal);
	st_blow_tries_free(&c->tries);
	free(c->database.list.v);
	free(c);
}
