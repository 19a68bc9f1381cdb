/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each run ends in four steps: its profile is put beside the journal under the name of the run; it
 * is kept, which does nothing when it is there already; the journal says so; the file is removed.
 * A job that is killed between two steps continues with the next one, and no profile is stored
 * twice.
 */
#include "job/run.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "experiment/experiment.h"
#include "job/campaign.h"
#include "job/left.h"
#include "job/measure.h"
#include "job/place.h"
#include "job/shell.h"
#include "job/versions.h"
#include "profile/output.h"
#include "timing/timing.h"

const char *const st_job_states[] = {
        [ST_JOB_COMPLETE] = "complete",
        [ST_JOB_INTERRUPTED] = "interrupted",
        [ST_JOB_LEFT_OUT] = "left out",
        [ST_JOB_NOT_BUILT] = "not built",
};

/* A job under way; most of it is of one version. */
struct running {
	const struct st_job *job;
	const struct st_job_options *o;
	struct st_job_outcome *out;
	struct st_job_place place;
	struct st_job_plan plan;
	struct st_job_version *version;
	const char *rev;    /* for the store; NULL: the version that is checked out */
	const char *source; /* the folder that has the version */
	char *folder;       /* its journal, and profiles that are not kept yet */
	char *begun;        /* of this journal: part of the names of files */
	char *number;       /* of a version without git, as the store has it */
	struct st_left left;
	struct st_experiment *experiment;
	struct st_job_campaign campaign; /* with --on */
};

static st_status
running_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the job");
}

static void
running_show(const struct running *r, const char *text)
{
	if (r->o->show)
		r->o->show(r->o->arg, text);
}

/* ---- a run ---- */

static char *
jobrun_file(const struct running *r, const struct st_experiment_step *s)
{
	return st_text_of("%s/%zu.%zu.db", r->folder, s->variant, s->repetition);
}

static void
jobrun_show(struct running *r, const struct st_experiment_step *s)
{
	char left[64];
	char *title = st_job_variant_title(&r->plan.v.v[s->variant]);
	char *text = title ? st_text_of("run %zu of %zu%s%.10s: %s%s",
	                                st_experiment_finished(r->experiment) + 1,
	                                st_experiment_runs(r->experiment), r->rev ? " of " : "",
	                                r->rev ? r->rev : "", title,
	                                st_left_text(&r->left, left, sizeof left))
	                   : NULL;
	if (text)
		running_show(r, text);
	free(title);
	free(text);
}

static st_status
jobrun_measure(struct running *r, const struct st_experiment_step *s, const char *file,
               struct st_job_measured *out, struct st_error *e)
{
	const struct st_job_measuring m = {
	        .job = r->job,
	        .variant = &r->plan.v.v[s->variant],
	        .round = s->repetition + 1,
	        .strobe = r->o->strobe,
	        .root = r->place.root,
	        .folder = r->source,
	        .scratch = r->folder,
	        .profile = file,
	};
	*out = (struct st_job_measured){.seconds = NAN};
	if (!access(file, F_OK))
		return ST_OK;
	return r->o->on ? st_job_campaign_wait(&r->campaign, r->o, s->run, file, out, e)
	                : st_job_measure(&m, out, e);
}

/* The commands after a run are part of it: if one fails, the run has no result. */
static st_status
jobrun_postprocess(struct running *r, const char *file, struct st_job_measured *m,
                   struct st_error *e)
{
	char *profile = st_text_of("STROBE_PROFILE=%s", file);
	char *const settings[] = {profile, NULL};
	const struct st_child c = {.folder = r->source, .settings = settings};
	st_status status = profile ? ST_OK : running_no_memory(e);
	for (size_t i = 0; i < r->job->postprocess.n && !status && !m->failed && !m->interrupted;
	     i++) {
		struct st_child_end end;
		status = st_child_shell(&c, r->job->postprocess.v[i], &end, e);
		m->interrupted = end.interrupted;
		if (status || !end.exit || end.interrupted)
			continue;
		m->failed = true;
		snprintf(m->reason, sizeof m->reason, "the command of postprocess exited with %d",
		         end.exit);
	}
	free(profile);
	return status;
}

