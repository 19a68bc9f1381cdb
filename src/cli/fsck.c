/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe fsck: checks whether the files of the store have been damaged. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/number.h"
#include "cli/commands.h"
#include "cli/stored.h"
#include "report/json.h"
#include "report/text.h"
#include "store/upkeep.h"

enum {
#define O(id, letter, name, argument, shown, help) FSCK_##id,
	ST_FSCK_OPTIONS(O)
#undef O
};

/* The exit code of a store with problems. */
enum { EXIT_DAMAGED = 1 };

struct arguments {
	bool repair, json, help;
};

static st_status
parse_fsck(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("fsck", argv);
	const char *value;
	*a = (struct arguments){0};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (option == FSCK_help)
			a->help = true;
		else if (option == FSCK_repair)
			a->repair = true;
		else if (option == FSCK_format && !st_stored_format(value, &a->json, e))
			continue;
		else if (option == ST_OPTIONS_OTHER)
			return st_fail(e, ST_EXIT_USAGE,
			               "strobe fsck takes no argument, and '%s' is one", value);
		else
			return -1;
	}
	return 0;
}

static json_t *
fsck_json(const struct st_fsck *f)
{
	json_t *problems = json_array();
	for (size_t i = 0; i < f->problems.n; i++)
		json_array_append_new(problems, st_json_text(f->problems.v[i]));
	return json_pack("{si, so, so, so, so}", "version", ST_JSON_VERSION, "objects",
	                 st_json_count(f->objects), "profiles", st_json_count(f->profiles),
	                 "unused", st_json_count(f->unused), "problems", problems);
}

static void
fsck_print(const struct st_fsck *f, FILE *out)
{
	for (size_t i = 0; i < f->problems.n; i++)
		fprintf(out, "%s\n", f->problems.v[i]);
	fprintf(out, "%s and %s were read: %s\n", ST_COUNT(f->profiles, "profile", "profiles"),
	        ST_COUNT(f->objects, "object", "objects"),
	        f->problems.n ? ST_COUNT(f->problems.n, "problem", "problems") : "no problem");
	if (f->unused)
		fprintf(out, "%s by no profile: strobe gc removes what is not needed\n",
		        ST_COUNT(f->unused, "object is needed", "objects are needed"));
	if (f->problems.n)
		fputs("strobe fsck --repair makes a store of all profiles that can be read; the "
		      "file of another one can be added again afterwards\n",
		      out);
}

static json_t *
repair_json(const struct st_repair *r)
{
	return json_pack("{si, so, so, so}", "version", ST_JSON_VERSION, "kept",
	                 st_json_count(r->kept), "removed", st_json_count(r->removed),
	                 "damaged_file", r->aside ? st_json_text(r->aside) : json_null());
}

static void
repair_print(const struct st_repair *r, FILE *out)
{
	if (!r->aside) {
		fprintf(out, "the store is undamaged, and stays as it is: %s\n",
		        ST_COUNT(r->kept, "profile", "profiles"));
		return;
	}
	fprintf(out, "the store is repaired: %s kept, %s removed\n",
	        ST_COUNT(r->kept, "profile is", "profiles are"), ST_NUMBER(r->removed));
	fprintf(out,
	        "the damaged store is now %s; if you still have the file of a lost profile, strobe "
	        "add FILE --rev REV stores it again\n",
	        r->aside);
}

/* Whether the store can be opened and has no problem. */
static bool
is_undamaged(uint64_t *profiles)
{
	struct st_store s;
	struct st_error ignored;
	struct st_fsck f = {0};
	if (st_store_open(&s, &ignored))
		return false;
	const bool undamaged = !st_fsck(&s, &f, &ignored) && !f.problems.n;
	*profiles = f.profiles;
	st_fsck_free(&f);
	st_store_close(&s);
	return undamaged;
}

static st_status
repair_store(const struct arguments *a, int *code, struct st_error *e)
{
	struct st_store s;
	struct st_repair r = {0};
	struct st_safe safe;
	if (st_store_locate_file(&s, e))
		return ST_FAILED;
	st_status status = ST_OK;
	if (!is_undamaged(&r.kept)) {
		status = st_store_repair(&s, &r, e);
		*code = EXIT_DAMAGED;
	}
	if (!status && a->json) {
		status = st_stored_print_json(repair_json(&r), e);
	} else if (!status && st_safe_begin(&safe, stdout)) {
		repair_print(&r, safe.text.out);
		st_safe_end(&safe);
	}
	free(r.aside);
	st_store_close(&s);
	return status;
}

static st_status
fsck_store(const struct arguments *a, int *code, struct st_error *e)
{
	struct st_store s;
	struct st_fsck f;
	struct st_safe safe;
	if (st_store_open(&s, e))
		return -1;
	int status = st_fsck(&s, &f, e);
	if (!status && a->json) {
		status = st_stored_print_json(fsck_json(&f), e);
	} else if (!status && st_safe_begin(&safe, stdout)) {
		fsck_print(&f, safe.text.out);
		st_safe_end(&safe);
	}
	if (!status && f.problems.n)
		*code = EXIT_DAMAGED;
	st_fsck_free(&f);
	st_store_close(&s);
	return status ? ST_FAILED : ST_OK;
}

int
st_fsck_main(char *const *argv)
{
	struct arguments a;
	struct st_error e;
	int code = ST_EXIT_OK, bad = parse_fsck(&a, argv, &e);
	if (!bad && a.help)
		st_command_help(stdout, st_command_find("fsck"), false);
	else if (bad || (a.repair ? repair_store(&a, &code, &e) : fsck_store(&a, &code, &e)))
		return st_complain(&e);
	return code;
}
