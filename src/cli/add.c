/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe add: ties profiles to a version. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/regular.h"
#include "cli/commands.h"
#include "cli/stored.h"
#include "import/import.h"
#include "profile/output.h"
#include "profile/profile.h"
#include "report/json.h"

enum {
#define O(id, letter, name, argument, shown, help) ADD_##id,
	ST_ADD_OPTIONS(O)
#undef O
};

struct arguments {
	ST_VEC(struct st_addition) files;
	const char *rev, *workload;
	bool json, quiet, help;
};

static st_status
add_take_file(struct arguments *a, const char *file, struct st_error *e)
{
	struct st_addition *slot = ST_PUSH(&a->files);
	if (!slot)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the list of profiles");
	slot->file = file;
	return 0;
}

static st_status
apply_add_option(struct arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case ST_OPTIONS_OTHER:
		return add_take_file(a, value, e);
	case ADD_rev:
		a->rev = value;
		return 0;
	case ADD_workload:
		a->workload = value;
		return 0;
	case ADD_format:
		return st_stored_format(value, &a->json, e);
	case ADD_quiet:
		a->quiet = true;
		return 0;
	case ADD_help:
		a->help = true;
		return 0;
	default:
		return -1; /* *e is filled */
	}
}

static st_status
parse_add(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("add", argv);
	const char *value;
	*a = (struct arguments){0};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;)
		if (apply_add_option(a, option, value, e))
			return -1;
	if (!a->help && !a->files.n)
		return st_fail(e, ST_EXIT_USAGE, "no profile to add: strobe add FILE...");
	for (size_t i = 0; i < a->files.n; i++)
		a->files.v[i].workload = a->workload;
	return 0;
}

static json_t *
added_json(const struct arguments *a, const struct st_version *v)
{
	char hex[ST_HASH_HEX + 1];
	json_t *all = json_array();
	for (size_t i = 0; i < a->files.n; i++) {
		const struct st_addition *f = &a->files.v[i];
		json_array_append_new(
		        all, json_pack("{so, ss, ss, sb, so}", "file", st_json_text(f->file), "id",
		                       st_hash_hex(&f->hash, hex), "commit", f->of, "added",
		                       !f->known, "bytes", st_json_count(f->bytes)));
	}
	return json_pack("{si, ss, so}", "version", ST_JSON_VERSION, "commit", v->name, "profiles",
	                 all);
}

static void
print_added(const struct arguments *a, const struct st_store *s, const struct st_version *v)
{
	for (size_t i = 0; i < a->files.n; i++) {
		const struct st_addition *f = &a->files.v[i];
		char id[ST_HASH_HEX + 1], size[ST_NUMBER_SIZE];
		char *file = st_printable(f->file);
		st_stored_id(&f->hash, id);
		if (f->known)
			printf("%s  %s is stored already, of %s %.10s\n", id, file ? file : "",
			       s->vcs->kind->title, f->of);
		else
			printf("%s  %s, of %s %.10s, %s\n", id, file ? file : "",
			       s->vcs->kind->title, v->name, st_size(size, f->bytes));
		free(file);
	}
}

/* Files of other tools are converted to profiles first, as strobe import does. */
static st_status
add_import(struct st_addition *f, struct st_error *e)
{
	char head[16] = "";
	FILE *in = st_fopen_regular(f->file);
	size_t n = in ? fread(head, 1, sizeof head, in) : 0;
	if (in)
		fclose(in);
	if (!in || (n == sizeof head && !memcmp(head, "SQLite format 3", sizeof head)))
		return 0; /* it is a profile, or its reader says why it cannot be read */
	const struct st_import_format *format;
	char *path;
	struct st_profile *p = st_import_file(f->file, NULL, &format, e);
	if (!p)
		return -1;
	int status = st_stored_temporary(&path, e);
	f->profile = path;
	if (!status)
		status = st_profile_save(p, path, e);
	st_profile_free(p);
	return status ? ST_FAILED : ST_OK;
}

static st_status
add_files(struct arguments *a, struct st_error *e)
{
	struct st_store s;
	struct st_version v = {0};
	int status = 0;
	if (st_store_open(&s, e))
		return -1;
	for (size_t i = 0; i < a->files.n && !status; i++)
		status = add_import(&a->files.v[i], e);
	if (!status)
		status = st_store_add(&s, a->files.v, a->files.n, a->rev, &v, e);
	if (!status && a->json)
		status = st_stored_print_json(added_json(a, &v), e);
	else if (!status && !a->quiet)
		print_added(a, &s, &v);
	struct st_error unprinted;
	if (!status && st_output_flush(&unprinted))
		status = st_fail(e, ST_EXIT_FAILED, "the profiles are stored, but strobe %s",
		                 unprinted.text);
	for (size_t i = 0; i < a->files.n; i++)
		st_stored_forget(a->files.v[i].profile);
	st_version_free(&v);
	st_store_close(&s);
	return status ? ST_FAILED : ST_OK;
}

int
st_add_main(char *const *argv)
{
	struct arguments a;
	struct st_error e;
	int code = ST_EXIT_OK;
	int bad = parse_add(&a, argv, &e);
	if (!bad && a.help)
		st_command_help(stdout, st_command_find("add"), false);
	else if (bad || add_files(&a, &e))
		code = st_complain(&e);
	free(a.files.v);
	return code;
}