/* After a checkout of another version during the job, its profiles would be of two versions. */
static st_status
jobrun_check_head(struct running *r, struct st_error *e)
{
	char *head = NULL;
	if (r->rev || !r->place.git)
		return ST_OK;
	st_status status = st_job_place_head(&r->place, &head, e);
	if (!status && strcmp(head, r->version->name) != 0)
		status = st_fail(e, ST_EXIT_FAILED,
		                 "the job is of commit %.10s, and %.10s was checked out meanwhile: "
		                 "check the former out and run the job again to go on",
		                 r->version->name, head);
	free(head);
	return status;
}

static st_status
jobrun_keep(struct running *r, const struct st_experiment_step *s, const char *file, FILE *result,
            const struct st_job_measured *m, struct st_error *e)
{
	const struct st_job_variant *v = &r->plan.v.v[s->variant];
	char *name = st_text_of("job-%s-%zu-%zu.db", r->begun, s->variant, s->repetition);
	char *id = NULL, *version = NULL;
	st_status status = name ? jobrun_check_head(r, e) : running_no_memory(e);
	if (!status)
		status = st_job_place_keep(&r->place, file, name,
		                           v->workload ? v->workload->name : NULL,
		                           r->rev ? r->rev : r->number, &id, &version, e);
	if (!status)
		fprintf(result, "kept %.6f %d %s %s", m->seconds, m->exit, *version ? version : "-",
		        id);
	free(name);
	free(id);
	free(version);
	return status;
}

static void
put_reason(FILE *result, const char *reason)
{
	fputs("failed ", result);
	for (; *reason; reason++)
		fputc(*reason == '\n' || *reason == '\r' ? ' ' : *reason, result);
}

static st_status
jobrun_end(struct running *r, const struct st_experiment_step *s, const char *file, FILE *result,
           struct st_job_measured *m, struct st_error *e)
{
	if (!m->failed && !m->interrupted && jobrun_postprocess(r, file, m, e))
		return ST_FAILED;
	if (m->interrupted)
		return ST_OK;
	if (!m->failed)
		return jobrun_keep(r, s, file, result, m, e);
	unlink(file);
	put_reason(result, m->reason);
	return ST_OK;
}

static int
jobrun_execute(void *arg, const struct st_experiment_step *s, FILE *result, struct st_error *e)
{
	struct running *r = arg;
	struct st_job_measured m;
	char *file = jobrun_file(r, s);
	if (!r->o->on)
		jobrun_show(r, s);
	st_status status = file ? jobrun_measure(r, s, file, &m, e) : running_no_memory(e);
	if (!status)
		status = jobrun_end(r, s, file, result, &m, e);
	free(file);
	return status;
}

static st_status
take_failure(struct running *r, const struct st_experiment_step *s, const char *reason,
             struct st_error *e)
{
	struct st_job_failure *f = ST_PUSH(&r->version->failures);
	if (!f)
		return running_no_memory(e);
	*f = (struct st_job_failure){st_job_variant_title(&r->plan.v.v[s->variant]),
	                             strdup(reason)};
	return f->title && f->reason ? ST_OK : running_no_memory(e);
}

static st_status
take_profile(struct running *r, const char *result, struct st_error *e)
{
	char seconds[32], version[80];
	int exit = 0, at = 0;
	if (sscanf(result, "kept %31s %d %79s %n", seconds, &exit, version, &at) < 3 || !at)
		return st_fail(e, ST_EXIT_FAILED, "the journal in %s has a line that is damaged",
		               r->folder);
	char **slot = ST_PUSH(&r->version->profiles);
	if (!slot || !(*slot = strdup(result + at)))
		return running_no_memory(e);
	if (!r->place.git && r->place.has_store && !r->number && !(r->number = strdup(version)))
		return running_no_memory(e);
	r->version->exits += exit != 0;
	st_left_add(&r->left, strtod(seconds, NULL));
	return ST_OK;
}

static int
jobrun_take(void *arg, const struct st_experiment_step *s, const char *result, struct st_error *e)
{
	struct running *r = arg;
	char *file = jobrun_file(r, s);
	if (file)
		unlink(file);
	free(file);
	r->left.runs--;
	return strncmp(result, "failed ", 7) ? take_profile(r, result, e)
	                                     : take_failure(r, s, result + 7, e);
}

