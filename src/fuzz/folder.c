/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/output.h"

static st_status
make_subfolder(const char *path, const char *name, struct st_error *e)
{
	char whole[PATH_MAX];
	if ((size_t)snprintf(whole, sizeof whole, "%s/%s", path, name) >= sizeof whole)
		return st_fail(e, ST_EXIT_FAILED, "the path %s is too long", path);
	if (mkdir(whole, 0777) && errno != EEXIST)
		return st_fail(e, ST_EXIT_FAILED, "cannot make the folder %s: %s", whole,
		               strerror(errno));
	return ST_OK;
}

st_status
st_fuzz_folder_log(struct st_fuzz_folder *f, struct st_error *e)
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/log.csv", f->path);
	f->log = fopen(path, "we"); /* the campaign is repeated from its journal */
	if (!f->log)
		return st_fail(e, ST_EXIT_FAILED, "cannot write %s: %s", path, strerror(errno));
	fputs("seconds,executions,kind,file,bytes,work,ratio,rate,rules\n", f->log);
	return ST_OK;
}

static bool
has_file(const char *path, const char *name)
{
	char whole[PATH_MAX];
	return (size_t)snprintf(whole, sizeof whole, "%s/%s", path, name) < sizeof whole &&
	       !access(whole, F_OK);
}

st_status
st_fuzz_folder_open(struct st_fuzz_folder *f, const char *path, bool resume, struct st_error *e)
{
	static const char *const parts[] = {"", "results", "faults", "hangs", "findings"};
	*f = (struct st_fuzz_folder){.path = path};
	const bool old = has_file(path, "journal");
	if (resume && !old)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "cannot resume a campaign in %s: it has no journal; begin one without "
		        "--resume",
		        path);
	if (old && !resume)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "%s already has a campaign: resume it with --resume, or name another "
		        "folder with -o",
		        path);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (make_subfolder(path, parts[i], e))
			return ST_FAILED;
	return ST_OK;
}

void
st_fuzz_folder_close(struct st_fuzz_folder *f)
{
	if (f->log)
		fclose(f->log);
	f->log = NULL;
}

/* ---- inputs from files ---- */

static st_status
read_one(struct st_fuzz_inputs *inputs, const char *path, size_t most, struct st_error *e)
{
	struct st_fuzz_bytes *new = ST_PUSH(inputs);
	if (!new)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the input %s", path);
	return st_fuzz_bytes_read(new, path, most, e);
}

/* Files that begin with a dot, and those that were not written whole, are left out. */
static int
is_input(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');
	return entry->d_name[0] != '.' && !(dot && !strcmp(dot, ".part"));
}

static bool
is_fuzz_folder(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Reads the files of a folder or, if `inner` is given, those of the folder `inner` in each of its
 * folders. */
static st_status
read_folder(struct st_fuzz_inputs *inputs, const char *path, const char *inner, size_t most,
            struct st_error *e)
{
	struct dirent **entries;
	st_status status = ST_OK;
	int n = scandir(path, &entries, is_input, alphasort);
	if (n < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot read the folder %s: %s", path,
		               strerror(errno));
	for (int i = 0; i < n; i++) {
		char file[PATH_MAX];
		struct stat st;
		const bool fits =
		        (size_t)snprintf(file, sizeof file, "%s/%s%s%s", path, entries[i]->d_name,
		                         inner ? "/" : "", inner ? inner : "") < sizeof file;
		if (!status && fits && inner && is_fuzz_folder(file))
			status = read_folder(inputs, file, NULL, most, e);
		else if (!status && fits && !inner && !stat(file, &st) && S_ISREG(st.st_mode))
			status = read_one(inputs, file, most, e);
		free(entries[i]);
	}
	free(entries);
	return status;
}

/* The inputs of a campaign's folder: queue of an instance of AFL++, or results of ours. False: the
 * folder is neither. */
static bool
corpus_of_campaign(const char *path, char inner[static PATH_MAX])
{
	static const char *const parts[] = {"queue", "results"};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		const bool ours = !strcmp(parts[i], "results");
		if ((size_t)snprintf(inner, PATH_MAX, "%s/%s", path, parts[i]) < PATH_MAX &&
		    is_fuzz_folder(inner) && (!ours || has_file(path, "journal")))
			return true;
	}
	return false;
}

