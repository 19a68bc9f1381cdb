/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qos/meter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qos/source.h"

struct st_qos_meter {
	const struct st_qos_kind *kind;
	void *state;
	struct st_qos_poll poll; /* the last one */
};

/* Seconds that the source may take for an answer. The program goes on meanwhile. */
static const double meter_patience = 0.5;

/* Replaces --qos, with which messages about sources begin. */
static void
name_option(const char *option, struct st_error *e)
{
	static const char usual[] = "--qos";
	const struct st_error before = *e;
	const char *rest = before.text;
	if (!strncmp(rest, usual, sizeof usual - 1))
		rest += sizeof usual - 1;
	rest += strspn(rest, ": ");
	ST_IGNORE(st_fail(e, before.code, "%s: %s", option, rest));
}

struct st_qos_meter *
st_qos_meter_open(const char *source, const char *option, struct st_error *e)
{
	const char *rest;
	const struct st_qos_kind *kind = st_qos_kind_of(source, &rest);
	if (!kind) {
		ST_IGNORE(st_fail(e, ST_EXIT_USAGE, "%s: there is no source '%s'", option, source));
		return NULL;
	}
	st_cause(e, ST_EXIT_FAILED, "out of memory");
	void *state = kind->open(rest, e);
	if (!state) {
		name_option(option, e);
		return NULL;
	}
	struct st_qos_meter *m = calloc(1, sizeof *m);
	if (m && !(kind->interval && kind->interval(state) > 0)) {
		*m = (struct st_qos_meter){.kind = kind, .state = state};
		return m;
	}
	ST_IGNORE(st_fail(e, m ? ST_EXIT_USAGE : ST_EXIT_FAILED,
	                  m ? "%s: the server reports '%s' only every few seconds, which says "
	                      "nothing of an interval: use another source"
	                    : "%s: no memory left for '%s'",
	                  option, source));
	kind->close(state);
	free(m);
	return NULL;
}

static enum st_qos_got
poll_meter(struct st_qos_meter *m)
{
	m->poll = (struct st_qos_poll){.now = st_now_raw(), .most = meter_patience, .stop = -1};
	return m->kind->poll(m->state, &m->poll);
}

void
st_qos_meter_begin(struct st_qos_meter *m)
{
	poll_meter(m);
}

bool
st_qos_meter_end(struct st_qos_meter *m, double *value)
{
	const bool has_value = poll_meter(m) == ST_QOS_VALUE;
	*value = has_value ? m->poll.value : 0;
	return has_value;
}

const char *
st_qos_meter_why(const struct st_qos_meter *m)
{
	return *m->poll.why ? m->poll.why : "it gives no number";
}

void
st_qos_meter_free(struct st_qos_meter *m)
{
	if (!m)
		return;
	m->kind->close(m->state);
	free(m);
}