static bool
jobrun_is_interrupted(void *arg)
{
	(void)arg;
	return st_timing_interrupted() != 0;
}

/* ---- a version ---- */

/* The journal's moment, of the first time that the version was begun. */
static st_status
version_begin(struct running *r, struct st_error *e)
{
	char *path = st_text_of("%s/begun", r->folder);
	struct timespec now;
	char text[32] = "";
	st_status status = path ? ST_OK : running_no_memory(e);
	FILE *f = path ? fopen(path, "re") : NULL;
	bool known = f && fgets(text, sizeof text, f);
	if (f)
		fclose(f);
	clock_gettime(CLOCK_REALTIME, &now);
	if (!known)
		snprintf(text, sizeof text, "%lld.%09ld", (long long)now.tv_sec, now.tv_nsec);
	if (!known && !status)
		status = st_output_text(path, text, e);
	free(path);
	r->begun = strdup(text);
	return status || r->begun ? status : running_no_memory(e);
}

static st_status
version_open_folder(struct running *r, struct st_error *e)
{
	r->folder = st_text_of("%s/%s", r->place.jobs, r->version->name);
	if (!r->folder)
		return running_no_memory(e);
	if (r->o->restart)
		st_job_place_remove(r->folder);
	if (mkdir(r->folder, 0777) && errno != EEXIST)
		return st_fail(e, ST_EXIT_FAILED, "cannot make the folder %s: %s", r->folder,
		               strerror(errno));
	return version_begin(r, e);
}

/* Opens the journal, which a hash of the job file identifies. */
static st_status
version_open_journal(struct running *r, struct st_error *e)
{
	const struct st_hash hash = st_sha256(r->job->bytes, r->job->n_bytes);
	char identity[ST_HASH_HEX + 1];
	char *journal = st_text_of("%s/journal", r->folder);
	st_hash_hex(&hash, identity);
	const struct st_experiment_plan plan = {
	        .n_variants = r->plan.v.n,
	        .n_repetitions = (size_t)r->job->repeat,
	        .order = ST_EXPERIMENT_RANDOM,
	        .seed = 1,
	        .journal = journal,
	        .identity = identity,
	};
	const struct st_experiment_runner runner = {jobrun_execute, jobrun_take,
	                                            jobrun_is_interrupted, r};
	r->left = (struct st_left){.runs = plan.n_variants * plan.n_repetitions};
	r->version->runs = r->left.runs;
	if (!journal)
		return running_no_memory(e);
	struct st_error cause;
	r->experiment = st_experiment_open(&plan, &runner, &cause);
	bool other = !r->experiment && strstr(cause.text, "is of another experiment");
	if (other)
		st_cause(e, ST_EXIT_FAILED,
		         "the job file has changed since a job of this version was interrupted: "
		         "--restart forgets what that job has done");
	else if (!r->experiment)
		*e = cause;
	if (r->experiment)
		r->version->resumed = st_experiment_finished(r->experiment);
	free(journal);
	return r->experiment ? ST_OK : ST_FAILED;
}

static st_status
version_not_built(struct running *r, const char *what, const char *command, int code,
                  const char *log, struct st_error *e)
{
	r->version->state = ST_JOB_NOT_BUILT;
	r->version->reason =
	        st_text_of("the command of %s '%s' exited with %d; its output is in %s", what,
	                   command, code, log);
	return r->version->reason ? ST_OK : running_no_memory(e);
}

static st_status
version_commands(struct running *r, const char *what, const char *const *commands, size_t n,
                 struct st_error *e)
{
	char *log = st_text_of("%s/build-%.10s.log", r->place.jobs, r->version->name);
	const struct st_job_shell shell = {r->source, log, r->o->show, r->o->arg};
	struct st_job_shell_end end = {0};
	st_status status =
	        log ? st_job_shell_run(&shell, commands, n, &end, e) : running_no_memory(e);
	if (!status && end.failed)
		status = version_not_built(r, what, end.failed, end.exit, log, e);
	free(log);
	return status;
}

static st_status
version_prepare(struct running *r, struct st_error *e)
{
	const struct st_job *j = r->job;
	if (r->rev && version_commands(r, "build", j->build.v, j->build.n, e))
		return ST_FAILED;
	if (r->version->state == ST_JOB_NOT_BUILT)
		return ST_OK;
	return version_commands(r, "before", j->before.v, j->before.n, e);
}

