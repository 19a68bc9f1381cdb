/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file of a job. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/parse.h"
#include "base/program.h"
#include "base/wholefile.h"
#include "base/words.h"
#include "job/generators.h"
#include "job/job.h"
#include "timing/timing.h"

enum { MOST_REPETITIONS = 1000000 };

static const char *const built_in[] = {"time", "run", "trace", "paths", "mem"};
enum { N_BUILT_IN = sizeof built_in / sizeof *built_in };

char **
st_job_words(const char *text)
{
	char *found[ST_JOB_MOST_WORDS], *copy = strdup(text);
	int n = copy ? st_words(copy, found, ST_JOB_MOST_WORDS) : -1;
	size_t length = strlen(text) + 1, table = (size_t)(n + 1) * sizeof(char *);
	char **words = n < 0 ? NULL : malloc(table + length);
	if (words) {
		char *at = (char *)words + table;
		memcpy(at, copy, length);
		for (int i = 0; i < n; i++)
			words[i] = at + (found[i] - copy);
		words[n] = NULL;
	}
	free(copy);
	return words;
}

/* ---- lists of texts ---- */

static st_status
job_no_memory(const struct st_job *j, struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left to read %s", j->yaml.path);
}

/* Whether it can be divided into words, and has one at least if it is a command. */
static st_status
job_check_words(const struct st_job *j, const yaml_node_t *node, const char *text, bool command,
                struct st_error *e)
{
	char **words = st_job_words(text);
	bool empty = words && !words[0];
	free(words);
	if (!words)
		return st_yaml_bad(&j->yaml, node, e,
		                   "a quote is not closed, or it has more than %d words: %s",
		                   ST_JOB_MOST_WORDS, text);
	return empty && command ? st_yaml_bad(&j->yaml, node, e, "a command has no words") : ST_OK;
}

#define JOB_TAKE_TEXTS(job, node, what, list, check, e)                                            \
	({                                                                                         \
		st_status status_ = ST_OK;                                                         \
		for (size_t i_ = 0; i_ < st_yaml_count(node) && !status_; i_++) {                  \
			yaml_node_t *item_ = st_yaml_item(&(job)->yaml, node, i_);                 \
			const char **slot_ = ST_PUSH(list);                                        \
			if (!slot_)                                                                \
				status_ = job_no_memory(job, e);                                   \
			else                                                                       \
				status_ = st_yaml_text(&(job)->yaml, item_, what, slot_, e);       \
			if (!status_)                                                              \
				status_ = check(job, item_, *slot_, e);                            \
		}                                                                                  \
		status_;                                                                           \
	})

static st_status
job_check_command(const struct st_job *j, const yaml_node_t *node, const char *text,
                  struct st_error *e)
{
	return job_check_words(j, node, text, true, e);
}

static st_status
job_check_arguments(const struct st_job *j, const yaml_node_t *node, const char *text,
                    struct st_error *e)
{
	return job_check_words(j, node, text, false, e);
}

/* The shell reads these. */
static st_status
job_check_shell(const struct st_job *j, const yaml_node_t *node, const char *text,
                struct st_error *e)
{
	return *text ? ST_OK : st_yaml_bad(&j->yaml, node, e, "a command is empty");
}

/* ---- collectors ---- */

static bool
job_finds_program(const char *name)
{
	char path[4096];
	/* A path is checked when it is run: another version may have it. */
	return strchr(name, '/') || !st_path_find(name, path, sizeof path);
}

static const char *
job_built_in_at(const void *names, size_t i)
{
	return ((const char *const *)names)[i];
}

