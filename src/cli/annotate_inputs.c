/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * strobe annotate -o --inputs: records the calls of a program with each of many inputs. For each
 * input, another process of strobe records the program, started here or by a worker; the records
 * are then put together in the order of the inputs.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "annotate/records_fields.h"
#include "base/number.h"
#include "base/text.h"
#include "base/vec.h"
#include "base/wholefile.h"
#include "cli/annotate.h"
#include "cli/commands.h"
#include "cli/on_tasks.h"
#include "cli/progress.h"
#include "profile/output.h"
#include "timing/signals.h"
#include "timing/timing.h"

struct annotate_many {
	const struct st_annotate_arguments *a;
	ST_VEC(char *) inputs;
	struct st_progress progress;
	struct st_output output;
	char *part;               /* the records of an input, without workers */
	struct st_on_tasks tasks; /* with workers */
	bool complete;            /* no result of a worker is needed any more */
	size_t failed;            /* inputs with which the program failed */
	int code;                 /* the exit code with the first of them */
	size_t silent;            /* inputs with which no call was recorded */
	char *reason;             /* of the first of them */
};

static st_status
many_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the inputs");
}

/* ---- the inputs ---- */

static st_status
many_add(struct annotate_many *m, char *path, struct st_error *e)
{
	char **slot = path ? ST_PUSH(&m->inputs) : NULL;
	if (!slot) {
		free(path);
		return many_no_memory(e);
	}
	*slot = path;
	return ST_OK;
}

static int
many_is_listed(const struct dirent *entry)
{
	return *entry->d_name != '.';
}

/* Adds the files of a folder in the order of their names, without those of its subfolders. */
static st_status
many_add_folder(struct annotate_many *m, const char *folder, struct st_error *e)
{
	struct dirent **names;
	struct stat s;
	st_status status = ST_OK;
	const size_t before = m->inputs.n;
	const int n = scandir(folder, &names, many_is_listed, alphasort);
	if (n < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot read the folder %s: %s", folder,
		               strerror(errno));
	for (int i = 0; i < n; i++) {
		char *path = st_text_of("%s/%s", folder, names[i]->d_name);
		if (path && !status && (stat(path, &s) || S_ISREG(s.st_mode)))
			status = many_add(m, path, e);
		else
			free(path);
		status = status || path ? status : many_no_memory(e);
		free(names[i]);
	}
	free(names);
	return status || m->inputs.n > before
	               ? status
	               : st_fail(e, ST_EXIT_FAILED, "the folder %s has no file to use as an input",
	                         folder);
}

static st_status
many_list(struct annotate_many *m, struct st_error *e)
{
	struct stat s;
	for (size_t i = 0; i < m->a->inputs.n; i++) {
		const char *path = m->a->inputs.text[i];
		if (stat(path, &s))
			return st_fail(e, ST_EXIT_FAILED, "cannot read the input %s: %s", path,
			               strerror(errno));
		if (S_ISDIR(s.st_mode) ? many_add_folder(m, path, e) : many_add(m, strdup(path), e))
			return ST_FAILED;
	}
	return ST_OK;
}

/* ---- one input ---- */

/* The options of the strobe that records one input. The last one is the file of records. */
enum { MANY_OUTPUT = 4, MANY_FURTHER = 6 };

static void
many_further(const struct annotate_many *m, size_t input, const char *output,
             const char *further[MANY_FURTHER])
{
	const char *const all[MANY_FURTHER] = {"--quiet",  "--input", m->inputs.v[input],
	                                       "--output", output,    NULL};
	memcpy(further, all, sizeof all);
}

/* Finds the line that says why there are no records; a file that has some is not read if it is
 * large. */
static void
many_find_silence(struct annotate_many *m, size_t input, const char *path)
{
	struct st_error ignored;
	char *text;
	size_t n;
	st_status failed = ST_OK;
	if (st_whole_read(&text, &n, path, ST_WHOLE_SETTINGS, &ignored))
		return;
	struct st_ann_lines lines = {
	        .name = path, .at = text, .end = text + n, .separator = ',', .e = &ignored};
	while (st_ann_next_line(&lines, &failed)) {
		if (lines.n < 3 || strcmp(lines.v[0].text, "#silent"))
			continue;
		if (!m->silent++)
			m->reason = st_text_of("%s: %s", m->inputs.v[input], lines.v[2].text);
	}
	free(lines.v);
	free(text);
}