/* The folder's name has the moment of the journal: pilots of a job that --restart has forgotten
 * must not work on this one. */
static st_status
version_begin_campaign(struct running *r, struct st_error *e)
{
	char *folder = st_text_of("%s/campaign-%s", r->folder, r->begun);
	const struct st_job_campaign_of of = {
	        .job = r->job,
	        .options = r->o,
	        .plan = &r->plan,
	        .experiment = r->experiment,
	        .folder = folder,
	        .root = r->place.root,
	        .source = r->source,
	};
	st_status status =
	        folder ? st_job_campaign_begin(&r->campaign, &of, e) : running_no_memory(e);
	free(folder);
	return status;
}

static st_status
version_execute(struct running *r, struct st_error *e)
{
	enum st_experiment_end end;
	if (version_prepare(r, e))
		return ST_FAILED;
	if (r->version->state == ST_JOB_NOT_BUILT || st_timing_interrupted())
		return ST_OK;
	st_status status = r->o->on ? version_begin_campaign(r, e) : ST_OK;
	if (!status)
		status = st_experiment_run(r->experiment, &end, e);
	bool complete = !status && end == ST_EXPERIMENT_COMPLETE;
	if (r->o->on)
		st_job_campaign_close(&r->campaign, complete);
	if (complete)
		r->version->state = ST_JOB_COMPLETE;
	return status;
}

/* Runs the job of a version in a separate work tree. */
static st_status
version_execute_elsewhere(struct running *r, struct st_error *e)
{
	struct st_worktree tree = {0};
	char *mark = st_text_of("%s/tree", r->place.jobs);
	char text[64];
	snprintf(text, sizeof text, "checking out %.10s", r->rev);
	running_show(r, text);
	st_status status = mark ? st_worktree_make(&tree, r->place.root, r->rev, mark, e)
	                        : running_no_memory(e);
	r->source = tree.folder;
	if (!status)
		status = version_execute(r, e);
	st_worktree_remove(&tree);
	free(mark);
	return status;
}

static void
version_close(struct running *r)
{
	st_experiment_close(r->experiment);
	free(r->folder);
	free(r->begun);
	free(r->number);
	r->experiment = NULL;
	r->folder = r->begun = r->number = NULL;
}

/* A job that is complete already, because a later version was under way when it was interrupted, is
 * neither built nor run again. */
static st_status
version_measure(struct running *r, struct st_error *e)
{
	if (version_open_folder(r, e) || version_open_journal(r, e))
		return ST_FAILED;
	if (st_experiment_finished(r->experiment) == r->version->runs) {
		r->version->state = ST_JOB_COMPLETE;
		return ST_OK;
	}
	r->source = r->place.root;
	return r->rev ? version_execute_elsewhere(r, e) : version_execute(r, e);
}

static st_status
version_has_profiles(struct running *r, const char *name, bool *has, struct st_error *e)
{
	struct st_version v = {0};
	struct st_stored_list list = {0};
	char *begun = st_text_of("%s/%s/begun", r->place.jobs, name);
	st_status status = begun ? ST_OK : running_no_memory(e);
	bool under_way = begun && !access(begun, F_OK);
	free(begun);
	*has = false;
	if (status || under_way)
		return status;
	status = st_store_version(&r->place.store, name, &v, e);
	if (!status)
		status = st_store_of_version(&r->place.store, &v, &list, e);
	*has = list.v.n > 0;
	st_stored_list_free(&list);
	st_version_free(&v);
	return status;
}

static st_status
running_version(struct running *r, const char *name, struct st_error *e)
{
	bool has = false;
	r->version = ST_PUSH(&r->out->versions);
	if (!r->version || !(r->version->name = strdup(name)))
		return running_no_memory(e);
	r->version->state = ST_JOB_INTERRUPTED;
	if (r->o->only_missing && version_has_profiles(r, name, &has, e))
		return ST_FAILED;
	if (has) {
		r->version->state = ST_JOB_LEFT_OUT;
		return ST_OK;
	}
	st_status status = version_measure(r, e);
	version_close(r);
	return status;
}

/* ---- the job ---- */