static st_status
job_check_collector(const struct st_job *j, const yaml_node_t *node, const char *name,
                    bool *is_built_in, struct st_error *e)
{
	*is_built_in = false;
	for (size_t i = 0; i < N_BUILT_IN; i++)
		*is_built_in |= !strcmp(name, built_in[i]);
	if (*is_built_in || (*name && job_finds_program(name)))
		return ST_OK;
	const char *near = st_nearest(name, N_BUILT_IN, job_built_in_at, built_in);
	if (near)
		return st_yaml_bad(&j->yaml, node, e, "unknown collector '%s'; did you mean '%s'?",
		                   name, near);
	return st_yaml_bad(
	        &j->yaml, node, e,
	        "unknown collector '%s': it is neither time, run, trace, paths or mem nor "
	        "a program in PATH",
	        name);
}

static st_status
job_add_collector(struct st_job *j, const char *name, const char *options, bool is_built_in,
                  struct st_error *e)
{
	struct st_job_collector *c = ST_PUSH(&j->collectors);
	if (!c)
		return job_no_memory(j, e);
	*c = (struct st_job_collector){name, options, is_built_in};
	return ST_OK;
}

/* "time", or "time: [SET, SET...]". */
static st_status
job_take_collector(struct st_job *j, yaml_node_t *item, struct st_error *e)
{
	yaml_node_t *key = item, *sets = NULL;
	const char *name, *options;
	bool is_built_in;
	if (item->type != YAML_SCALAR_NODE &&
	    st_yaml_pair(&j->yaml, item, "a collector", &key, &sets, e))
		return ST_FAILED;
	if (st_yaml_text(&j->yaml, key, "the name of a collector", &name, e) ||
	    job_check_collector(j, key, name, &is_built_in, e))
		return ST_FAILED;
	if (!st_yaml_count(sets))
		return job_add_collector(j, name, "", is_built_in, e);
	for (size_t i = 0; i < st_yaml_count(sets); i++) {
		yaml_node_t *set = st_yaml_item(&j->yaml, sets, i);
		if (st_yaml_text(&j->yaml, set, "a set of parameters", &options, e) ||
		    job_check_arguments(j, set, options, e) ||
		    job_add_collector(j, name, options, is_built_in, e))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
job_take_collectors(struct st_job *j, yaml_node_t *list, struct st_error *e)
{
	for (size_t i = 0; i < st_yaml_count(list); i++)
		if (job_take_collector(j, st_yaml_item(&j->yaml, list, i), e))
			return ST_FAILED;
	return j->collectors.n ? ST_OK : job_add_collector(j, "time", "", true, e);
}

static st_status
job_take_workloads(struct st_job *j, yaml_node_t *list, struct st_error *e)
{
	for (size_t i = 0; i < st_yaml_count(list); i++) {
		struct st_generator *g = ST_PUSH(&j->generators);
		if (!g)
			return job_no_memory(j, e);
		if (st_generator_read(g, &j->yaml, st_yaml_item(&j->yaml, list, i), e))
			return ST_FAILED;
	}
	return ST_OK;
}

/* ---- the whole ---- */

#define JOB_KEYS(K)                                                                                \
	K(build, "build")                                                                          \
	K(before, "before")                                                                        \
	K(commands, "commands")                                                                    \
	K(arguments, "arguments")                                                                  \
	K(workloads, "workloads")                                                                  \
	K(collectors, "collectors")                                                                \
	K(postprocess, "postprocess")                                                              \
	K(repeat, "repeat")                                                                        \
	K(timeout, "timeout")                                                                      \
	K(cpu, "cpu")                                                                              \
	K(aslr, "aslr")

enum {
#define K(id, name) KEY_##id,
	JOB_KEYS(K)
#undef K
	        N_KEYS
};

static st_status
job_take_timeout(struct st_job *j, const yaml_node_t *node, struct st_error *e)
{
	const char *text;
	if (!node)
		return ST_OK;
	if (st_yaml_text(&j->yaml, node, "timeout", &text, e))
		return ST_FAILED;
	if (st_parse_time(text, &j->timeout) || j->timeout <= 0)
		return st_yaml_bad(&j->yaml, node, e,
		                   "timeout is a time such as 30s that is greater than 0, not '%s'",
		                   text);
	return ST_OK;
}

static st_status
job_take_environment(struct st_job *j, yaml_node_t *const *v, struct st_error *e)
{
	struct st_error cause;
	if (v[KEY_aslr] && st_yaml_flag(&j->yaml, v[KEY_aslr], "aslr", &j->keep_aslr, e))
		return ST_FAILED;
	if (!v[KEY_cpu])
		return ST_OK;
	if (st_yaml_text(&j->yaml, v[KEY_cpu], "cpu", &j->cpu, e))
		return ST_FAILED;
	return st_timing_cpus(j->cpu, &j->cpus, &cause)
	               ? st_yaml_bad(&j->yaml, v[KEY_cpu], e, "%s", cause.text)
	               : ST_OK;
}

static st_status
job_take(struct st_job *j, struct st_error *e)
{
	static const char *const keys[] = {
#define K(id, name) name,
	        JOB_KEYS(K)
#undef K
	};
	yaml_node_t *v[N_KEYS], *root = st_yaml_root(&j->yaml);
	if (st_yaml_fields(&j->yaml, root, "a job", keys, N_KEYS, v, e))
		return ST_FAILED;
	if (!st_yaml_count(v[KEY_commands]))
		return st_yaml_bad(&j->yaml, root, e, "a job needs a list of commands");
	if (JOB_TAKE_TEXTS(j, v[KEY_commands], "a command", &j->commands, job_check_command, e) ||
	    JOB_TAKE_TEXTS(j, v[KEY_arguments], "a set of arguments", &j->arguments,
	                   job_check_arguments, e) ||
	    JOB_TAKE_TEXTS(j, v[KEY_build], "a build command", &j->build, job_check_shell, e) ||
	    JOB_TAKE_TEXTS(j, v[KEY_before], "a command of before", &j->before, job_check_shell,
	                   e) ||
	    JOB_TAKE_TEXTS(j, v[KEY_postprocess], "a command of postprocess", &j->postprocess,
	                   job_check_shell, e))
		return ST_FAILED;
	if (v[KEY_repeat] &&
	    st_yaml_number(&j->yaml, v[KEY_repeat], "repeat", 1, MOST_REPETITIONS, &j->repeat, e))
		return ST_FAILED;
	return job_take_workloads(j, v[KEY_workloads], e) ||
	                       job_take_collectors(j, v[KEY_collectors], e) ||
	                       job_take_timeout(j, v[KEY_timeout], e) ||
	                       job_take_environment(j, v, e)
	               ? ST_FAILED
	               : ST_OK;
}

st_status
st_job_of_bytes(struct st_job *j, const char *path, const char *bytes, size_t n, struct st_error *e)
{
	*j = (struct st_job){.yaml.path = path, .repeat = 1, .n_bytes = n};
	j->bytes = malloc(n + 1);
	if (!j->bytes)
		return job_no_memory(j, e);
	memcpy(j->bytes, bytes, n);
	j->bytes[n] = '\0';
	return st_yaml_read(&j->yaml, path, j->bytes, n, e) ? ST_FAILED : job_take(j, e);
}

st_status
st_job_read(struct st_job *j, const char *path, struct st_error *e)
{
	*j = (struct st_job){0};
	struct st_error why;
	char *bytes;
	size_t n;
	if (st_whole_read(&bytes, &n, path, ST_WHOLE_SETTINGS, &why))
		return st_fail(e, ST_EXIT_FAILED, "cannot read %s: %s%s", path, why.text,
		               errno == ENOENT ? "; strobe job init writes an example" : "");
	const st_status status = st_job_of_bytes(j, path, bytes, n, e);
	free(bytes);
	return status;
}

void
st_job_free(struct st_job *j)
{
	st_yaml_free(&j->yaml);
	free(j->bytes);
	free(j->build.v);
	free(j->before.v);
	free(j->commands.v);
	free(j->arguments.v);
	free(j->postprocess.v);
	free(j->generators.v);
	free(j->collectors.v);
	*j = (struct st_job){0};
}