static st_status
many_append(struct annotate_many *m, size_t input, const char *path, struct st_error *e)
{
	char bytes[65536];
	FILE *f = fopen(path, "re");
	many_find_silence(m, input, path);
	st_status status = f ? ST_OK : ST_FAILED;
	for (size_t n; !status && (n = fread(bytes, 1, sizeof bytes, f)) > 0;)
		if (st_output_write(&m->output, bytes, n, e)) {
			fclose(f);
			return ST_FAILED;
		}
	status = status || ferror(f)
	                 ? st_fail(e, ST_EXIT_FAILED, "cannot read the records in %s: %s", path,
	                           strerror(errno))
	                 : ST_OK;
	if (f)
		fclose(f);
	return status;
}

static void
many_take_exit(struct annotate_many *m, int code)
{
	m->code = m->failed || !code ? m->code : code;
	m->failed += code != 0;
}

static void
many_show(struct annotate_many *m, size_t input)
{
	char line[64];
	snprintf(line, sizeof line, "input %zu of %zu", input + 1, m->inputs.n);
	st_progress_line(&m->progress, line);
}

/* ---- one after the other ---- */

/* The program has the streams of this process. */
static st_status
many_run(char *const *words, int *code, struct st_error *e)
{
	int status = 0;
	const pid_t parent = getpid(), pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() == parent)
			execv(words[0], words);
		_exit(ST_EXIT_FAILED);
	}
	if (pid < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot start a process: %s", strerror(errno));
	st_timing_child_begin(pid);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	st_timing_child_end(pid);
	*code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return ST_OK;
}

static st_status
many_here_once(struct annotate_many *m, const char *strobe, size_t input, struct st_error *e)
{
	const char *further[MANY_FURTHER];
	size_t at;
	int code = 0;
	many_further(m, input, m->part, further);
	char **words =
	        st_on_experiment(strobe, "annotate", m->a->command, m->a->program, further, &at);
	if (!words)
		return many_no_memory(e);
	many_show(m, input);
	st_status status = many_run(words, &code, e);
	free(words);
	st_progress_erase(&m->progress);
	if (status || st_timing_interrupted())
		return status;
	if (access(m->part, F_OK)) /* the strobe that was to write them has printed the cause */
		return st_fail(e, ST_EXIT_FAILED, "there are no records of the input %s",
		               m->inputs.v[input]);
	many_take_exit(m, code);
	return many_append(m, input, m->part, e);
}

static st_status
many_here(struct annotate_many *m, struct st_error *e)
{
	char strobe[PATH_MAX];
	if (st_on_strobe(strobe, sizeof strobe, e))
		return ST_FAILED;
	m->part = st_text_of("%s.%ld.part", m->a->output, (long)getpid());
	st_status status = m->part ? ST_OK : many_no_memory(e);
	for (size_t i = 0; i < m->inputs.n && !status && !st_timing_interrupted(); i++) {
		status = many_here_once(m, strobe, i, e);
		unlink(m->part);
	}
	free(m->part);
	return status;
}

/* ---- with workers ---- */

/* The results also depend on the files of the inputs. */
static char *
many_identity(const struct annotate_many *m)
{
	json_t *files = json_array();
	for (size_t i = 0; i < m->inputs.n; i++)
		json_array_append_new(files, json_pack("[s, o*]", m->inputs.v[i],
		                                       st_batch_file_identity(m->inputs.v[i])));
	return st_on_identity("annotate", m->a->command, m->a->program, files);
}

static st_status
many_plan(struct annotate_many *m, size_t input, struct st_error *e)
{
	const char *further[MANY_FURTHER];
	many_further(m, input, "OUTPUT", further);
	return st_on_tasks_add(&m->tasks, further, MANY_OUTPUT, e);
}

