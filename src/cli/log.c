/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe log: the history of the project with the number of profiles of each version. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/option.h"
#include "cli/commands.h"
#include "cli/log_changes.h"
#include "cli/log_of.h"
#include "cli/stored.h"
#include "report/json.h"
#include "report/text.h"
#include "store/history.h"

enum {
#define O(id, letter, name, argument, shown, help) LOG_##id,
	ST_LOG_OPTIONS(O)
#undef O
};

struct arguments {
	const char *rev, *of, *changes;
	long top;
	bool all, profiles, json, help;
};

static st_status
apply_log_option(struct arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case ST_OPTIONS_OTHER:
		if (a->rev)
			return st_fail(e, ST_EXIT_USAGE,
			               "strobe log begins at one version; '%s' is one too many",
			               value);
		a->rev = value;
		return 0;
	case LOG_top:
		return st_option_number("top", value, 0, 100000000, &a->top, e);
	case LOG_of:
		a->of = value;
		return 0;
	case LOG_changes:
		a->changes = value;
		return 0;
	case LOG_all:
		a->all = true;
		return 0;
	case LOG_profiles:
		a->profiles = true;
		return 0;
	case LOG_format:
		return st_stored_format(value, &a->json, e);
	case LOG_help:
		a->help = true;
		return 0;
	default:
		return -1; /* *e is filled */
	}
}

static st_status
parse_log(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("log", argv);
	const char *value;
	*a = (struct arguments){.top = 40};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;)
		if (apply_log_option(a, option, value, e))
			return -1;
	return 0;
}

/* Whether versions without profiles are left out, and do not count for -n. */
static bool
log_skips(const struct arguments *a)
{
	return a->profiles || a->of;
}

/* Keeps the versions that have profiles, at most `top` of those in the history. */
static void
log_keep(const struct arguments *a, struct st_history *h)
{
	size_t kept = 0, listed = 0;
	for (size_t i = 0; i < h->v.n; i++) {
		struct st_logged *l = &h->v.v[i];
		bool fits = l->gone || !a->top || a->all || listed < (size_t)a->top;
		if (l->profiles && fits) {
			listed += !l->gone;
			h->v.v[kept++] = *l;
			continue;
		}
		h->whole &= !l->profiles;
		st_version_free(&l->version);
	}
	h->v.n = kept;
}

static json_t *
log_json(const struct st_history *h)
{
	json_t *commits = json_array();
	for (size_t i = 0; i < h->v.n; i++) {
		const struct st_logged *l = &h->v.v[i];
		json_array_append_new(commits,
		                      json_pack("{ss, so, sI, so, sb}", "commit", l->version.name,
		                                "subject", st_json_text(l->version.subject), "time",
		                                (json_int_t)l->version.time, "profiles",
		                                st_json_count(l->profiles), "gone", l->gone));
	}
	return json_pack("{si, so, sb, sb}", "version", ST_JSON_VERSION, "commits", commits,
	                 "whole", h->whole, "shallow", h->cut);
}

static void
log_print_table(const struct st_store *s, const struct st_history *h, bool gone, FILE *out)
{
	const struct st_table_column columns[] = {{s->vcs->kind->title, true},
	                                          {"date", true},
	                                          {"profiles", false},
	                                          {"subject", true}};
	struct st_table *t = st_table_new(columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; t && i < h->v.n; i++) {
		const struct st_logged *l = &h->v.v[i];
		char date[ST_DATE_SIZE];
		if (l->gone != gone)
			continue;
		st_table_cell(t, "%.10s", l->version.name);
		st_table_cell(t, "%s", st_stored_date(l->version.time * 1000000000, date));
		st_table_count(t, l->profiles);
		st_table_cell(t, "%s", l->version.subject);
	}
	if (!t)
		fputs("  out of memory\n", out);
	else if (st_table_rows(t))
		st_table_print(t, out, st_style_of(stdout));
	st_table_free(t);
}

static void
log_print(const struct arguments *a, const struct st_store *s, const struct st_history *h,
          FILE *out)
{
	log_print_table(s, h, false, out);
	if (h->cut)
		fputs("  the history ends here because the clone is shallow: git fetch --unshallow "
		      "brings the rest\n",
		      out);
	if (!h->whole)
		fprintf(out, "  %s shown; -n 0 shows all\n",
		        ST_COUNT((uint64_t)a->top, "version is", "versions are"));
	if (!h->gone)
		return;
	fprintf(out, "\n%s of versions that are not in this history%s\n",
	        ST_COUNT(h->gone, "profile is", "profiles are"),
	        a->all ? ":" : "; --all lists them");
	if (a->all)
		log_print_table(s, h, true, out);
}

static st_status
log_history(const struct arguments *a, struct st_error *e)
{
	struct st_store s;
	struct st_history h;
	struct st_safe safe;
	if (st_store_open(&s, e))
		return -1;
	int status =
	        st_history_read(&s, a->rev, log_skips(a) ? 0 : (uint64_t)a->top, a->all, &h, e);
	if (!status && log_skips(a))
		log_keep(a, &h);
	if (!status && a->changes) {
		status = st_log_changes(&s, &h, a->changes, a->json, e);
	} else if (!status && a->of) {
		status = st_log_of(&s, &h, a->of, a->json, e);
	} else if (!status && a->json) {
		status = st_stored_print_json(log_json(&h), e);
	} else if (!status && st_safe_begin(&safe, stdout)) {
		log_print(a, &s, &h, safe.text.out);
		st_safe_end(&safe);
	}
	st_history_free(&h);
	st_store_close(&s);
	return status ? ST_FAILED : ST_OK;
}

int
st_log_main(char *const *argv)
{
	struct arguments a;
	struct st_error e;
	int bad = parse_log(&a, argv, &e);
	if (!bad && a.help)
		st_command_help(stdout, st_command_find("log"), false);
	else if (bad || log_history(&a, &e))
		return st_complain(&e);
	return ST_EXIT_OK;
}
