/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/nearest.h"
#include "base/option.h"
#include "base/text.h"
#include "base/wholefile.h"
#include "profile/output.h"
#include "store/backend.h"
#include "store/vcs.h"

const char *const st_config_places[] = {"run", "local", "shared"};

static const char *const config_keys[] = {
#define K(key, argument, help) key,
        ST_CONFIG_KEYS(K)
#undef K
};

enum { N_KEYS = sizeof config_keys / sizeof *config_keys };

static const char *
config_key_at(const void *keys, size_t i)
{
	return ((const char *const *)keys)[i];
}

st_status
st_config_check_key(const char *key, struct st_error *e)
{
	for (size_t i = 0; i < N_KEYS; i++)
		if (!strcmp(config_keys[i], key))
			return 0;
	const char *near = st_nearest(key, N_KEYS, config_key_at, config_keys);
	if (near)
		return st_fail(e, ST_EXIT_USAGE, "unknown setting '%s'; did you mean '%s'?", key,
		               near);
	return st_fail(e, ST_EXIT_USAGE, "unknown setting '%s'; strobe config --keys lists them",
	               key);
}

st_status
st_config_check_value(const char *key, const char *value, struct st_error *e)
{
	static const char *const machines[] = {"same", "any"};
	long number;
	unsigned which;
	if (st_config_check_key(key, e))
		return -1;
	if (strpbrk(value, "\r\n"))
		return st_fail(e, ST_EXIT_USAGE, "the value of %s has a line break: leave it out",
		               key);
	if (!*value)
		return st_fail(e, ST_EXIT_USAGE,
		               "%s needs a value; strobe config --unset %s removes it", key, key);
	if (!strcmp(key, "status.depth"))
		return st_option_number(key, value, 1, ST_CONFIG_MOST_DEPTH, &number, e);
	if (!strcmp(key, "status.threshold"))
		return st_option_number(key, value, 0, ST_CONFIG_MOST_PERCENT, &number, e);
	if (!strcmp(key, "store") && st_is_postgresql(value))
		return st_postgresql_check(value, e);
	if (!strcmp(key, "compare.machines"))
		return st_option_word(key, value, machines, 2, &which, e);
	return 0;
}

static char *
config_trimmed(const char *from, const char *to)
{
	while (from < to && isspace((unsigned char)*from))
		from++;
	while (to > from && isspace((unsigned char)to[-1]))
		to--;
	return strndup(from, (size_t)(to - from));
}

static st_status
config_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left to read the settings");
}

static st_status
config_take_line(struct st_config *c, const char *line, const char *end, const char *from,
                 size_t number, enum st_config_place place, struct st_error *e)
{
	while (line < end && isspace((unsigned char)*line))
		line++;
	if (line == end || *line == '#')
		return 0;
	const char *equals = memchr(line, '=', (size_t)(end - line));
	if (!equals)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s, line %zu: there is no '=': write KEY = VALUE", from, number);
	struct st_setting *s = ST_PUSH(&c->v);
	if (!s)
		return config_no_memory(e);
	*s = (struct st_setting){config_trimmed(line, equals), config_trimmed(equals + 1, end),
	                         place};
	if (!s->key || !s->value)
		return config_no_memory(e);
	struct st_error unknown;
	if (st_config_check_value(s->key, s->value, &unknown))
		return st_fail(e, ST_EXIT_FAILED, "%s, line %zu: %s", from, number, unknown.text);
	return 0;
}

/* Of one place the last line of a key is first, so that a later line replaces an earlier one. */
static void
config_turn(struct st_config *c, size_t first)
{
	for (size_t i = first, j = c->v.n; i + 1 < j; i++) {
		struct st_setting held = c->v.v[i];
		c->v.v[i] = c->v.v[--j];
		c->v.v[j] = held;
	}
}

static st_status
config_take_text(struct st_config *c, const char *text, const char *from,
                 enum st_config_place place, struct st_error *e)
{
	size_t first = c->v.n, number = 1;
	for (const char *line = text; *line; number++) {
		const char *end = strchrnul(line, '\n');
		if (config_take_line(c, line, end, from, number, place, e))
			return -1;
		line = *end ? end + 1 : end;
	}
	config_turn(c, first);
	return 0;
}

/* A file that is not there is an empty one. malloc'ed, NULL with *e. */
static char *
config_slurp(const char *path, struct st_error *e)
{
	struct st_error why;
	char *text;
	size_t n;
	if (!st_whole_read(&text, &n, path, ST_WHOLE_SETTINGS, &why))
		return text;
	if (errno == ENOENT || errno == ENOTDIR)
		return strdup("");
	st_cause(e, ST_EXIT_FAILED, "cannot read %s: %s", path, why.text);
	return NULL;
}

