/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A worker of a job's campaign, which reads the job from the description of the campaign. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "batch/node.h"
#include "campaign/worker.h"
#include "job/campaign.h"
#include "profile/output.h"
#include "timing/timing.h"

struct pilot {
	struct st_campaign c;
	struct st_job job;
	struct st_job_plan plan; /* its texts are those of the description and the job */
	const json_t *order;
	const char *root, *source, *strobe;
	char *machine;
};

static st_status
pilot_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the worker of the campaign");
}

/* ---- the description ---- */

static st_status
pilot_damaged(const struct pilot *p, struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "%s/campaign.json does not describe a job that fits",
	               p->c.folder);
}

static st_status
pilot_add_feature(struct st_workload *w, json_t *at, struct st_error *e)
{
	const char *name = json_string_value(json_array_get(at, 0));
	struct st_workload_feature *f = name ? ST_PUSH(&w->features) : NULL;
	if (f)
		*f = (struct st_workload_feature){strdup(name),
		                                  json_number_value(json_array_get(at, 1))};
	return f && f->name ? ST_OK : pilot_no_memory(e);
}

static st_status
pilot_add_workload(struct pilot *p, json_t *at, struct st_error *e)
{
	const char *name, *argument;
	int to_stdin;
	json_t *features;
	if (json_unpack(at, "{s:s, s:s, s:b, s:o}", "name", &name, "argument", &argument, "stdin",
	                &to_stdin, "features", &features))
		return pilot_damaged(p, e);
	struct st_workload *w = ST_PUSH(&p->plan.workloads.v);
	if (!w)
		return pilot_no_memory(e);
	w->name = strdup(name);
	w->argument = strdup(argument);
	w->to_stdin = to_stdin;
	st_status status = w->name && w->argument ? ST_OK : pilot_no_memory(e);
	for (size_t i = 0; i < json_array_size(features) && !status; i++)
		status = pilot_add_feature(w, json_array_get(features, i), e);
	return status;
}

static st_status
pilot_add_variant(struct pilot *p, json_t *at, struct st_error *e)
{
	json_int_t collector, workload;
	struct st_job_variant v = {0};
	if (json_unpack(at, "{s:s, s:s, s:I, s:I}", "command", &v.command, "arguments",
	                &v.arguments, "collector", &collector, "workload", &workload) ||
	    collector < 0 || (size_t)collector >= p->job.collectors.n ||
	    workload >= (json_int_t)p->plan.workloads.v.n)
		return pilot_damaged(p, e);
	v.collector = &p->job.collectors.v[collector];
	v.workload = workload < 0 ? NULL : &p->plan.workloads.v.v[workload];
	struct st_job_variant *slot = ST_PUSH(&p->plan.v);
	if (!slot)
		return pilot_no_memory(e);
	*slot = v;
	return ST_OK;
}

static st_status
pilot_read(struct pilot *p, struct st_error *e)
{
	json_t *workloads, *variants, *yaml, *order;
	if (json_unpack(p->c.about, "{s:{s:o, s:s, s:s, s:o, s:o, s:o}}", "job", "yaml", &yaml,
	                "root", &p->root, "source", &p->source, "workloads", &workloads, "variants",
	                &variants, "order", &order) ||
	    !json_is_string(yaml) || json_array_size(order) != p->c.tasks)
		return pilot_damaged(p, e);
	p->order = order;
	st_status status = st_job_of_bytes(&p->job, "the job file", json_string_value(yaml),
	                                   json_string_length(yaml), e);
	for (size_t i = 0; i < json_array_size(workloads) && !status; i++)
		status = pilot_add_workload(p, json_array_get(workloads, i), e);
	for (size_t i = 0; i < json_array_size(variants) && !status; i++)
		status = pilot_add_variant(p, json_array_get(variants, i), e);
	for (size_t i = 0; i < p->c.tasks && !status; i++) {
		json_int_t at = json_integer_value(json_array_get(order, i));
		if (at < 0 || (size_t)at >= p->c.tasks || !p->plan.v.n)
			status = pilot_damaged(p, e);
	}
	return status;
}

