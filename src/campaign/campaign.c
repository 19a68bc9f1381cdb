/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "campaign/campaign.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/parse.h"
#include "base/text.h"
#include "campaign/slurm.h"
#include "profile/output.h"

enum { CAMPAIGN_VERSION = 1 };

/* A result ends with this line: a file that a crash of the machine has cut does not. */
static const char campaign_end[] = "\nend\n";

/* Folders of a campaign. */
static const char *const campaign_folders[] = {"tmp",      "workers", "leases",     "results",
                                               "profiles", "failed",  "quarantine", "pilots"};

static st_status
campaign_folder_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the campaign");
}

/* ---- files ---- */

char *
st_campaign_path(const struct st_campaign *c, const char *format, ...)
{
	char name[512];
	va_list ap;
	va_start(ap, format);
	vsnprintf(name, sizeof name, format, ap);
	va_end(ap);
	return st_text_of("%s/%s", c->folder, name);
}

bool
st_campaign_has(const struct st_campaign *c, const char *name)
{
	char *path = st_campaign_path(c, "%s", name);
	bool has = path && !access(path, F_OK);
	free(path);
	return has;
}

static char *
campaign_read_file(const char *path)
{
	struct st_text text;
	char piece[4096];
	FILE *f = path ? fopen(path, "re") : NULL;
	if (!f)
		return NULL;
	FILE *out = st_text_begin(&text);
	for (size_t n; out && (n = fread(piece, 1, sizeof piece, f)) > 0;)
		fwrite(piece, 1, n, out);
	fclose(f);
	return st_text_end(&text);
}

char *
st_campaign_read(const struct st_campaign *c, const char *name)
{
	char *path = st_campaign_path(c, "%s", name);
	char *text = campaign_read_file(path);
	free(path);
	return text;
}

static st_status
campaign_write(const char *path, const char *text, struct st_error *e)
{
	FILE *f = fopen(path, "we");
	int error = f ? 0 : errno;
	if (f && fputs(text, f) < 0)
		error = errno;
	if (f && fclose(f) && !error)
		error = errno;
	return error ? st_output_failed(path, error, e) : ST_OK;
}

/* A link fails when the name exists. If NFS loses the answer of the server and asks again, link
 * fails although the link was made: the number of links tells. */
static st_status
campaign_link(const char *from, const char *to, bool *first, struct st_error *e)
{
	struct stat s;
	*first = !link(from, to);
	int error = errno;
	if (!*first)
		*first = !stat(from, &s) && s.st_nlink == 2;
	return *first || error == EEXIST ? ST_OK : st_output_failed(to, error, e);
}

st_status
st_campaign_put(const struct st_campaign *c, const char *who, const char *name, const char *text,
                bool *first, struct st_error *e)
{
	char *temporary = st_campaign_path(c, "tmp/%s", who);
	char *path = st_campaign_path(c, "%s", name);
	st_status status = temporary && path ? ST_OK : campaign_folder_no_memory(e);
	*first = false;
	if (temporary)
		unlink(temporary); /* after a crash, it may be a link to the file of that time */
	if (!status)
		status = campaign_write(temporary, text, e);
	if (!status)
		status = campaign_link(temporary, path, first, e);
	if (temporary)
		unlink(temporary);
	free(temporary);
	free(path);
	return status;
}

size_t
st_campaign_each(const struct st_campaign *c, const char *folder,
                 void (*each)(void *arg, const char *name), void *arg)
{
	char *path = st_campaign_path(c, "%s", folder);
	DIR *d = path ? opendir(path) : NULL;
	size_t n = 0;
	for (struct dirent *entry; d && (entry = readdir(d));) {
		if (*entry->d_name == '.')
			continue;
		n++;
		if (each)
			each(arg, entry->d_name);
	}
	if (d)
		closedir(d);
	free(path);
	return n;
}

/* ---- the description ---- */

static st_status
campaign_make_folder(const char *path, struct st_error *e)
{
	if (mkdir(path, 0777) && errno != EEXIST)
		return st_fail(e, ST_EXIT_FAILED, "cannot make the folder %s: %s", path,
		               strerror(errno));
	return ST_OK;
}

st_status
st_campaign_make(const char *folder, const json_t *about, struct st_error *e)
{
	st_status status = campaign_make_folder(folder, e);
	for (size_t i = 0; i < sizeof campaign_folders / sizeof *campaign_folders && !status; i++) {
		char *path = st_text_of("%s/%s", folder, campaign_folders[i]);
		status = path ? campaign_make_folder(path, e) : campaign_folder_no_memory(e);
		free(path);
	}
	char *text = status ? NULL : json_dumps(about, JSON_INDENT(1));
	char *path = status ? NULL : st_text_of("%s/campaign.json", folder);
	if (!status)
		status =
		        text && path ? st_output_text(path, text, e) : campaign_folder_no_memory(e);
	free(text);
	free(path);
	return status;
}

/* The tasks of a batch are lines of a file that may grow. */
static size_t
campaign_count_lines(const struct st_campaign *c)
{
	char *text = st_campaign_read(c, "tasks");
	size_t n = 0;
	for (const char *at = text; at && (at = strchr(at, '\n')); at++)
		n++;
	free(text);
	return n;
}