st_status
st_fuzz_inputs_read(struct st_fuzz_inputs *inputs, const char *path, size_t most,
                    struct st_error *e)
{
	char inner[PATH_MAX];
	struct stat st;
	const size_t before = inputs->n;
	if (stat(path, &st))
		return st_fail(e, ST_EXIT_FAILED, "cannot read the input %s: %s", path,
		               strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return read_one(inputs, path, most, e);
	if (corpus_of_campaign(path, inner))
		return read_folder(inputs, inner, NULL, most, e);
	/* The folder of -o of AFL++ has one folder for each instance. */
	if (read_folder(inputs, path, "queue", most, e))
		return ST_FAILED;
	return inputs->n > before ? ST_OK : read_folder(inputs, path, NULL, most, e);
}

void
st_fuzz_inputs_free(struct st_fuzz_inputs *inputs)
{
	for (size_t i = 0; i < inputs->n; i++)
		st_fuzz_bytes_free(&inputs->v[i]);
	free(inputs->v);
	*inputs = (struct st_fuzz_inputs){0};
}

/* ---- results ---- */

static void
log_input(struct st_fuzz_folder *f, const struct st_fuzz_campaign *c,
          const struct st_fuzz_input *input, const char *kind, const char *name)
{
	fprintf(f->log, "%.3f,%zu,%s,%s,%zu,%llu,%.4f,%.2f,", c->elapsed, c->n_executions, kind,
	        name, input->bytes.n, (unsigned long long)input->work, input->grown, c->rate);
	for (size_t i = 0; i < input->chain.n; i++)
		fprintf(f->log, "%s%s", i ? " " : "", st_rules_name(c->rules, input->chain.v[i]));
	fputc('\n', f->log);
	fflush(f->log);
}

static bool
has_bytes(const char *path, size_t n)
{
	struct stat st;
	return !stat(path, &st) && S_ISREG(st.st_mode) && (size_t)st.st_size == n;
}

st_status
st_fuzz_folder_keep(void *folder, const struct st_fuzz_campaign *c,
                    const struct st_fuzz_input *input, const struct st_fuzz_fault *fault,
                    struct st_error *e)
{
	struct st_fuzz_folder *f = folder;
	const char *kind = !fault ? "result" : fault->end == ST_END_HANG ? "hang" : "fault";
	char path[PATH_MAX], name[64];
	size_t number = fault ? c->faults.n : ++f->n_results;
	snprintf(name, sizeof name, "%ss/%06zu", kind, number);
	if ((size_t)snprintf(path, sizeof path, "%s/%s", f->path, name) >= sizeof path)
		return st_fail(e, ST_EXIT_FAILED, "the path %s is too long", f->path);
	/* In a campaign that is resumed, it is there already. */
	if (!has_bytes(path, input->bytes.n) && st_fuzz_bytes_write(&input->bytes, path, e))
		return ST_FAILED;
	log_input(f, c, input, kind, name);
	return ST_OK;
}

static st_status
write_script(const struct st_finding *finding, const char *path, struct st_error *e)
{
	FILE *out = fopen(path, "we");
	if (out)
		st_fuzz_family_script(&finding->family, out);
	if (!out || fclose(out) || chmod(path, 0755))
		return st_fail(e, ST_EXIT_FAILED, "cannot write %s: %s", path, strerror(errno));
	return ST_OK;
}

static st_status
write_difference(const struct st_finding *finding, const struct st_fuzz_bytes *seed,
                 const char *path, struct st_error *e)
{
	FILE *out = fopen(path, "we");
	if (out)
		st_fuzz_difference_print(&finding->difference, seed, &finding->witness, out);
	if (!out || fclose(out))
		return st_fail(e, ST_EXIT_FAILED, "cannot write %s: %s", path, strerror(errno));
	return ST_OK;
}

st_status
st_fuzz_folder_finding(const struct st_fuzz_folder *f, const struct st_fuzz_campaign *c,
                       const struct st_finding *finding, size_t number, struct st_error *e)
{
	char name[64], path[PATH_MAX + 96];
	snprintf(name, sizeof name, "findings/%zu", number);
	if (make_subfolder(f->path, name, e))
		return ST_FAILED;
	snprintf(path, sizeof path, "%s/%s/witness", f->path, name);
	if (st_fuzz_bytes_write(&finding->witness, path, e))
		return ST_FAILED;
	snprintf(path, sizeof path, "%s/%s/minimal", f->path, name);
	if (st_fuzz_bytes_write(&finding->minimal, path, e))
		return ST_FAILED;
	snprintf(path, sizeof path, "%s/%s/difference.txt", f->path, name);
	if (write_difference(finding, &c->corpus.list.v[finding->seed].bytes, path, e))
		return ST_FAILED;
	snprintf(path, sizeof path, "%s/%s/generate.sh", f->path, name);
	if (finding->has_family && write_script(finding, path, e))
		return ST_FAILED;
	snprintf(path, sizeof path, "%s/%s", f->path, name);
	return st_fuzz_write_cases(path, c, finding, e);
}
