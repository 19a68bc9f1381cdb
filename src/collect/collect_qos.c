/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The quality of service, from the thread that watched the program. */
#include <math.h>

#include "collect/collect.h"
#include "qos/qos.h"

void
st_collect_qos(struct st_profile *p, const struct st_qos *q)
{
	size_t n;
	const struct st_qos_row *rows = st_qos_rows(q, &n);
	const struct st_qos_goal *goal = st_qos_goal(q);
	p->qos.source = st_profile_text(p, st_qos_source(q));
	p->qos.policy = st_qos_policy_name(goal->policy);
	p->qos.lower = goal->lower;
	p->qos.threshold = goal->threshold;
	for (size_t i = 0; i < n; i++) {
		struct st_profile_qos_row *out = ST_PUSH(&p->qos.rows);
		if (!out) {
			p->out_of_memory = true;
			return;
		}
		bool read = rows[i].state == ST_QOS_KEPT || rows[i].state == ST_QOS_MISSED;
		out->time_ns = (int64_t)(rows[i].time * 1e9);
		out->value = read ? rows[i].value : NAN;
		out->budget_ns = (int64_t)(rows[i].budget * 1e9);
		out->state = st_qos_state_name(rows[i].state);
	}
	if (st_qos_trouble(q))
		st_profile_note(p, "%s", st_qos_trouble(q));
}