static st_status
campaign_take_about(struct st_campaign *c, struct st_error *e)
{
	int version = 0;
	json_int_t tasks = 0;
	const char *kind = "";
	if (json_unpack(c->about, "{s:{s:i, s:s}, s:I, s:F, s:F}", "strobe", "version", &version,
	                "kind", &kind, "tasks", &tasks, "lease", &c->lease, "noise", &c->noise) ||
	    strcmp(kind, "campaign") != 0 || tasks < 0 || !(c->lease > 0))
		return st_fail(e, ST_EXIT_FAILED, "%s/campaign.json does not describe a campaign",
		               c->folder);
	if (version != CAMPAIGN_VERSION)
		return st_fail(e, ST_EXIT_FAILED,
		               "the campaign %s is of version %d, and this strobe knows version "
		               "%d: use the strobe that began it",
		               c->folder, version, CAMPAIGN_VERSION);
	c->noise_option = json_string_value(json_object_get(c->about, "noise_option"));
	if (!c->noise_option)
		c->noise_option = "--noise";
	c->tasks = (size_t)tasks + campaign_count_lines(c);
	return ST_OK;
}

st_status
st_campaign_open(struct st_campaign *c, const char *folder, struct st_error *e)
{
	json_error_t error;
	*c = (struct st_campaign){.folder = realpath(folder, NULL)};
	char *path = c->folder ? st_campaign_path(c, "campaign.json") : NULL;
	if (!path || access(path, R_OK)) {
		st_cause(e, ST_EXIT_FAILED,
		         "%s is not the folder of a campaign: begin one by a command with --on and "
		         "--campaign FOLDER",
		         folder);
		free(path);
		return ST_FAILED;
	}
	c->about = json_load_file(path, 0, &error);
	if (!c->about)
		st_cause(e, ST_EXIT_FAILED, "%s is damaged: %s", path, error.text);
	free(path);
	return c->about ? campaign_take_about(c, e) : ST_FAILED;
}

void
st_campaign_close(struct st_campaign *c)
{
	json_decref(c->about);
	free(c->folder);
	*c = (struct st_campaign){0};
}

/* ---- cancelling ---- */

bool
st_campaign_is_cancelled(const struct st_campaign *c)
{
	return st_campaign_has(c, "cancelled");
}

st_status
st_campaign_cancel(const struct st_campaign *c, struct st_error *e)
{
	char *path = st_campaign_path(c, "cancelled");
	st_status status = path ? campaign_write(path, "", e) : campaign_folder_no_memory(e);
	free(path);
	if (!status)
		st_slurm_cancel(c);
	return status;
}

struct campaign_clearing {
	const struct st_campaign *c;
	const char *folder;
};

static void
campaign_clear_one(void *arg, const char *name)
{
	const struct campaign_clearing *clearing = arg;
	char *path = st_campaign_path(clearing->c, "%s/%s", clearing->folder, name);
	if (path)
		unlink(path);
	free(path);
}

/* Leases of tasks that were given up, so that their attempts are counted from the beginning. */
static void
campaign_clear_lease(void *arg, const char *name)
{
	const struct campaign_clearing *clearing = arg;
	char failed[64];
	snprintf(failed, sizeof failed, "failed/%.*s", (int)strcspn(name, "."), name);
	if (st_campaign_has(clearing->c, failed))
		campaign_clear_one(arg, name);
}

void
st_campaign_forgive(const struct st_campaign *c)
{
	struct campaign_clearing leases = {c, "leases"}, failed = {c, "failed"},
	                         bad = {c, "quarantine"};
	char *path = st_campaign_path(c, "cancelled");
	if (path)
		unlink(path);
	free(path);
	st_campaign_each(c, leases.folder, campaign_clear_lease, &leases);
	st_campaign_each(c, failed.folder, campaign_clear_one, &failed);
	st_campaign_each(c, bad.folder, campaign_clear_one, &bad);
}

/* ---- results ---- */

char *
st_campaign_result(const struct st_campaign *c, size_t task)
{
	const size_t end = sizeof campaign_end - 1;
	char *path = st_campaign_path(c, "results/%zu", task);
	char *text = campaign_read_file(path);
	size_t n = text ? strlen(text) : 0;
	if (text && n >= end && !strcmp(text + n - end, campaign_end)) {
		text[n - end] = '\0';
	} else if (text) {
		unlink(path);
		free(text);
		text = NULL;
	}
	free(path);
	return text;
}

bool
st_campaign_has_result(const struct st_campaign *c, const char *name)
{
	enum { END = sizeof campaign_end - 1 };
	char last[END];
	struct stat s;
	uint64_t task;
	if (st_parse_whole(name, &task) || task >= c->tasks)
		return false;
	char *path = st_campaign_path(c, "results/%s", name);
	const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	const bool whole = fd >= 0 && !fstat(fd, &s) && s.st_size >= END &&
	                   pread(fd, last, END, s.st_size - END) == END &&
	                   !memcmp(last, campaign_end, END);
	if (fd >= 0)
		close(fd);
	free(path);
	return whole;
}

char *
st_campaign_given_up(const struct st_campaign *c, size_t task)
{
	char name[64];
	snprintf(name, sizeof name, "failed/%zu", task);
	return st_campaign_read(c, name);
}

/* A worker on a full disk cannot write the reason. */
char *
st_campaign_why_bad(const struct st_campaign *c, const char *node)
{
	char file[512];
	snprintf(file, sizeof file, "quarantine/%s", node);
	char *reason = st_campaign_read(c, file);
	if (reason && !*reason) {
		free(reason);
		reason = st_text_of("it cannot write to %s", c->folder);
	}
	return reason;
}

static void
campaign_take_name(void *arg, const char *name)
{
	char **taken = arg;
	if (!*taken)
		*taken = strdup(name);
}

char *
st_campaign_bad_node(const struct st_campaign *c)
{
	char *host = NULL;
	st_campaign_each(c, "quarantine", campaign_take_name, &host);
	if (!host)
		return NULL;
	char *reason = st_campaign_why_bad(c, host);
	char *text = reason ? st_text_of("%s: %s", host, reason) : NULL;
	free(reason);
	free(host);
	return text;
}