static st_status
many_take(struct annotate_many *m, size_t input, struct st_error *e)
{
	struct st_batch_result r;
	many_show(m, input);
	st_status status = st_on_tasks_wait(&m->tasks, &r, e);
	if (!status && r.reason)
		status = st_fail(e, ST_EXIT_FAILED, "no records of the input %s: %s",
		                 m->inputs.v[input], r.reason);
	else if (!status && r.output)
		status = many_append(m, input, r.output, e);
	if (!status && r.n)
		many_take_exit(m, r.runs[0].exit);
	st_batch_result_free(&r);
	return status;
}

static st_status
many_there(struct annotate_many *m, struct st_error *e)
{
	const struct st_annotate_arguments *a = m->a;
	m->tasks = (struct st_on_tasks){
	        .tool = "annotate", .command = a->command, .program = a->program};
	st_status status = st_on_tasks_open(&m->tasks, &a->place, many_identity(m), e);
	for (size_t i = 0; i < m->inputs.n && !status; i++)
		status = many_plan(m, i, e);
	for (size_t i = 0; i < m->inputs.n && !status && !st_timing_interrupted(); i++)
		status = many_take(m, i, e);
	st_progress_erase(&m->progress);
	return status;
}

/* ---- all ---- */

static int
many_complain(const struct annotate_many *m)
{
	struct st_error e;
	st_cause(&e, m->code ? m->code : ST_EXIT_FAILED,
	         "no call was recorded with any input; with the first one, %s",
	         m->reason ? m->reason : "the reason is not known");
	return st_complain(&e);
}

static void
many_report(const struct annotate_many *m)
{
	const struct st_annotate_arguments *a = m->a;
	fprintf(stderr, "strobe: wrote %s: records of %s\n", a->output,
	        ST_COUNT(m->inputs.n - m->silent, "input", "inputs"));
	if (m->failed)
		fprintf(stderr,
		        "strobe: the program failed with %s of %s, first with exit code %d\n",
		        ST_NUMBER(m->failed), ST_COUNT(m->inputs.n, "input", "inputs"), m->code);
	if (m->reason)
		fprintf(stderr, "strobe: %s no records; with the first one, %s\n",
		        ST_COUNT(m->silent, "input has", "inputs have"), m->reason);
}

static st_status
many_begin(struct annotate_many *m, struct st_error *e)
{
	st_timing_watch_signals();
	return many_list(m, e) || st_output_begin(&m->output, m->a->output, e) ? ST_FAILED : ST_OK;
}

static int
many_end(struct annotate_many *m, struct st_error *e)
{
	const struct st_annotate_arguments *a = m->a;
	if (st_timing_interrupted()) {
		st_output_abandon(&m->output);
		return 128 + st_timing_interrupted();
	}
	if (m->silent == m->inputs.n) {
		st_output_abandon(&m->output);
		m->complete = true;
		return many_complain(m);
	}
	if (st_output_commit(&m->output, e))
		return st_complain(e);
	m->complete = true;
	if (!a->quiet)
		many_report(m);
	return m->code;
}

int
st_annotate_inputs(const struct st_annotate_arguments *a)
{
	struct annotate_many m = {.a = a};
	struct st_error e;
	int code;
	if (!strcmp(a->output, "-"))
		return st_annotate_record(a); /* which refuses it */
	st_progress_init(&m.progress, a->quiet);
	if (many_begin(&m, &e)) {
		code = st_complain_running(&e);
	} else if (a->place.on ? many_there(&m, &e) : many_here(&m, &e)) {
		st_output_abandon(&m.output);
		code = st_complain_running(&e);
	} else {
		code = many_end(&m, &e);
	}
	char *folder = st_on_tasks_close(&m.tasks, m.complete);
	st_on_say_resume(folder, a->quiet);
	free(folder);
	for (size_t i = 0; i < m.inputs.n; i++)
		free(m.inputs.v[i]);
	free(m.inputs.v);
	free(m.reason);
	return code;
}
