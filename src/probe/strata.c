/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/strata.h"

#include "base/estimate.h"

/* A stretch: what has been measured since the last one. */
struct stretch {
	uint64_t timed, counted;
	double inclusive, outermost; /* of the timed ones */
	double squares;
};

static double
square_sum(const uint64_t squares[2])
{
	return (double)squares[1] * 0x1p64 + (double)squares[0];
}

static struct stretch
stretch_of_cell(const struct st_probe_cell *c)
{
	const struct st_probe_closed *was = &c->closed;
	return (struct stretch){.timed = c->calls - was->calls,
	                        .counted = c->counted - was->counted,
	                        .inclusive = (double)(int64_t)(c->inclusive - was->inclusive),
	                        .squares = square_sum(c->squares) - square_sum(was->squares)};
}

static struct stretch
stretch_of_pair(const struct st_probe_pair *p)
{
	const struct st_probe_closed *was = &p->closed;
	return (struct stretch){.timed = p->calls - was->calls,
	                        .counted = p->counted - was->counted,
	                        .inclusive = (double)(int64_t)(p->inclusive - was->inclusive),
	                        .outermost = (double)(int64_t)(p->outermost - was->outermost)};
}

static double
variance_of_stretch(const struct stretch *s)
{
	const double error =
	        st_sum_error(s->timed + s->counted, s->timed, s->inclusive, s->squares) / 1.96;
	return error * error;
}

void
st_probe_close_cell(struct st_probe_cell *c)
{
	const struct stretch s = stretch_of_cell(c);
	if (s.counted && s.timed < 2)
		return;
	c->closed.variance += s.counted ? variance_of_stretch(&s) : 0;
	c->closed.calls += s.timed;
	c->closed.counted += s.counted;
	c->closed.inclusive = c->inclusive;
	c->closed.squares[0] = c->squares[0];
	c->closed.squares[1] = c->squares[1];
}

void
st_probe_close_pair(struct st_probe_pair *p)
{
	const struct stretch s = stretch_of_pair(p);
	if (s.counted && !s.timed)
		return;
	const double scale = s.counted ? (double)(s.timed + s.counted) / (double)s.timed : 1;
	p->closed.all_inclusive += s.inclusive * scale;
	p->closed.all_outermost += s.outermost * scale;
	p->closed.calls += s.timed;
	p->closed.counted += s.counted;
	p->closed.inclusive = p->inclusive;
	p->closed.outermost = p->outermost;
}

void
st_probe_settle_cell(struct st_probe_cell *c)
{
	c->closed.calls = c->calls;
	c->closed.inclusive = c->inclusive;
	c->closed.squares[0] = c->squares[0];
	c->closed.squares[1] = c->squares[1];
}

void
st_probe_settle_pair(struct st_probe_pair *p)
{
	const struct stretch s = stretch_of_pair(p);
	p->closed.all_inclusive += s.inclusive;
	p->closed.all_outermost += s.outermost;
	p->closed.calls += s.timed;
	p->closed.inclusive = p->inclusive;
	p->closed.outermost = p->outermost;
}

double
st_probe_cell_error(const struct st_probe_cell *c)
{
	const struct stretch last = stretch_of_cell(c),
	                     all = {.timed = c->calls,
	                            .inclusive = (double)(int64_t)c->inclusive,
	                            .squares = square_sum(c->squares)};
	double variance = c->closed.variance;
	if (c->calls < 2)
		return -1;
	if (last.timed >= 2) {
		variance += variance_of_stretch(&last);
	} else if (last.counted) {
		/* As if its calls were like all others. */
		const double n = (double)all.timed, calls = (double)(last.timed + last.counted);
		variance += calls * calls *
		            fmax(all.squares - all.inclusive * all.inclusive / n, 0) / (n - 1);
	}
	return 1.96 * sqrt(variance);
}
