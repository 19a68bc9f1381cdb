/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The baseline of a campaign, and the findings of a function. */
#include <math.h>
#include <stdlib.h>

#include "blow/campaign.h"
#include "blow/progress.h"

struct st_blow_baseline
st_blow_baseline_of(const struct st_blow *b)
{
	struct st_blow_baseline out = {.has_output = true};
	double squares = 0;
	for (size_t i = 0; i < b->runs.n; i++) {
		const struct st_blow_run *r = &b->runs.v[i];
		if (!st_blow_is_quiet(r))
			continue;
		if (!out.n++) {
			out.output = r->output;
			out.exit = r->exit;
		}
		out.has_output &= r->output == out.output;
		out.total_ns += (double)r->total_ns;
		out.cpu_ns += (double)r->cpu_ns;
	}
	const double n = (double)out.n;
	out.total_ns = out.n ? out.total_ns / n : NAN;
	out.cpu_ns = out.n ? out.cpu_ns / n : NAN;
	for (size_t i = 0; i < b->runs.n; i++) {
		const double off = (double)b->runs.v[i].total_ns - out.total_ns;
		squares += st_blow_is_quiet(&b->runs.v[i]) ? off * off : 0;
	}
	out.total_sd = out.n > 1 ? sqrt(squares / (n - 1)) : NAN;
	return out;
}

/* Points of the slope, and sums over the runs without noise. */
struct points {
	struct st_blow_point *v;
	size_t n, n_quiet;
	double function, total; /* sums of times for the work that is measured, ns */
	double ns, calls;       /* sums of the function */
};

/* The work in which times are measured: a run, or in a window the calls of the first progress
 * point. */
static double
work_of(const struct st_blow *b, const struct st_blow_run *r)
{
	const uint32_t point = st_blow_point_at(b, 0);
	return b->live ? point == ST_BLOW_NONE ? 0 : (double)st_blow_sum(r, point).calls : 1;
}

static void
add_point(struct points *p, const struct st_blow *b, const struct st_blow_run *r, uint32_t function)
{
	const struct st_blow_sample s = st_blow_sum(r, function);
	const bool noisy = r->function == function;
	const double work = work_of(b, r);
	if (!(work > 0))
		return; /* nothing says how long the work takes */
	p->v[p->n++] =
	        (struct st_blow_point){(double)s.ns / work, (double)r->total_ns / work, noisy};
	if (noisy)
		return;
	p->n_quiet++;
	p->function += (double)s.ns / work;
	p->total += (double)r->total_ns / work;
	p->ns += (double)s.ns;
	p->calls += (double)s.calls;
}

/* The mean influence over the runs with noise. */
static double
fitness_of(const struct points *p, double *influences)
{
	const double n = (double)p->n_quiet;
	size_t known = 0;
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].noisy && p->n_quiet)
			influences[known++] =
			        st_blow_influence_of(p->v[i].total, p->total / n, p->v[i].function,
			                             p->function / n)
			                .influence;
	return st_blow_fitness(influences, known);
}

/* ---- speed-up ---- */

static double
span_ns(const struct st_blow_run *r, uint32_t thread)
{
	for (size_t i = 0; i < r->spans.n; i++)
		if (r->spans.v[i].thread == thread)
			return (double)r->spans.v[i].ns;
	return 0;
}

/* Adds what the run says of the thread. */
static void
add_speedup_thread(const struct st_blow_run *r, uint32_t function, uint32_t thread,
                   struct st_blow_thread *sum)
{
	sum->time_before += span_ns(r, thread);
	for (size_t i = 0; i < r->samples.n; i++) {
		const struct st_blow_sample *s = &r->samples.v[i];
		if (s->thread != thread)
			continue;
		*(s->function == function ? &sum->calls_in : &sum->others) += s->calls;
	}
}

