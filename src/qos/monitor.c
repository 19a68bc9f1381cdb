/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qos/monitor.h"

#include <stdlib.h>

static void
monitor_add_row(struct st_qos_monitor *m, double time, double value)
{
	if (m->n == m->room && m->n < ST_QOS_MOST_ROWS) {
		size_t room = m->room ? 2 * m->room : 64;
		struct st_qos_row *more = reallocarray(m->rows, room, sizeof *more);
		if (more) {
			m->rows = more;
			m->room = room;
		}
	}
	if (m->n < m->room)
		m->rows[m->n++] = (struct st_qos_row){time, value, m->budget, m->state};
}

static double
at_least(double budget, double least)
{
	return budget > least ? budget : least;
}

/* The budget is raised once in a window: its effect must be seen before it is raised again. */
static double
held_budget(struct st_qos_monitor *m, double time, double value)
{
	double effort = m->hold.effort;
	double budget = at_least(st_qos_hold(&m->hold, &m->goal, value), m->goal.least);
	if (m->hold.effort <= effort)
		return budget;
	if (m->raised && time < m->raised + m->window) {
		m->hold.effort = effort;
		return m->budget;
	}
	m->raised = time;
	return budget;
}

static double
budget_of(struct st_qos_monitor *m, double time, double value)
{
	const double least = m->goal.least;
	switch (m->goal.policy) {
	case ST_QOS_HOLD:
		return held_budget(m, time, value);
	case ST_QOS_FUNCTION:
		return at_least(st_qos_function(&m->goal, value), least);
	default:
		return m->goal.most;
	}
}

double
st_qos_blind_budget(const struct st_qos_goal *goal, double otherwise)
{
	return goal->policy == ST_QOS_WATCH ? goal->most : otherwise;
}

static void
take_value(struct st_qos_monitor *m, double time, double value)
{
	m->heard = time;
	m->state = st_qos_is_kept(&m->goal, value) ? ST_QOS_KEPT : ST_QOS_MISSED;
	m->budget = budget_of(m, time, value);
	monitor_add_row(m, time, value);
}

/* Nothing is known of the metric. */
static void
monitor_lose(struct st_qos_monitor *m, double time, enum st_qos_state state)
{
	if (m->state == state)
		return;
	m->state = state;
	m->budget = st_qos_blind_budget(&m->goal, 0);
	m->hold = (struct st_qos_hold){0};
	m->raised = 0;
	monitor_add_row(m, time, 0);
}

/* Not a server that has served nothing, nor a file that does not grow yet. The source's own
 * queries may be counted, too: without clients, a database executes only those. */
static bool
serves(const struct st_qos_goal *g, double value)
{
	const double least = 0.01; /* of the threshold */
	return g->lower || value >= least * g->threshold;
}

void
st_qos_monitor_take(struct st_qos_monitor *m, double time, enum st_qos_got got, double value)
{
	bool starts =
	        m->state == ST_QOS_WAITING && m->goal.start > 0 && time <= ST_QOS_LONGEST_START;
	if (starts && (got != ST_QOS_VALUE || !serves(&m->goal, value)))
		return;
	if (got == ST_QOS_VALUE)
		take_value(m, time, value);
	else if (got == ST_QOS_FAILURE)
		monitor_lose(m, time, ST_QOS_FAILED);
	else if (m->state != ST_QOS_FAILED && time - m->heard > m->patience)
		monitor_lose(m, time, ST_QOS_SILENT);
}
