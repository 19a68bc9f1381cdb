/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/campaign.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"
#include "campaign/slurm.h"
#include "campaign/status.h"
#include "campaign/worker.h"
#include "profile/output.h"
#include "timing/timing.h"

static st_status
jobcampaign_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the campaign of the job");
}

/* ---- the description ---- */

static json_t *
about_workload(const struct st_workload *w)
{
	json_t *features = json_array();
	for (size_t i = 0; i < w->features.n; i++)
		json_array_append_new(features, json_pack("[s, f]", w->features.v[i].name,
		                                          w->features.v[i].value));
	return json_pack("{ss, ss, sb, so}", "name", w->name, "argument", w->argument, "stdin",
	                 (int)w->to_stdin, "features", features);
}

static json_t *
about_variant(const struct st_job_campaign_of *of, const struct st_job_variant *v)
{
	json_int_t collector = v->collector - of->job->collectors.v;
	json_int_t workload = v->workload ? v->workload - of->plan->workloads.v.v : -1;
	return json_pack("{ss, ss, sI, sI}", "command", v->command, "arguments", v->arguments,
	                 "collector", collector, "workload", workload);
}

/* The command that continues the campaign. */
static json_t *
about_command(const struct st_job_options *o)
{
	json_t *words = json_pack("[s, s, s, s, s]", o->strobe, "job", "run", "--on", o->on);
	char *file = o->file ? realpath(o->file, NULL) : NULL, text[64];
	if (file) {
		json_array_append_new(words, json_string("--file"));
		json_array_append_new(words, json_string(file));
	}
	if (o->range) {
		json_array_append_new(words, json_string("--rev"));
		json_array_append_new(words, json_string(o->range));
	}
	snprintf(text, sizeof text, "--lease=%.9gs", o->lease);
	json_array_append_new(words, json_string(text));
	snprintf(text, sizeof text, "--noise=%.9g", o->noise * 100);
	json_array_append_new(words, json_string(text));
	free(file);
	return words;
}

static json_t *
about_job(const struct st_job_campaign_of *of)
{
	json_t *workloads = json_array(), *variants = json_array(), *order = json_array();
	for (size_t i = 0; i < of->plan->workloads.v.n; i++)
		json_array_append_new(workloads, about_workload(&of->plan->workloads.v.v[i]));
	for (size_t i = 0; i < of->plan->v.n; i++)
		json_array_append_new(variants, about_variant(of, &of->plan->v.v[i]));
	for (size_t i = 0; i < st_experiment_runs(of->experiment); i++) {
		const struct st_experiment_step s = st_experiment_step_at(of->experiment, i);
		const size_t run = s.repetition * of->plan->v.n + s.variant;
		json_array_append_new(order, json_integer((json_int_t)run));
	}
	return json_pack("{so, ss, ss, so, so, so}", "yaml",
	                 json_stringn(of->job->bytes, of->job->n_bytes), "root", of->root, "source",
	                 of->source, "workloads", workloads, "variants", variants, "order", order);
}

static json_t *
about_campaign(const struct st_job_campaign_of *of)
{
	const struct st_job_options *o = of->options;
	char *here = realpath(".", NULL);
	json_t *about = json_pack("{s:{si, ss, ss}, sI, sf, sf, ss, so, so}", "strobe", "version",
	                          1, "kind", "campaign", "of", "job", "tasks",
	                          (json_int_t)st_experiment_runs(of->experiment), "lease", o->lease,
	                          "noise", o->noise, "directory", here ? here : ".", "command",
	                          about_command(o), "job", about_job(of));
	free(here);
	return about;
}

/* Gives runs that the job has finished without workers a result, so that no worker takes them. */
static st_status
campaign_note_finished(struct st_job_campaign *k, const struct st_experiment *x, struct st_error *e)
{
	char name[64];
	bool first;
	st_status status = ST_OK;
	for (size_t i = 0; i < st_experiment_runs(x) && !status; i++) {
		const struct st_experiment_step s = st_experiment_step_at(x, i);
		snprintf(name, sizeof name, "results/%zu", i);
		if (st_experiment_has_finished(x, &s) && !st_campaign_has(&k->c, name))
			status = st_campaign_put(&k->c, "controller", name, "kept\nend\n", &first,
			                         e);
	}
	return status;
}

st_status
st_job_campaign_begin(struct st_job_campaign *k, const struct st_job_campaign_of *of,
                      struct st_error *e)
{
	const struct st_job_options *o = of->options;
	const cpu_set_t *cpus = of->job->cpu ? &of->job->cpus : NULL;
	*k = (struct st_job_campaign){0};
	if (st_workers_place_read(&k->place, o->on, e) ||
	    st_workers_place_check(&k->place, cpus, e))
		return ST_FAILED;
	json_t *about = about_campaign(of);
	st_status status = about ? st_campaign_make(of->folder, about, e)
	                         : st_fail(e, ST_EXIT_FAILED,
	                                   "a text of the job is not UTF-8, or memory is "
	                                   "exhausted: the job cannot be a campaign");
	json_decref(about);
	if (!status)
		status = st_campaign_open(&k->c, of->folder, e);
	if (status)
		return status;
	st_campaign_forgive(&k->c);
	st_worker_sweep(&k->c);
	status = campaign_note_finished(k, of->experiment, e);
	if (!status)
		status = st_workers_begin(&k->pool, &k->c, &k->place, o->strobe, cpus, e);
	return status;
}