/* The means of the runs without noise. */
static struct st_blow_thread
thread_before(const struct st_blow *b, uint32_t function, uint32_t thread, double mean)
{
	struct st_blow_thread sum = {.mean = mean};
	size_t n = 0;
	for (size_t i = 0; i < b->runs.n; i++)
		if (st_blow_is_quiet(&b->runs.v[i])) {
			add_speedup_thread(&b->runs.v[i], function, thread, &sum);
			n++;
		}
	if (n) {
		sum.time_before /= (double)n;
		sum.calls_in = (sum.calls_in + n / 2) / n;
		sum.others = (sum.others + n / 2) / n;
	}
	return sum;
}

struct st_blow_speedup
st_blow_speedup_in(const struct st_blow *b, const struct st_blow_run *r,
                   const struct st_blow_span *span, double mean_ns)
{
	struct st_blow_thread t = thread_before(b, r->function, span->thread, mean_ns);
	t.time = (double)span->ns;
	return st_blow_speedup_of(&t);
}

double
st_blow_opportunity(const struct st_blow *b, const struct st_blow_run *r, double mean_ns)
{
	double sum = NAN;
	for (size_t i = 0; i < r->spans.n; i++) {
		const struct st_blow_speedup s = st_blow_speedup_in(b, r, &r->spans.v[i], mean_ns);
		if (s.noise > 0 && !isnan(s.score))
			sum = (isnan(sum) ? 0 : sum) + s.score;
	}
	return sum;
}

/* The mean opportunity over the runs for the function. */
static void
find_opportunity(const struct st_blow *b, uint32_t function, double *scores,
                 struct st_blow_finding *out)
{
	size_t n = 0;
	for (size_t i = 0; i < b->runs.n; i++) {
		const struct st_blow_run *r = &b->runs.v[i];
		if (r->function == function && st_blow_is_good(r))
			scores[n++] = st_blow_opportunity(b, r, out->mean_ns);
	}
	out->fitness = st_blow_fitness(scores, n);
	out->experiments = n;
}

static void
put_spread(const struct points *p, struct st_blow_finding *out)
{
	const double without = p->function / (double)p->n_quiet;
	out->points = p->n;
	out->x_mean = out->x_squares = 0;
	for (size_t i = 0; i < p->n; i++)
		out->x_mean += p->v[i].function / without / (double)p->n;
	for (size_t i = 0; i < p->n; i++) {
		const double off = p->v[i].function / without - out->x_mean;
		out->x_squares += off * off;
	}
}

st_status
st_blow_find(const struct st_blow *b, uint32_t function, struct st_blow_finding *out)
{
	struct points p = {.v = calloc(b->runs.n + 1, sizeof *p.v)};
	double *influences = calloc(b->runs.n + 1, sizeof *influences);
	*out = (struct st_blow_finding){.share = NAN, .calls = NAN, .mean_ns = NAN};
	size_t n_virtual = 0;
	const st_status status = p.v && influences ? ST_OK : ST_FAILED;
	for (size_t i = 0; i < b->runs.n && !status; i++) {
		const struct st_blow_run *r = &b->runs.v[i];
		const bool counts = r->function == function && st_blow_is_good(r);
		if (counts && r->noise.type == ST_BLOW_VIRTUAL)
			n_virtual++;
		else if (st_blow_is_quiet(r) || counts)
			add_point(&p, b, r, function);
	}
	if (!status) {
		out->experiments = p.n - p.n_quiet + n_virtual;
		out->fitness = fitness_of(&p, influences);
		out->slope = st_blow_slope_of(p.v, p.n);
	}
	if (!status && p.n_quiet) {
		put_spread(&p, out);
		out->share = p.function / p.total;
		out->calls = p.calls / (double)p.n_quiet;
		out->mean_ns = p.calls > 0 ? p.ns / p.calls : NAN;
	}
	if (!status && b->speedup)
		find_opportunity(b, function, influences, out);
	free(p.v);
	free(influences);
	return status;
}