static char *
config_file(enum st_config_place place, const char *data)
{
	const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	if (place == ST_CONFIG_LOCAL)
		return data ? st_text_of("%s/config", data) : NULL;
	if (base && *base)
		return st_text_of("%s/strobe/config", base);
	return home ? st_text_of("%s/.config/strobe/config", home) : NULL;
}

static st_status
config_read_file(struct st_config *c, enum st_config_place place, const char *data,
                 struct st_error *e)
{
	char *path = config_file(place, data);
	if (!path)
		return 0; /* without a home folder there are no settings of the user */
	char *text = config_slurp(path, e);
	int status = text ? config_take_text(c, text, path, place, e) : -1;
	free(text);
	free(path);
	return status;
}

st_status
st_config_read(struct st_config *c, const char *data, struct st_error *e)
{
	const char *run = getenv("STROBE_CONFIG");
	*c = (struct st_config){0};
	if ((run && config_take_text(c, run, "STROBE_CONFIG", ST_CONFIG_RUN, e)) ||
	    config_read_file(c, ST_CONFIG_LOCAL, data, e) ||
	    config_read_file(c, ST_CONFIG_SHARED, data, e)) {
		st_config_free(c);
		return -1;
	}
	return 0;
}

st_status
st_config_local(char **data, struct st_error *e)
{
	struct st_vcs *vcs = NULL;
	*data = NULL;
	if (st_vcs_git(&vcs, e) || (!vcs && st_vcs_counter(&vcs, NULL, e)))
		return -1;
	if (!vcs)
		return 0;
	*data = strdup(vcs->data);
	vcs->kind->close(vcs);
	return *data ? 0 : config_no_memory(e);
}

void
st_config_free(struct st_config *c)
{
	for (size_t i = 0; i < c->v.n; i++) {
		free(c->v.v[i].key);
		free(c->v.v[i].value);
	}
	free(c->v.v);
	*c = (struct st_config){0};
}

const char *
st_config_get(const struct st_config *c, const char *key)
{
	for (size_t i = 0; i < c->v.n; i++)
		if (!strcmp(c->v.v[i].key, key))
			return c->v.v[i].value;
	return NULL;
}

st_status
st_config_number(const struct st_config *c, const char *key, long low, long high, long otherwise,
                 long *out, struct st_error *e)
{
	const char *value = st_config_get(c, key);
	*out = otherwise;
	return value ? st_option_number(key, value, low, high, out, e) : 0;
}

char *
st_config_path(const char *value, const char *data)
{
	const char *home = getenv("HOME");
	if (value[0] == '~' && value[1] == '/' && home)
		return st_text_of("%s%s", home, value + 1);
	return *value == '/' ? strdup(value) : st_text_of("%s/%s", data, value);
}

static bool
config_is_line_of(const char *line, const char *end, const char *key)
{
	const char *equals = memchr(line, '=', (size_t)(end - line));
	char *name = equals ? config_trimmed(line, equals) : NULL;
	bool is = name && !strcmp(name, key);
	free(name);
	return is;
}

/* The text without the lines of a key, and with one at its end. */
static char *
config_changed(const char *text, const char *key, const char *value)
{
	struct st_text changed;
	FILE *out = st_text_begin(&changed);
	for (const char *line = text; out && *line;) {
		const char *end = strchrnul(line, '\n');
		if (!config_is_line_of(line, end, key))
			fprintf(out, "%.*s\n", (int)(end - line), line);
		line = *end ? end + 1 : end;
	}
	if (out && value)
		fprintf(out, "%s = %s\n", key, value);
	return st_text_end(&changed);
}

/* The folders above a file, those that are missing. */
static void
config_make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0777) && errno != EEXIST) {
			*slash = '/';
			return; /* writing the file says why not */
		}
		*slash = '/';
	}
}

st_status
st_config_set(enum st_config_place place, const char *data, const char *key, const char *value,
              struct st_error *e)
{
	if (value ? st_config_check_value(key, value, e) : st_config_check_key(key, e))
		return -1;
	char *path = config_file(place, data);
	if (!path && place == ST_CONFIG_LOCAL)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "there is no git repository and no store here: set %s with --shared, "
		        "for all projects",
		        key);
	if (!path)
		return st_fail(e, ST_EXIT_FAILED,
		               "neither HOME nor XDG_CONFIG_HOME is set: there is no place for "
		               "shared settings");
	char *text = config_slurp(path, e);
	char *changed = text ? config_changed(text, key, value) : NULL;
	config_make_folders(path);
	int status = changed ? st_output_text(path, changed, e) : -1;
	if (text && !changed)
		status = config_no_memory(e);
	free(changed);
	free(text);
	free(path);
	return status ? ST_FAILED : ST_OK;
}