void
st_job_campaign_close(struct st_job_campaign *k, bool complete)
{
	st_workers_end(&k->pool);
	if (complete && k->place.slurm)
		st_slurm_cancel(&k->c);
	st_campaign_close(&k->c);
	*k = (struct st_job_campaign){0};
}

/* ---- results ---- */

static void
campaign_show(struct st_job_campaign *k, const struct st_job_options *o)
{
	struct st_campaign_status s;
	struct st_error e;
	char left[64] = "";
	if (!o->show || st_now_raw() < k->next)
		return;
	k->next = st_now_raw() + 1;
	if (st_campaign_status_of(&s, &k->c, &e))
		return;
	if (s.left >= 0)
		snprintf(left, sizeof left, "; about %.0f s left", s.left);
	char *text = st_text_of("%s of %s a result; %s%s: %s", ST_NUMBER(s.finished),
	                        ST_COUNT(s.tasks, "run has", "runs have"),
	                        ST_COUNT(s.workers.n, "worker", "workers"), left, k->c.folder);
	if (text)
		o->show(o->arg, text);
	free(text);
	st_campaign_status_free(&s);
}

/* "measured EXIT SECONDS FILE" or "failed REASON". The profile stays in the campaign, too, so that
 * a controller that is killed here finds it again. */
static st_status
campaign_take(struct st_job_campaign *k, const char *text, const char *file,
              struct st_job_measured *out, struct st_error *e)
{
	char seconds[32];
	int at = 0;
	if (!strncmp(text, "failed ", 7)) {
		out->failed = true;
		snprintf(out->reason, sizeof out->reason, "%s", text + 7);
		return ST_OK;
	}
	if (sscanf(text, "measured %d %31s %n", &out->exit, seconds, &at) < 2 || !at)
		return st_fail(e, ST_EXIT_FAILED, "a result of the campaign %s is damaged",
		               k->c.folder);
	out->seconds = strtod(seconds, NULL);
	char *from = st_campaign_path(&k->c, "profiles/%s", text + at);
	st_status status = from ? ST_OK : jobcampaign_no_memory(e);
	if (from && link(from, file) && errno != EEXIST)
		status = st_fail(e, ST_EXIT_FAILED, "cannot take the profile %s: %s", from,
		                 strerror(errno));
	free(from);
	return status;
}

static st_status
campaign_given_up(struct st_job_campaign *k, size_t run, struct st_error *e)
{
	char *reason = st_campaign_given_up(&k->c, run);
	if (!reason)
		return ST_OK;
	st_cause(e, ST_EXIT_FAILED,
	         "run %zu of %zu was given up, because %s; the results of all others are kept, and "
	         "the "
	         "same command tries it again",
	         run + 1, k->c.tasks, reason);
	free(reason);
	return ST_FAILED;
}

/* Workers also end when no run is left: then the result is there. */
static st_status
campaign_attend(struct st_job_campaign *k, size_t run, char **text, struct st_error *e)
{
	if (campaign_given_up(k, run, e))
		return ST_FAILED;
	if (!st_workers_attend(&k->pool, e))
		return ST_OK;
	*text = st_campaign_result(&k->c, run);
	if (*text)
		return ST_OK;
	ST_IGNORE(campaign_given_up(k, run, e)); /* the better reason */
	return ST_FAILED;
}

st_status
st_job_campaign_wait(struct st_job_campaign *k, const struct st_job_options *o, size_t run,
                     const char *file, struct st_job_measured *out, struct st_error *e)
{
	enum { SHORTEST_NS = 2000000, LONGEST_NS = 100000000 };
	struct timespec pause = {0, SHORTEST_NS};
	char *text = NULL;
	while (!(text = st_campaign_result(&k->c, run)) && !st_timing_interrupted()) {
		if (campaign_attend(k, run, &text, e))
			return ST_FAILED;
		if (text)
			break;
		if (st_campaign_is_cancelled(&k->c))
			kill(getpid(), SIGTERM); /* as if this process had been told to end */
		campaign_show(k, o);
		nanosleep(&pause, NULL);
		pause.tv_nsec = pause.tv_nsec < LONGEST_NS / 2 ? pause.tv_nsec * 2 : LONGEST_NS;
	}
	out->interrupted = !text;
	st_status status = text ? campaign_take(k, text, file, out, e) : ST_OK;
	free(text);
	return status;
}
