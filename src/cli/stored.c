/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/stored.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands.h"
#include "report/json.h"
#include "report/text.h"

const char *
st_stored_id(const struct st_hash *hash, char text[ST_HASH_HEX + 1])
{
	st_hash_hex(hash, text);
	text[ST_SHORT] = '\0';
	return text;
}

const char *
st_stored_date(int64_t ns, char text[ST_DATE_SIZE])
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm tm;
	if (!localtime_r(&seconds, &tm) || !strftime(text, ST_DATE_SIZE, "%Y-%m-%d %H:%M", &tm))
		snprintf(text, ST_DATE_SIZE, "-");
	return text;
}

json_t *
st_stored_json(const struct st_stored *s)
{
	char hex[ST_HASH_HEX + 1];
	return json_pack("{ss, ss, so, so, so, so, so, sI, sI, sI, sb, ss}", "id",
	                 st_hash_hex(&s->hash, hex), "commit", s->of, "collector",
	                 st_json_text(s->collector), "command", st_json_text(s->command),
	                 "workload", st_json_text(s->workload), "parameters",
	                 st_json_text(s->parameters), "file", st_json_text(s->file), "added",
	                 (json_int_t)s->added_ns, "started", (json_int_t)s->start_ns, "wall_ns",
	                 (json_int_t)s->wall_ns, "dirty", s->dirty, "belongs_by",
	                 st_link_names[s->link]);
}

/* Remarks: why a profile may differ from one of the version itself. */
static void
stored_remarks(const struct st_stored *s, char *text, size_t size)
{
	*text = '\0';
	if (s->dirty)
		st_append(text, size, "with uncommitted changes");
	if (s->link == ST_LINK_TREE)
		st_append(text, size, "%ssame files as %.10s", *text ? ", " : "", s->of);
	if (s->link == ST_LINK_PATCH)
		st_append(text, size, "%ssame change as %.10s", *text ? ", " : "", s->of);
}

bool
st_stored_print(const struct st_stored_list *l, FILE *out)
{
	static const struct st_table_column columns[] = {{"profile", true}, {"collector", true},
	                                                 {"added", true},   {"workload", true},
	                                                 {"command", true}, {"remarks", true}};
	enum { N = sizeof columns / sizeof *columns };
	struct st_table *t = st_table_new(columns, N);
	if (!t)
		return false;
	for (size_t i = 0; i < l->v.n; i++) {
		const struct st_stored *s = &l->v.v[i];
		char id[ST_HASH_HEX + 1], date[ST_DATE_SIZE], remarks[160];
		stored_remarks(s, remarks, sizeof remarks);
		st_table_cell(t, "%s", st_stored_id(&s->hash, id));
		st_table_cell(t, "%s", s->collector);
		st_table_cell(t, "%s", st_stored_date(s->added_ns, date));
		st_table_cell(t, "%s", *s->workload ? s->workload : "-");
		st_table_cell(t, "%s", s->command);
		st_table_cell(t, "%s", remarks);
	}
	st_table_print(t, out, st_style_of(stdout));
	st_table_free(t);
	return true;
}

st_status
st_stored_temporary(char **path, struct st_error *e)
{
	const char *folder = getenv("TMPDIR");
	*path = st_text_of("%s/strobe-XXXXXX", folder && *folder ? folder : "/tmp");
	int fd = *path ? mkostemp(*path, O_CLOEXEC) : -1;
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	st_cause(e, ST_EXIT_FAILED, "cannot write to %s: %s; set TMPDIR to another folder",
	         *path ? *path : "a temporary file", strerror(errno));
	free(*path);
	*path = NULL;
	return -1;
}

void
st_stored_forget(char *path)
{
	if (path)
		unlink(path);
	free(path);
}

st_status
st_stored_print_json(json_t *root, struct st_error *e)
{
	char *text = st_json_document(root, ST_JSON_DOCUMENT, "the answer of the store", e);
	if (!text)
		return -1;
	st_print_json_safely(stdout, text);
	free(text);
	return 0;
}

st_status
st_stored_format(const char *value, bool *json, struct st_error *e)
{
	*json = !strcmp(value, "json");
	return *json || !strcmp(value, "text") ? 0 : st_bad_format(value, "text and json", e);
}
