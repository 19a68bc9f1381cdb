/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results that are JSON already, as input of the page. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/regular.h"
#include "report/page.h"

enum { NEWEST = 1 }; /* version of docs/json.md */

bool
st_page_is_json(const char *path)
{
	FILE *f = st_fopen_regular(path);
	int c = ' ';
	while (f && isspace(c))
		c = getc(f);
	if (f)
		fclose(f);
	return c == '{';
}

static bool trees_are_sound(const json_t *trees);

static bool
node_is_sound(const json_t *node)
{
	return json_is_string(json_object_get(node, "name")) &&
	       json_is_integer(json_object_get(node, "count")) &&
	       trees_are_sound(json_object_get(node, "children"));
}

/* None, or an array of nodes; jansson bounds how deep they are. */
static bool
trees_are_sound(const json_t *trees)
{
	bool sound = !trees || json_is_array(trees);
	for (size_t i = 0; i < json_array_size(trees) && sound; i++)
		sound = node_is_sound(json_array_get(trees, i));
	return sound;
}

/* Or the functions of one, which have trees of their own. */
static bool
threads_are_sound(const json_t *threads)
{
	bool sound = !threads || json_is_array(threads);
	for (size_t i = 0; i < json_array_size(threads) && sound; i++) {
		const json_t *thread = json_array_get(threads, i);
		sound = json_is_object(thread) && trees_are_sound(json_object_get(thread, "ksf")) &&
		        trees_are_sound(json_object_get(thread, "kccf")) &&
		        threads_are_sound(json_object_get(thread, "functions"));
	}
	return sound;
}

bool
st_page_is_study(const json_t *result)
{
	return json_is_integer(json_object_get(json_object_get(result, "strobe"), "study"));
}

/* Of strobe trace, which also writes what it would trace: such a list has no calls. */
static bool
has_calls(const json_t *result)
{
	const json_t *functions = json_object_get(result, "functions");
	const char *tool =
	        json_string_value(json_object_get(json_object_get(result, "strobe"), "tool"));
	bool sound = tool && !strcmp(tool, "trace") && json_is_array(functions);
	for (size_t i = 0; i < json_array_size(functions) && sound; i++)
		sound = json_is_integer(json_object_get(json_array_get(functions, i), "calls"));
	return sound;
}

/* Of strobe fuzz. */
static bool
is_campaign(const json_t *result)
{
	const json_t *findings = json_object_get(result, "findings");
	const char *tool =
	        json_string_value(json_object_get(json_object_get(result, "strobe"), "tool"));
	bool sound = tool && !strcmp(tool, "fuzz") && json_is_array(findings) &&
	             json_is_integer(json_object_get(result, "executions"));
	for (size_t i = 0; i < json_array_size(findings) && sound; i++)
		sound = json_is_string(json_object_get(json_array_get(findings, i), "kind"));
	return sound;
}

/* Results have a run, with or without functions and tables; those of paths have trees. */
static bool
has_views(const json_t *result)
{
	const json_t *first = json_array_get(json_object_get(result, "threads"), 0);
	return has_calls(result) || is_campaign(result) ||
	       json_is_object(json_object_get(result, "run")) || json_object_get(first, "ksf") ||
	       json_object_get(first, "kccf") || json_object_get(first, "functions");
}

static st_status
page_read_check(const json_t *result, const char *path, struct st_error *e)
{
	const json_t *strobe = json_object_get(result, "strobe");
	json_int_t version = json_integer_value(json_object_get(strobe, "version"));
	if (!version)
		return st_fail(e, ST_EXIT_FAILED, "%s is JSON, but not a result of strobe", path);
	if (version > NEWEST)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s was written by a newer strobe (version %lld of the format, this "
		               "one reads up to %d): use that strobe to read it",
		               path, (long long)version, NEWEST);
	if (st_page_is_study(result))
		return 0;
	if (!json_is_string(json_object_get(strobe, "tool")) || !has_views(result))
		return st_fail(e, ST_EXIT_FAILED,
		               "%s has nothing to show: a report takes results of strobe run and "
		               "strobe show, studies of strobe tune, and campaigns of strobe fuzz",
		               path);
	if (!threads_are_sound(json_object_get(result, "threads")))
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "%s is damaged: its trees are not made of names and counts; write it "
		        "again with strobe paths",
		        path);
	return 0;
}

json_t *
st_page_read_json(const char *path, struct st_error *e)
{
	json_error_t error;
	FILE *f = st_fopen_regular(path);
	if (!f) {
		st_cause(e, ST_EXIT_FAILED, "cannot read %s: %s", path, strerror(errno));
		return NULL;
	}
	json_t *result = json_loadf(f, 0, &error);
	fclose(f);
	if (!result && json_error_code(&error) == json_error_stack_overflow) {
		st_cause(e, ST_EXIT_FAILED,
		         "%s has trees of more than 1,000 levels, deeper than JSON is read here: "
		         "report "
		         "the profile that it was made of, or roll recursion up in it",
		         path);
		return NULL;
	}
	if (!result) {
		st_cause(e, ST_EXIT_FAILED, "%s is not a result of strobe: line %d: %s", path,
		         error.line, error.text);
		return NULL;
	}
	if (!page_read_check(result, path, e))
		return result;
	json_decref(result);
	return NULL;
}