static st_status
pilot_pin(struct pilot *p, int cpu, struct st_error *e)
{
	if (cpu < 0)
		return ST_OK;
	if (st_node_pin(cpu, &p->job.cpus, e))
		return ST_FAILED;
	p->job.cpu = "of the worker";
	return ST_OK;
}

/* ---- a run ---- */

/* One line. */
static char *
failed_text(const char *reason)
{
	char *text = st_text_of("failed %s", reason);
	for (char *at = text; at && *at; at++)
		if (*at == '\n' || *at == '\r')
			*at = ' ';
	return text;
}

static st_status
pilot_take(const struct st_job_measured *m, const char *name, struct st_worked *out,
           struct st_error *e)
{
	out->interrupted = m->interrupted;
	if (m->interrupted)
		return ST_OK;
	if (m->failed && st_node_is_cause(m->reason))
		return st_fail(e, ST_EXIT_FAILED, "%s", m->reason);
	out->text = m->failed ? failed_text(m->reason)
	                      : st_text_of("measured %d %.6f %s", m->exit, m->seconds, name);
	return out->text ? ST_OK : pilot_no_memory(e);
}

static st_status
pilot_execute(void *arg, const struct st_worker_task *t, struct st_worked *out, struct st_error *e)
{
	struct pilot *p = arg;
	struct st_job_measured measured = {.seconds = NAN};
	const size_t at = (size_t)json_integer_value(json_array_get(p->order, t->number));
	char *name = st_text_of("%zu.%s.db", t->number, t->worker), note[512];
	out->file = name ? st_campaign_path(&p->c, "profiles/%s", name) : NULL;
	snprintf(note, sizeof note, "campaign: run by %s, where the same work differs by %.2g %%",
	         t->worker, t->noise * 100);
	const struct st_job_measuring m = {
	        .job = &p->job,
	        .variant = &p->plan.v.v[at % p->plan.v.n],
	        .round = at / p->plan.v.n + 1,
	        .strobe = p->strobe,
	        .root = p->root,
	        .folder = p->source,
	        .scratch = t->scratch,
	        .profile = out->file,
	        .note = isnan(t->noise) ? NULL : note,
	};
	st_status status = out->file ? st_job_measure(&m, &measured, e) : pilot_no_memory(e);
	if (!status)
		status = pilot_take(&measured, name, out, e);
	free(name);
	return status;
}

static bool
pilot_is_interrupted(void *arg)
{
	(void)arg;
	return st_timing_interrupted() != 0;
}

static st_status
pilot_check_place(const struct pilot *p, struct st_error *e)
{
	if (access(p->source, X_OK))
		return st_fail(e, ST_EXIT_FAILED,
		               "%s cannot be used here: a campaign needs a file system that all "
		               "nodes share",
		               p->source);
	return ST_OK;
}

st_status
st_job_campaign_work(const char *folder, int cpu, const char *strobe, struct st_error *e)
{
	struct pilot p = {.strobe = strobe};
	st_status status = st_campaign_open(&p.c, folder, e);
	if (!status)
		status = pilot_read(&p, e);
	if (!status && !(p.machine = st_node_machine()))
		status = pilot_no_memory(e);
	if (!status)
		status = pilot_pin(&p, cpu, e);
	if (!status)
		status = pilot_check_place(&p, e);
	if (!status) {
		const struct st_work todo = {.execute = pilot_execute,
		                             .interrupted = pilot_is_interrupted,
		                             .arg = &p,
		                             .machine = p.machine,
		                             .cpu = cpu};
		status = st_campaign_work(&p.c, &todo, e);
	}
	st_job_plan_free(&p.plan);
	st_job_free(&p.job);
	free(p.machine);
	st_campaign_close(&p.c);
	return status;
}