static st_status
running_others(struct running *r, struct st_error *e)
{
	struct st_commits commits;
	if (!r->place.git)
		return st_fail(e, ST_EXIT_FAILED,
		               "there is no git repository here, and so no other version");
	if (!r->place.has_store)
		return st_fail(e, ST_EXIT_FAILED,
		               "profiles of other versions need a store: run strobe init");
	st_status status = st_commits_of(&commits, r->place.root, r->o->range, e);
	for (size_t i = 0; i < commits.v.n && !status && !st_timing_interrupted(); i++) {
		r->rev = commits.v.v[i];
		status = running_version(r, commits.v.v[i], e);
	}
	st_commits_free(&commits);
	return status;
}

static st_status
running_versions(struct running *r, struct st_error *e)
{
	char *head = NULL;
	if (r->o->range)
		return running_others(r, e);
	st_status status = st_job_place_head(&r->place, &head, e);
	if (!status)
		status = running_version(r, head, e);
	free(head);
	return status;
}

/* Also those of earlier attempts, with workers or without. */
static void
running_remove_workloads(const struct running *r)
{
	glob_t found;
	char *pattern = st_text_of("%s/workloads*", r->place.jobs);
	if (pattern && !glob(pattern, GLOB_NOSORT, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			st_job_place_remove(found.gl_pathv[i]);
		globfree(&found);
	}
	free(pattern);
}

/* Nothing is left to go on with. */
static void
running_clear(struct running *r)
{
	for (size_t i = 0; i < r->out->versions.n; i++)
		if (r->out->versions.v[i].state == ST_JOB_INTERRUPTED)
			return;
	for (size_t i = 0; i < r->out->versions.n; i++) {
		char *folder = st_text_of("%s/%s", r->place.jobs, r->out->versions.v[i].name);
		if (folder)
			st_job_place_remove(folder);
		free(folder);
	}
	running_remove_workloads(r);
}

/* Workers of a campaign read workloads while strobe may be killed and started again: each start of
 * a campaign makes a new folder. */
static char *
running_workloads(const struct running *r)
{
	struct timespec now;
	if (!r->o->on)
		return st_text_of("%s/workloads", r->place.jobs);
	clock_gettime(CLOCK_REALTIME, &now);
	return st_text_of("%s/workloads-%lld.%09ld", r->place.jobs, (long long)now.tv_sec,
	                  now.tv_nsec);
}

static st_status
running_begin(struct running *r, const char *workloads, struct st_error *e)
{
	if (st_job_place_begin(&r->place, e))
		return ST_FAILED;
	st_job_place_remove(workloads);
	if (mkdir(workloads, 0777))
		return st_fail(e, ST_EXIT_FAILED, "cannot make the folder %s: %s", workloads,
		               strerror(errno));
	running_show(r, "making workloads");
	return st_job_plan_make(&r->plan, r->job, workloads, r->place.root, e);
}

st_status
st_job_run(const struct st_job *j, const struct st_job_options *o, struct st_job_outcome *out,
           struct st_error *e)
{
	struct running r = {.job = j, .o = o, .out = out};
	*out = (struct st_job_outcome){0};
	st_status status = st_job_place_open(&r.place, e);
	char *workloads = status ? NULL : running_workloads(&r);
	if (!status && !workloads)
		status = running_no_memory(e);
	if (!status)
		status = running_begin(&r, workloads, e);
	if (!status)
		status = running_versions(&r, e);
	if (!status)
		running_clear(&r);
	out->stored = r.place.has_store;
	out->results = r.place.results ? strdup(r.place.results) : NULL;
	st_job_plan_free(&r.plan);
	st_job_place_close(&r.place);
	free(workloads);
	return status;
}

void
st_job_outcome_free(struct st_job_outcome *out)
{
	for (size_t i = 0; i < out->versions.n; i++) {
		struct st_job_version *v = &out->versions.v[i];
		for (size_t k = 0; k < v->profiles.n; k++)
			free(v->profiles.v[k]);
		for (size_t k = 0; k < v->failures.n; k++) {
			free(v->failures.v[k].title);
			free(v->failures.v[k].reason);
		}
		free(v->profiles.v);
		free(v->failures.v);
		free(v->name);
		free(v->reason);
	}
	free(out->versions.v);
	free(out->results);
	*out = (struct st_job_outcome){0};
}
