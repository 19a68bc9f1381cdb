/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gate/project.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "job/shell.h"

void
st_gate_show(const struct st_gate_listener *l, const char *text)
{
	if (l->show)
		l->show(l->arg, text);
}

static st_status
project_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the gate");
}

/* ---- versions ---- */

st_status
st_gate_is_version(const char *text, bool *is, struct st_error *e)
{
	struct st_vcs *vcs = NULL;
	struct st_commits commits = {0};
	struct st_error ignored;
	*is = false;
	if (!*text || strchr(text, ' ') || (strcmp(text, ".") != 0 && !access(text, F_OK)))
		return ST_OK;
	if (st_vcs_git(&vcs, e))
		return ST_FAILED;
	if (vcs && !strcmp(text, "."))
		*is = true;
	else if (vcs && vcs->root && !strstr(text, ".."))
		*is = !st_commits_of(&commits, vcs->root, text, &ignored);
	st_commits_free(&commits);
	if (vcs)
		vcs->kind->close(vcs);
	return ST_OK;
}

static st_status
build_commands(const struct st_gate_project *p, struct st_gate_build *b, const char *what,
               const char *const *commands, size_t n, struct st_error *e)
{
	char *log = st_text_of("%s/gate-%.10s.log", p->place.jobs, b->commit);
	const struct st_job_shell shell = {b->folder, log, p->listener.show, p->listener.arg};
	struct st_job_shell_end end = {0};
	st_status status =
	        log ? st_job_shell_run(&shell, commands, n, &end, e) : project_no_memory(e);
	b->interrupted = end.interrupted;
	if (!status && end.failed) {
		b->reason = st_text_of("the command of %s '%s' exited with %d; its output is in %s",
		                       what, end.failed, end.exit, log);
		status = b->reason ? ST_OK : project_no_memory(e);
	}
	free(log);
	return status;
}

static st_status
build_checked_out(const struct st_gate_project *p, struct st_gate_build *b, struct st_error *e)
{
	const struct st_job *j = &p->job;
	if (build_commands(p, b, "build", j->build.v, j->build.n, e))
		return ST_FAILED;
	return b->reason || b->interrupted
	               ? ST_OK
	               : build_commands(p, b, "before", j->before.v, j->before.n, e);
}

st_status
st_gate_build_make(const struct st_gate_project *p, const char *rev, const char *name,
                   struct st_gate_build *b, struct st_error *e)
{
	struct st_commits commits = {0};
	char text[64];
	*b = (struct st_gate_build){.folder = p->place.root};
	if (!strcmp(rev, "."))
		return ST_OK;
	if (st_commits_of(&commits, p->place.root, rev, e)) {
		st_commits_free(&commits);
		return ST_FAILED;
	}
	b->commit = strdup(commits.v.v[0]);
	char *mark = st_text_of("%s/gate-%s", p->place.jobs, name);
	snprintf(text, sizeof text, "checking out %.10s", commits.v.v[0]);
	st_commits_free(&commits);
	st_gate_show(&p->listener, text);
	st_status status = b->commit && mark
	                           ? st_worktree_make(&b->tree, p->place.root, b->commit, mark, e)
	                           : project_no_memory(e);
	free(mark);
	b->folder = b->tree.folder;
	return status ? status : build_checked_out(p, b, e);
}

void
st_gate_build_remove(struct st_gate_build *b)
{
	st_worktree_remove(&b->tree);
	free(b->commit);
	free(b->reason);
	*b = (struct st_gate_build){0};
}

/* ---- the project ---- */

/* The example of strobe job init measures nothing of the project, so that all its versions are
 * equal. */
static st_status
project_check_commands(const struct st_gate_project *p, struct st_error *e)
{
	const struct st_job *j = &p->job;
	if (p->arguments && *p->arguments)
		return ST_OK;
	for (size_t i = 0; i < j->commands.n; i++)
		if (!strcmp(j->commands.v[i], ST_JOB_EXAMPLE_COMMAND))
			return st_fail(e, ST_EXIT_FAILED,
			               "the command of " ST_JOB_FILE
			               " is that of the example, " ST_JOB_EXAMPLE_COMMAND
			               ": replace it by a benchmark of the project");
	return ST_OK;
}

static st_status
project_read_job(struct st_gate_project *p, struct st_error *e)
{
	char *path = st_text_of("%s/" ST_JOB_FILE, p->place.root);
	st_status status = path ? ST_OK : project_no_memory(e);
	if (!status && !access(path, F_OK))
		status = st_job_read(&p->job, path, e) ? ST_FAILED : project_check_commands(p, e);
	else if (!status && !(p->arguments && *p->arguments))
		status = st_fail(e, ST_EXIT_USAGE,
		                 "nothing to run: give the command after the options, or describe "
		                 "it in " ST_JOB_FILE " (strobe job init writes an example)");
	/* Messages of the job name the file, so its path must live as long as the job. */
	p->job.yaml.path = ST_JOB_FILE;
	free(path);
	return status;
}

static st_status
project_plan(struct st_gate_project *p, struct st_error *e)
{
	if (st_job_place_begin(&p->place, e))
		return ST_FAILED;
	p->workloads = st_text_of("%s/gate-workloads", p->place.jobs);
	if (!p->workloads)
		return project_no_memory(e);
	st_job_place_remove(p->workloads);
	if (mkdir(p->workloads, 0777))
		return st_fail(e, ST_EXIT_FAILED, "cannot make the folder %s: %s", p->workloads,
		               strerror(errno));
	return st_job_plan_make(&p->plan, &p->job, p->workloads, p->place.root, e);
}

st_status
st_gate_project_open(struct st_gate_project *p, char *const *arguments,
                     const struct st_gate_listener *listener, struct st_error *e)
{
	*p = (struct st_gate_project){.git = true, .arguments = arguments, .listener = *listener};
	p->place.lock = -1;
	if (st_job_place_open(&p->place, e) || project_read_job(p, e))
		return ST_FAILED;
	return project_plan(p, e);
}

void
st_gate_project_close(struct st_gate_project *p)
{
	if (!p->git)
		return;
	if (p->workloads)
		st_job_place_remove(p->workloads);
	free(p->workloads);
	st_job_plan_free(&p->plan);
	st_job_free(&p->job);
	st_job_place_close(&p->place);
}
