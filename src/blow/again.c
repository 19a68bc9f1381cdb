/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/again.h"

#include <math.h>

#include "blow/pick.h"

enum { YIELD_NS = 1000 }; /* more than a yield takes */

/* As for the runs of a campaign. */
static double
again_limit(const struct st_blow *b, const struct st_blow_run *run)
{
	const struct st_blow_baseline base = st_blow_baseline_of(b);
	const double calls =
	        run->function == ST_BLOW_NONE ? 0 : (double)st_blow_noisy_calls(b, run->function);
	const double noise = run->noise.type == ST_BLOW_YIELD
	                             ? (double)run->noise.strength * YIELD_NS
	                             : (double)st_blow_noise_ns(run->noise);
	return 10 + 10 * ((isnan(base.total_ns) ? 0 : base.total_ns) + calls * noise) * 1e-9;
}

st_status
st_blow_again_check(const struct st_blow *b, size_t number, struct st_error *e)
{
	if (b->live)
		return st_fail(e, ST_EXIT_USAGE,
		               "the experiments of this result are windows of one process, which "
		               "cannot be made again");
	if (number >= b->runs.n)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "there is no experiment %zu: the runs have the numbers 0 to %zu, and "
		        "--format json lists them",
		        number, b->runs.n ? b->runs.n - 1 : 0);
	if (st_blow_is_quiet(&b->runs.v[number]))
		return st_fail(e, ST_EXIT_USAGE,
		               "run %zu is one without noise and without a fault: --format json "
		               "lists the experiments",
		               number);
	return ST_OK;
}

/* The program may have changed, so that no probe was where the experiment had one. */
static bool
again_had_noise(const struct st_blow *b, const struct st_blow_run *run)
{
	return b->causal || run->fault || run->function == ST_BLOW_NONE ||
	       (b->speedup ? st_blow_noise_of(run) : st_blow_sum(run, run->function)).noises > 0;
}

st_status
st_blow_again(const struct st_blow *b, size_t number, const struct st_blow_how *how,
              struct st_blow_run *run, struct st_error *e)
{
	const struct st_blow_run *before = &b->runs.v[number];
	struct st_blow_how same = *how;
	*run = (struct st_blow_run){.function = before->function, .noise = before->noise};
	same.speedup = b->speedup;
	same.causal = b->causal;
	if (!(same.limit > 0) && !(same.duration > 0))
		same.limit = again_limit(b, run);
	if (st_blow_run_once(&same, b, run, e))
		return ST_FAILED;
	run->fault = st_blow_judge(b, run);
	if (again_had_noise(b, run))
		return ST_OK;
	st_blow_run_clear(run);
	return st_fail(e, ST_EXIT_FAILED,
	               "no call of '%s' got noise: the program has changed since, or does not call "
	               "the function any more; make a new campaign",
	               b->functions.v[before->function].name);
}
