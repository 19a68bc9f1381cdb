/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The baseline of a campaign, and the findings of a function. */
#include <math.h>
#include <stdlib.h>

#include "blow/campaign.h"

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
	double function, total, calls; /* sums; times in ns */
};

static void
add_point(struct points *p, const struct st_blow_run *r, uint32_t function)
{
	const struct st_blow_sample s = st_blow_sum(r, function);
	const bool noisy = r->function == function;
	p->v[p->n++] = (struct st_blow_point){(double)s.ns, (double)r->total_ns, noisy};
	if (noisy)
		return;
	p->n_quiet++;
	p->function += (double)s.ns;
	p->total += (double)r->total_ns;
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
			add_point(&p, r, function);
	}
	if (!status) {
		out->experiments = p.n - p.n_quiet + n_virtual;
		out->fitness = fitness_of(&p, influences);
		out->slope = st_blow_slope_of(p.v, p.n);
	}
	if (!status && p.n_quiet) {
		out->share = p.function / p.total;
		out->calls = p.calls / (double)p.n_quiet;
		out->mean_ns = p.calls > 0 ? p.function / p.calls : NAN;
	}
	free(p.v);
	free(influences);
	return status;
}
