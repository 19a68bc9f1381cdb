/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workloads, made by their generators. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/parse.h"
#include "base/random.h"
#include "base/text.h"
#include "job/child.h"
#include "job/generators.h"
#include "profile/output.h"

/* The settings of one generator. */
struct making {
	struct st_workloads *all;
	const struct st_job *job;
	const struct st_generator *g;
	const char *folder, *root;
	struct st_error *e;
};

static st_status
making_no_memory(struct making *m)
{
	return st_fail(m->e, ST_EXIT_FAILED, "no memory left for the workloads");
}

static void
workload_free(struct st_workload *w)
{
	for (size_t i = 0; i < w->features.n; i++)
		free(w->features.v[i].name);
	free(w->features.v);
	free(w->name);
	free(w->argument);
}

void
st_workloads_free(struct st_workloads *w)
{
	for (size_t i = 0; i < w->v.n; i++)
		workload_free(&w->v.v[i]);
	free(w->v.v);
	*w = (struct st_workloads){0};
}

/* A feature that is there already keeps its value. */
static st_status
workload_add_feature(struct st_workload *w, const char *name, size_t length, double value)
{
	for (size_t i = 0; i < w->features.n; i++)
		if (strlen(w->features.v[i].name) == length &&
		    !memcmp(w->features.v[i].name, name, length))
			return ST_OK;
	struct st_workload_feature *f = ST_PUSH(&w->features);
	if (!f)
		return ST_FAILED;
	*f = (struct st_workload_feature){strndup(name, length), value};
	return f->name ? ST_OK : ST_FAILED;
}

double
st_workload_size(const struct st_workload *w)
{
	for (size_t i = 0; i < w->features.n; i++)
		if (!strcmp(w->features.v[i].name, "size"))
			return w->features.v[i].value;
	return NAN;
}

/* Takes the texts, which are malloc'ed and may be NULL. */
static struct st_workload *
making_add(struct making *m, char *name, char *argument, double size)
{
	struct st_workload *w = ST_PUSH(&m->all->v);
	if (!w) {
		free(name);
		free(argument);
		ST_IGNORE(making_no_memory(m)); /* which fills *e */
		return NULL;
	}
	*w = (struct st_workload){.name = name, .argument = argument, .to_stdin = m->g->to_stdin};
	if (name && argument && (isnan(size) || !workload_add_feature(w, "size", 4, size)))
		return w;
	ST_IGNORE(making_no_memory(m)); /* the same */
	return NULL;
}

/* ---- the generators ---- */

static st_status
make_integer(struct making *m, long n)
{
	return making_add(m, st_text_of("%s_%ld", m->g->name, n), st_text_of("%ld", n), (double)n)
	               ? ST_OK
	               : ST_FAILED;
}

