/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "job/child.h"
#include "job/job.h"
#include "profile/output.h"

static st_status
place_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the job");
}

/* The nearest folder upwards that has a job; the current one if none has. */
static char *
place_nearest_job(void)
{
	char *folder = realpath(".", NULL), *start = folder ? strdup(folder) : NULL;
	while (folder) {
		char *file = st_text_of("%s/" ST_JOB_FILE, folder);
		bool there = file && !access(file, F_OK);
		free(file);
		if (there || !*folder) {
			free(there ? start : folder);
			return there ? folder : start;
		}
		*strrchr(folder, '/') = '\0';
	}
	free(start);
	return NULL;
}

static st_status
place_find_root(struct st_job_place *p, struct st_error *e)
{
	struct st_vcs *vcs = NULL;
	if (st_vcs_git(&vcs, e))
		return ST_FAILED;
	p->git = vcs != NULL;
	if (vcs && vcs->root)
		p->root = strdup(vcs->root);
	else if (!vcs)
		p->root = place_nearest_job();
	bool bare = vcs && !vcs->root;
	if (vcs)
		vcs->kind->close(vcs);
	if (bare)
		return st_fail(e, ST_EXIT_FAILED,
		               "a bare repository has no files to measure: run the job in a clone "
		               "of it");
	if (!p->root)
		return place_no_memory(e);
	for (size_t n = strlen(p->root); n > 1 && p->root[n - 1] == '/'; n--)
		p->root[n - 1] = '\0';
	return ST_OK;
}

st_status
st_job_place_open(struct st_job_place *p, struct st_error *e)
{
	*p = (struct st_job_place){.lock = -1};
	if (place_find_root(p, e) || st_store_open_if_any(&p->store, &p->has_store, e))
		return ST_FAILED;
	p->jobs = p->has_store ? st_text_of("%s/jobs", p->store.folder)
	                       : st_text_of("%s/.strobe/jobs", p->root);
	p->results = st_text_of("%s/.strobe/pending", p->root);
	return p->jobs && p->results ? ST_OK : place_no_memory(e);
}

void
st_job_place_close(struct st_job_place *p)
{
	if (p->has_store)
		st_store_close(&p->store);
	if (p->lock >= 0)
		close(p->lock);
	free(p->root);
	free(p->jobs);
	free(p->results);
	*p = (struct st_job_place){.lock = -1};
}

static st_status
place_make_folder(const char *folder, struct st_error *e)
{
	return !mkdir(folder, 0777) || errno == EEXIST
	               ? ST_OK
	               : st_fail(e, ST_EXIT_FAILED, "cannot make the folder %s: %s", folder,
	                         strerror(errno));
}

/* A folder of the project that git does not see. */
static st_status
place_make_hidden(const char *folder, struct st_error *e)
{
	char *ignore = st_text_of("%s/.gitignore", folder);
	st_status status = place_make_folder(folder, e);
	if (!status && !ignore)
		status = place_no_memory(e);
	if (!status && access(ignore, F_OK))
		status = st_output_text(ignore, "*\n", e);
	free(ignore);
	return status;
}

static st_status
place_lock(struct st_job_place *p, struct st_error *e)
{
	char *path = st_text_of("%s/lock", p->jobs);
	if (!path)
		return place_no_memory(e);
	p->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	st_status status = ST_OK;
	if (p->lock < 0)
		status = st_fail(e, ST_EXIT_FAILED, "cannot open %s: %s", path, strerror(errno));
	else if (flock(p->lock, LOCK_EX | LOCK_NB))
		status = st_fail(e, ST_EXIT_FAILED,
		                 "another strobe runs a job of this project: wait for its end");
	free(path);
	return status;
}

st_status
st_job_place_begin(struct st_job_place *p, struct st_error *e)
{
	char *above = st_text_of("%s/.strobe", p->root);
	st_status status = above ? ST_OK : place_no_memory(e);
	if (!status && !p->has_store)
		status = place_make_folder(above, e);
	free(above);
	if (!status)
		status = p->has_store ? place_make_folder(p->jobs, e)
		                      : place_make_hidden(p->jobs, e);
	if (!status && !p->has_store)
		status = place_make_hidden(p->results, e);
	return status ? status : place_lock(p, e);
}

void
st_job_place_remove(const char *folder)
{
	char *argv[] = {"rm", "-rf", "--", (char *)(uintptr_t)folder, NULL};
	const struct st_child c = {.argv = argv, .to_its_end = true};
	struct st_child_end end;
	struct st_error e;
	if (!access(folder, F_OK))
		ST_IGNORE(st_child_run(&c, &end, &e)); /* what stays is in the way of nothing */
}

st_status
st_job_place_head(struct st_job_place *p, char **name, struct st_error *e)
{
	struct st_vcs *vcs = NULL;
	struct st_version v = {0};
	st_status status = ST_OK;
	if (!p->git) {
		*name = strdup("work");
		return *name ? ST_OK : place_no_memory(e);
	}
	if (st_vcs_git(&vcs, e))
		return ST_FAILED;
	if (!vcs)
		return st_fail(e, ST_EXIT_FAILED, "the repository has gone");
	status = vcs->kind->head(vcs, &v, e);
	*name = status ? NULL : strdup(v.name);
	if (!status && !*name)
		status = place_no_memory(e);
	st_version_free(&v);
	vcs->kind->close(vcs);
	return status;
}

static st_status
place_store(struct st_job_place *p, const char *file, const char *workload, const char *rev,
            char **id, char **version, struct st_error *e)
{
	struct st_addition a = {.file = file, .workload = workload};
	struct st_version v;
	char hex[ST_HASH_HEX + 1];
	st_status status = st_store_add(&p->store, &a, 1, rev, &v, e);
	if (!status) {
		*id = strdup(st_hash_hex(&a.hash, hex));
		*version = strdup(a.of);
	}
	st_version_free(&v);
	return status || (*id && *version) ? status : place_no_memory(e);
}

/* The name says which run of which journal it is: a file that is there is this one. */
static st_status
place_move(struct st_job_place *p, const char *file, const char *name, char **id, char **version,
           struct st_error *e)
{
	char *to = st_text_of("%s/%s", p->results, name);
	*version = strdup("");
	st_status status = to && *version ? ST_OK : place_no_memory(e);
	if (!status && access(to, F_OK) && rename(file, to))
		status = st_fail(e, ST_EXIT_FAILED, "cannot move %s to %s: %s", file, to,
		                 strerror(errno));
	*id = to;
	return status;
}

st_status
st_job_place_keep(struct st_job_place *p, const char *file, const char *name, const char *workload,
                  const char *rev, char **id, char **version, struct st_error *e)
{
	*id = *version = NULL;
	return p->has_store ? place_store(p, file, workload, rev, id, version, e)
	                    : place_move(p, file, name, id, version, e);
}
