/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "qos/source.h"

/* Under a straight line from reading to reading, above the first, between two times that lie
 * within them. */
static double
area(const struct st_qos_steps *s, double from, double to)
{
	double sum = 0, least = s->readings[0].amount;
	for (size_t i = 1; i < s->n; i++) {
		const struct st_qos_reading *a = &s->readings[i - 1], *b = &s->readings[i];
		double begin = from > a->time ? from : a->time, end = to < b->time ? to : b->time;
		if (begin >= end)
			continue;
		double slope = (b->amount - a->amount) / (b->time - a->time);
		double middle = a->amount - least + slope * ((begin + end) / 2 - a->time);
		sum += middle * (end - begin);
	}
	return sum;
}

/* Drops all but the last of those that the window does not begin behind. */
static void
forget(struct st_qos_steps *s, double from)
{
	size_t drop = s->n == ST_QOS_MOST_READINGS;
	while (drop + 1 < s->n && s->readings[drop + 1].time <= from)
		drop++;
	s->n -= drop;
	memmove(s->readings, s->readings + drop, s->n * sizeof *s->readings);
}

bool
st_qos_stepped(struct st_qos_steps *s, double every, double amount, double now, double *rate)
{
	if (s->n) {
		const struct st_qos_reading *last = &s->readings[s->n - 1];
		if (amount < last->amount || now <= last->time)
			s->n = 0;
	}
	forget(s, now - 2 * every);
	s->readings[s->n++] = (struct st_qos_reading){now, amount};
	if (s->readings[0].time > now - 2 * every)
		return false;
	double young = area(s, now - every, now), old = area(s, now - 2 * every, now - every);
	*rate = (young - old) / (every * every);
	return true;
}