/* Characters that no shell and no program gives a meaning to. */
static char
random_character(uint64_t *state)
{
	static const char some[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	return some[st_random_below(state, sizeof some - 1)];
}

static st_status
make_string(struct making *m, long length)
{
	uint64_t state = (uint64_t)length;
	char *text = malloc((size_t)length + 1);
	for (long i = 0; text && i < length; i++)
		text[i] = random_character(&state);
	if (text)
		text[length] = '\0';
	return making_add(m, st_text_of("%s_%ld", m->g->name, length), text, (double)length)
	               ? ST_OK
	               : ST_FAILED;
}

/* Words of one to nine letters, up to the length. */
static void
put_text_row(FILE *out, size_t length, uint64_t *state)
{
	for (size_t at = 0, word = 1 + st_random_below(state, 9); at < length; at++) {
		if (word-- || at + 1 == length) {
			fputc(random_character(state), out);
		} else {
			fputc(' ', out);
			word = 1 + st_random_below(state, 9);
		}
	}
	fputc('\n', out);
}

static st_status
put_text_rows(const struct making *m, const char *path, long lines, double *bytes)
{
	const struct st_generator *g = m->g;
	const size_t lengths = (size_t)(g->row_most - g->row_least) + 1;
	uint64_t state = (uint64_t)lines;
	struct st_output o;
	FILE *out;
	if (st_output_begin(&o, path, m->e))
		return ST_FAILED;
	if (st_output_stream(&o, &out, m->e)) {
		st_output_abandon(&o);
		return ST_FAILED;
	}
	*bytes = 0;
	for (long i = 0; i < lines; i++) {
		size_t length = (size_t)g->row_most;
		if (g->random_rows)
			length = (size_t)g->row_least + st_random_below(&state, lengths);
		put_text_row(out, length, &state);
		*bytes += (double)length + 1;
	}
	if (st_output_close(&o, out, m->e)) {
		st_output_abandon(&o);
		return ST_FAILED;
	}
	return st_output_commit(&o, m->e);
}

static st_status
make_textfile(struct making *m, long lines)
{
	double bytes = 0;
	char *path = st_text_of("%s/%s_%ld.txt", m->folder, m->g->name, lines);
	if (path && put_text_rows(m, path, lines, &bytes)) {
		free(path);
		return ST_FAILED;
	}
	struct st_workload *w =
	        making_add(m, st_text_of("%s_%ld", m->g->name, lines), path, (double)lines);
	if (w && workload_add_feature(w, "bytes", 5, bytes))
		return making_no_memory(m);
	return w ? ST_OK : ST_FAILED;
}

/* As the file says; else the number that the value is; else the bytes of the file that it names;
 * else its length. */
static double
singleton_size(const struct making *m)
{
	const struct st_generator *g = m->g;
	double size;
	const char *end;
	struct stat st;
	if (!st_parse_real(g->size ? g->size : g->value, &size, &end) && !*end)
		return size;
	char *path = *g->value == '/' ? strdup(g->value) : st_text_of("%s/%s", m->root, g->value);
	bool file = path && !stat(path, &st) && S_ISREG(st.st_mode);
	free(path);
	return file ? (double)st.st_size : (double)strlen(g->value);
}

static st_status
make_singleton(struct making *m)
{
	return making_add(m, strdup(m->g->value), strdup(m->g->value), singleton_size(m))
	               ? ST_OK
	               : ST_FAILED;
}

/* ---- programs that make files ---- */

/* The end of the value of a key: before the text that follows it in the format; if that text is the
 * last one, before its last occurrence. NULL: there is none. */
static const char *
name_value_end(const char *name, const char *literal)
{
	size_t n = strcspn(literal, "{"), length = strlen(name);
	if (!n)
		return name + length;
	if (literal[n])
		return memmem(name, length, literal, n);
	return length >= n && !memcmp(name + length - n, literal, n) ? name + length - n : NULL;
}

static bool
take_name_value(struct st_workload *w, const char *key, size_t key_length, const char *from,
                const char *to)
{
	char *value = strndup(from, (size_t)(to - from));
	const char *end;
	double number;
	bool good = value && *value;
	if (good && !st_parse_real(value, &number, &end) && !*end)
		good = !workload_add_feature(w, key, key_length, number);
	free(value);
	return good;
}

bool
st_workload_take_name(struct st_workload *w, const char *format, const char *name)
{
	while (*format) {
		const char *close = *format == '{' ? strchr(format, '}') : NULL;
		if (!close) {
			if (*format++ != *name++)
				return false;
			continue;
		}
		const char *end = name_value_end(name, close + 1);
		if (!end ||
		    !take_name_value(w, format + 1, (size_t)(close - format) - 1, name, end))
			return false;
		name = end;
		format = close + 1;
	}
	return !*name;
}

static st_status
external_add(struct making *m, const char *folder, const char *file)
{
	struct stat st = {0};
	char *path = st_text_of("%s/%s", folder, file);
	struct st_workload *w = making_add(m, st_text_of("%s/%s", m->g->name, file), path, NAN);
	if (!w)
		return ST_FAILED;
	if (!st_workload_take_name(w, m->g->format, file))
		return st_yaml_bad(&m->job->yaml, m->g->at, m->e,
		                   "the program made the file '%s', which is not named like '%s'",
		                   file, m->g->format);
	if (!isnan(st_workload_size(w)))
		return ST_OK;
	if (stat(path, &st))
		return st_fail(m->e, ST_EXIT_FAILED, "cannot read %s: %s", path, strerror(errno));
	return workload_add_feature(w, "size", 4, (double)st.st_size) ? making_no_memory(m) : ST_OK;
}

static int
compare_workloads(const void *a, const void *b)
{
	const struct st_workload *x = a, *y = b;
	double p = st_workload_size(x), q = st_workload_size(y);
	return p < q ? -1 : p > q ? 1 : strcmp(x->name, y->name);
}

static st_status
external_collect(struct making *m, const char *folder)
{
	size_t first = m->all->v.n;
	DIR *d = opendir(folder);
	st_status status =
	        d ? ST_OK
	          : st_fail(m->e, ST_EXIT_FAILED, "cannot read %s: %s", folder, strerror(errno));
	for (struct dirent *entry; d && !status && (entry = readdir(d));)
		if (*entry->d_name != '.')
			status = external_add(m, folder, entry->d_name);
	if (d)
		closedir(d);
	if (!status && m->all->v.n == first)
		return st_yaml_bad(&m->job->yaml, m->g->at, m->e,
		                   "the program %s made no file in the folder that it was given",
		                   m->g->program);
	if (!status)
		qsort(m->all->v.v + first, m->all->v.n - first, sizeof *m->all->v.v,
		      compare_workloads);
	return status;
}

/* The folder is its first argument. */
static st_status
make_external(struct making *m)
{
	char *folder = st_text_of("%s/%s", m->folder, m->g->name);
	char *command = st_text_of("%s \"$STROBE_FOLDER\"", m->g->program);
	char *setting = st_text_of("STROBE_FOLDER=%s", folder ? folder : "");
	char *const settings[] = {setting, NULL};
	const struct st_child c = {.folder = m->root, .settings = settings};
	struct st_child_end end = {0};
	st_status status = ST_OK;
	if (!folder || !command || !setting)
		status = making_no_memory(m);
	else if (mkdir(folder, 0777) && errno != EEXIST)
		status = st_fail(m->e, ST_EXIT_FAILED, "cannot make the folder %s: %s", folder,
		                 strerror(errno));
	else
		status = st_child_shell(&c, command, &end, m->e);
	if (!status && end.exit)
		status = st_yaml_bad(&m->job->yaml, m->g->at, m->e,
		                     "the program that makes workloads exited with %d: %s",
		                     end.exit, m->g->program);
	if (!status)
		status = external_collect(m, folder);
	free(folder);
	free(command);
	free(setting);
	return status;
}

/* ---- all ---- */

static st_status
make_steps(struct making *m, st_status (*make)(struct making *m, long n))
{
	for (long n = m->g->least; n <= m->g->most; n += m->g->step)
		if (make(m, n))
			return ST_FAILED;
	return ST_OK;
}

static st_status
make_by_kind(struct making *m)
{
	switch (m->g->kind) {
	case ST_GENERATOR_INTEGER:
		return make_steps(m, make_integer);
	case ST_GENERATOR_STRING:
		return make_steps(m, make_string);
	case ST_GENERATOR_TEXTFILE:
		return make_steps(m, make_textfile);
	case ST_GENERATOR_SINGLETON:
		return make_singleton(m);
	case ST_GENERATOR_EXTERNAL:
		return make_external(m);
	}
	return ST_OK;
}

/* Equal names would be equal files, and one configuration in the store. */
static st_status
check_names(const struct making *m)
{
	const struct st_workload *v = m->all->v.v;
	for (size_t i = 0; i < m->job->generators.n; i++)
		for (size_t k = 0; k < i; k++) {
			const struct st_generator *a = &m->job->generators.v[i],
			                          *b = &m->job->generators.v[k];
			if (a->kind != ST_GENERATOR_SINGLETON &&
			    b->kind != ST_GENERATOR_SINGLETON && !strcmp(a->name, b->name))
				return st_yaml_bad(&m->job->yaml, a->at, m->e,
				                   "two generators are named '%s': give one of "
				                   "them another 'name'",
				                   a->name);
		}
	for (size_t i = 1; i < m->all->v.n; i++)
		if (!strcmp(v[i].name, v[i - 1].name))
			return st_fail(m->e, ST_EXIT_USAGE, "the job has the workload '%s' twice",
			               v[i].name);
	return ST_OK;
}

st_status
st_workloads_make(struct st_workloads *w, const struct st_job *j, const char *folder,
                  const char *root, struct st_error *e)
{
	struct making m = {.all = w, .job = j, .folder = folder, .root = root, .e = e};
	*w = (struct st_workloads){0};
	if (check_names(&m))
		return ST_FAILED;
	for (size_t i = 0; i < j->generators.n; i++) {
		m.g = &j->generators.v[i];
		if (make_by_kind(&m))
			return ST_FAILED;
	}
	return check_names(&m);
}
