/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/flight.h"

bool
st_flight_add(struct st_flight_probes *p, uint32_t number)
{
	if (p->n == ST_FLIGHT_PROBES)
		return false;
	p->v[p->n] = number;
	__atomic_store_n(&p->n, p->n + 1, __ATOMIC_RELEASE);
	return true;
}

void
st_flight_begin(struct st_flight *f)
{
	f->seconds = f->saved = 0;
	f->has_last = false;
}

void
st_flight_tick(struct st_flight *f, uint64_t begun, uint64_t ended, double seconds, double saved)
{
	const int64_t now = (int64_t)(begun - ended), last = f->has_last ? f->last : now;
	if (now < f->least)
		f->least = now;
	/* The number has changed somewhere in between. */
	const double mean = (double)(now + last) / 2 - (double)f->least;
	f->seconds += mean * seconds;
	f->saved += mean * saved;
	f->last = now;
	f->has_last = true;
}
