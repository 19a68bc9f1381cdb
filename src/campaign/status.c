/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "campaign/status.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "campaign/worker.h"

struct status_reading {
	struct st_campaign_status *s;
	const struct st_campaign *c;
	double now, first, last;
	size_t finished;
	bool failed;
};

static void
status_take_result(void *arg, const char *name)
{
	struct status_reading *r = arg;
	if (!st_campaign_has_result(r->c, name))
		return;
	char *path = st_campaign_path(r->c, "results/%s", name);
	r->finished++;
	double moment = path ? st_worker_moment(path) : NAN;
	r->first = fmin(r->first, moment);
	r->last = fmax(r->last, moment);
	free(path);
}

static void
status_read_report(struct st_campaign_worker *w, const char *text)
{
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (sscanf(line, "host %255s", w->host) != 1 &&
		    sscanf(line, "cpu %d", &w->cpu) != 1)
			sscanf(line, "noise %lf", &w->noise);
	}
}

static void
status_take_worker(void *arg, const char *name)
{
	struct status_reading *r = arg;
	char file[400];
	snprintf(file, sizeof file, "workers/%s", name);
	char *path = st_campaign_path(r->c, "%s", file), *text = st_campaign_read(r->c, file);
	struct st_campaign_worker *w = path && text ? ST_PUSH(&r->s->workers) : NULL;
	if (w) {
		*w = (struct st_campaign_worker){.cpu = -1, .noise = NAN};
		snprintf(w->name, sizeof w->name, "%s", name);
		status_read_report(w, text);
		w->silent = fmax(r->now - st_worker_moment(path), 0);
		w->lost = st_worker_is_lost(r->c, path, r->now);
	}
	r->failed |= !path || (text && !w); /* without a text, the worker has just ended */
	free(text);
	free(path);
}

static void
status_take_bad(void *arg, const char *name)
{
	struct status_reading *r = arg;
	char **slot = ST_PUSH(&r->s->bad);
	char *reason = st_campaign_why_bad(r->c, name);
	if (slot)
		*slot = st_text_of("%s: %s", name, reason ? reason : "");
	r->failed |= !slot || !*slot;
	free(reason);
}

/* A loop that adds its tasks in rounds says how many there will be. */
static size_t
status_all_tasks(const struct st_campaign *c)
{
	const json_int_t planned = json_integer_value(json_object_get(c->about, "planned"));
	return planned > 0 && (size_t)planned > c->tasks ? (size_t)planned : c->tasks;
}

st_status
st_campaign_status_of(struct st_campaign_status *s, const struct st_campaign *c, struct st_error *e)
{
	struct status_reading r = {
	        .s = s, .c = c, .now = st_worker_clock(c), .first = INFINITY, .last = -INFINITY};
	*s = (struct st_campaign_status){.tasks = status_all_tasks(c), .left = NAN};
	st_campaign_each(c, "results", status_take_result, &r);
	s->finished = r.finished;
	s->given_up = st_campaign_each(c, "failed", NULL, NULL);
	s->cancelled = st_campaign_is_cancelled(c);
	s->controlled = st_controller_lives(c, r.now);
	st_campaign_each(c, "workers", status_take_worker, &r);
	st_campaign_each(c, "quarantine", status_take_bad, &r);
	if (s->finished >= 3 && s->finished <= s->tasks && !s->cancelled)
		s->left = (r.last - r.first) / (double)(s->finished - 1) *
		          (double)(s->tasks - s->finished);
	return r.failed ? st_fail(e, ST_EXIT_FAILED, "no memory left for the campaign") : ST_OK;
}

void
st_campaign_status_free(struct st_campaign_status *s)
{
	for (size_t i = 0; i < s->bad.n; i++)
		free(s->bad.v[i]);
	free(s->bad.v);
	free(s->workers.v);
	*s = (struct st_campaign_status){0};
}
