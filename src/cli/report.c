/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe report: results as one page for a browser. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "base/option.h"
#include "base/text.h"
#include "blow/blow.h"
#include "cli/commands.h"
#include "cli/report_campaigns.h"
#include "cli/report_check.h"
#include "cli/report_costs.h"
#include "cli/report_history.h"
#include "cli/report_memory.h"
#include "cli/result.h"
#include "cli/rows.h"
#include "cli/show_stored.h"
#include "profile/output.h"
#include "report/page.h"
#include "report/report.h"
#include "rows/rowfile.h"
#include "symbol/symbol.h"
#include "trace/waits.h"
#include "tune/analysis.h"

enum {
#define O(id, letter, name, argument, shown, help) REPORT_##id,
	ST_REPORT_OPTIONS(O)
#undef O
};

/* Results that are compared with each other. */
struct report_compared {
	struct st_report_measured measured;
	struct st_report_campaigns campaigns;
};

static const char default_page[] = "strobe.html";

struct arguments {
	ST_VEC(const char *) files;
	ST_VEC(const char *) histories; /* names of functions or series */
	const char *output, *rev;
	long top, versions;
	bool sources, all_sources, help;
	char *newest; /* the newest result, if no file was named */
};

static st_status
add_file_report(struct arguments *a, const char *value, struct st_error *e)
{
	const char **slot = ST_PUSH(&a->files);
	if (!slot)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the list of files");
	*slot = value;
	return 0;
}

static st_status
add_history_name(struct arguments *a, const char *value, struct st_error *e)
{
	const char **slot = *value ? ST_PUSH(&a->histories) : NULL;
	if (!*value)
		return st_fail(e, ST_EXIT_USAGE,
		               "--history needs the name of a function or series, or a shell "
		               "pattern");
	if (!slot)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the list of histories");
	*slot = value;
	return 0;
}

static st_status
apply_report_option(struct arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case ST_OPTIONS_OTHER:
		return add_file_report(a, value, e);
	case REPORT_output:
		a->output = value;
		return 0;
	case REPORT_top:
		return st_option_number("top", value, 0, 100000000, &a->top, e);
	case REPORT_history:
		return add_history_name(a, value, e);
	case REPORT_rev:
		a->rev = value;
		return 0;
	case REPORT_versions:
		return st_option_number("versions", value, 0, 100000000, &a->versions, e);
	case REPORT_no_source:
		a->sources = false;
		return 0;
	case REPORT_all_sources:
		a->all_sources = true;
		return 0;
	case REPORT_debuginfod:
		return st_debuginfod_enable(e);
	case REPORT_help:
		a->help = true;
		return 0;
	default:
		return -1; /* *e is filled */
	}
}

static st_status
parse_report(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("report", argv);
	const char *value;
	*a = (struct arguments){
	        .output = default_page, .top = 10000, .versions = 40, .sources = true};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;)
		if (apply_report_option(a, option, value, e))
			return -1;
	if (a->help)
		return 0;
	if (a->rev && !a->histories.n)
		return st_fail(e, ST_EXIT_USAGE,
		               "--rev says where a history ends: name a function with --history, "
		               "or leave out --rev %s",
		               a->rev);
	if (!a->files.n && !a->histories.n)
		a->newest = st_newest_result();
	if (a->newest && add_file_report(a, a->newest, e))
		return -1;
	if (!a->files.n && !a->histories.n)
		return st_fail(e, ST_EXIT_USAGE,
		               "nothing to report: strobe report FILE..., or strobe report "
		               "--history NAME in a project with a store; there is no "
		               "result in this directory");
	return 0;
}

/* Of a profile of strobe trace --events, or of strobe run -t locks:times. A page without it is
 * still a page. */
static st_status
add_timeline(json_t *page, const struct st_profile *p, const char *path, struct st_error *e)
{
	bool recorded = false, waits = st_waits_recorded(p);
	if (!strcmp(p->run.tool, ST_BLOW_TOOL))
		return st_page_add_blow(page, p, e);
	for (size_t i = 0; i < p->streams.n; i++)
		recorded |= !strcmp(p->streams.v[i].tool, "calltimes") &&
		            !strcmp(p->streams.v[i].name, "events");
	if (!recorded && !waits)
		return 0;
	struct st_error why;
	char *file = st_find_rows(p, path, recorded ? "events" : ST_WAITS_STREAM, &why);
	struct st_row_reader *rows = file ? st_row_reader_open(file, &why) : NULL;
	free(file);
	if (rows) {
		st_status status = recorded ? st_page_add_timeline(page, p, rows, e)
		                            : st_page_add_waits(page, p, rows, e);
		st_row_reader_close(rows);
		return status;
	}
	fprintf(stderr, "strobe: the page has no timeline of %s: %s\n", path, why.text);
	if (st_page_add_no_timeline(page, why.text))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to report %s", path);
	return 0;
}

static st_status
add_profile(const struct arguments *a, json_t *page, const char *path,
            struct report_compared *compared, struct st_error *e)
{
	struct st_page_limits limits = {.functions = (size_t)a->top,
	                                .rows = (size_t)a->top,
	                                .sources = a->sources,
	                                .all_sources = a->all_sources};
	struct st_profile *p = st_show_load(path, e);
	if (!p)
		return -1;
	int bad = st_page_add_profile(page, st_base_name(path), p, &limits);
	st_status status = bad ? ST_OK : add_timeline(page, p, path, e);
	if (!bad && !status)
		status = st_report_add_memory(page, p, path, e);
	if (!bad && !status)
		status = st_report_note_campaign(&compared->campaigns, p, path,
		                                 st_page_results(page) - 1, e);
	if (bad || status)
		st_profile_free(p);
	else
		status = st_report_keep_measured(&compared->measured, p, st_page_results(page) - 1,
		                                 e);
	if (status)
		return -1;
	if (!bad && st_page_left_out(page))
		fprintf(stderr,
		        "strobe: the page has only the hottest contexts of %s: %s left out, "
		        "because there are too many or they are too deep; strobe paths --from "
		        "shows all\n",
		        path, ST_COUNT(st_page_left_out(page), "context is", "contexts are"));
	if (!bad && st_page_kept_back(page))
		fprintf(stderr,
		        "strobe: the page does not show the text of %s of %s, which other users "
		        "may not read; --all-sources includes it\n",
		        ST_COUNT(st_page_kept_back(page), "source file", "source files"), path);
	return bad ? st_fail(e, ST_EXIT_FAILED, "no memory left to report %s", path) : 0;
}

/* A study is read and analysed again: what its file has is checked, and what follows from it made
 * again. NULL with *e on failure. */
static json_t *
read_study(const char *path, struct st_error *e)
{
	struct st_study study = {0};
	struct st_analysis analysis;
	char *text = NULL;
	if (!st_study_load(&study, path, e) && !st_analysis_make(&analysis, &study, e))
		text = st_study_json(&analysis, &study, e);
	st_study_free(&study);
	if (!text)
		return NULL;
	json_t *result = json_loads(text, 0, NULL);
	free(text);
	if (!result)
		st_cause(e, ST_EXIT_FAILED, "no memory left to report %s", path);
	return result;
}

/* The result in the folder of a campaign of strobe fuzz; NULL: the path is no such folder. The
 * caller frees it. */
static char *
result_of_campaign(const char *path)
{
	char *file = NULL;
	struct stat st;
	if (stat(path, &st) || !S_ISDIR(st.st_mode) || asprintf(&file, "%s/fuzz.json", path) < 0)
		return NULL;
	if (!stat(file, &st) && S_ISREG(st.st_mode))
		return file;
	free(file);
	return NULL;
}

static st_status
add_campaign(json_t *page, const char *folder, const char *path, struct st_error *e)
{
	char *label = strdup(folder);
	json_t *result = label ? st_page_read_json(path, e) : NULL;
	for (size_t n = label ? strlen(label) : 0; n > 1 && label[n - 1] == '/'; n--)
		label[n - 1] = '\0';
	st_status status = label && !result ? ST_FAILED : ST_OK;
	if (!label || (result && st_page_add_json(page, st_base_name(label), result)))
		status = st_fail(e, ST_EXIT_FAILED, "no memory left to report %s", folder);
	free(label);
	return status;
}

static st_status
add_result(const struct arguments *a, json_t *page, const char *path,
           struct report_compared *compared, struct st_error *e)
{
	if (st_output_check_input(a->output, path, e))
		return -1;
	char *campaign = result_of_campaign(path);
	if (campaign) {
		st_status status = add_campaign(page, path, campaign, e);
		free(campaign);
		return status;
	}
	if (st_row_file_is(path))
		return st_fail(e, ST_EXIT_FAILED,
		               "%s is a file of rows, and a report needs a profile; strobe show "
		               "prints the rows",
		               path);
	const bool records = st_report_is_records(path);
	if (!records && !st_page_is_json(path))
		return add_profile(a, page, path, compared, e);
	json_t *result = records ? st_report_costs(path, e) : st_page_read_json(path, e);
	if (result && st_page_is_study(result)) {
		json_decref(result);
		result = read_study(path, e);
	}
	if (!result)
		return -1;
	if (st_page_add_json(page, st_base_name(path), result))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to report %s", path);
	return 0;
}

static st_status
write_page(const struct arguments *a, struct st_error *e)
{
	if (st_page_missing())
		return st_fail(e, ST_EXIT_FAILED,
		               "this strobe was built without the page of its reports: %s; install "
		               "npm, see that it can fetch packages, and run ninja again",
		               st_page_missing());
	if (strcmp(a->output, "-") != 0 && st_output_check_kind(a->output, "HTML", ".html", e))
		return -1;
	json_t *page = st_page_new();
	struct report_compared compared = {0};
	int status = page ? 0 : st_fail(e, ST_EXIT_FAILED, "no memory left for the report");
	for (size_t i = 0; i < a->files.n && !status; i++)
		status = add_result(a, page, a->files.v[i], &compared, e);
	if (!status)
		status = st_report_add_checks(page, &compared.measured, e);
	if (!status)
		status = st_report_add_campaigns(page, &compared.campaigns, e);
	st_report_measured_free(&compared.measured);
	st_report_campaigns_free(&compared.campaigns);
	for (size_t i = 0; i < a->histories.n && !status; i++) {
		const struct st_report_history what = {a->histories.v[i], a->rev,
		                                       (size_t)a->versions};
		status = st_report_add_history(page, &what, e);
	}
	if (!status && st_page_match(page))
		status = st_fail(e, ST_EXIT_FAILED, "no memory left for the report");
	/* A file that was named may be replaced without a word. */
	const bool replaces = !strcmp(a->output, default_page) && !access(a->output, F_OK);
	if (!status)
		status = st_page_write(page, a->output, e);
	json_decref(page);
	struct stat st;
	if (!status && strcmp(a->output, "-") != 0 && !stat(a->output, &st) &&
	    S_ISREG(st.st_mode)) {
		char *name = st_printable(a->output);
		fprintf(stderr, "strobe: wrote %s%s: open it in a browser\n", name ? name : "",
		        replaces ? " in place of the earlier one" : "");
		free(name);
	}
	return status;
}

int
st_report_main(char *const *argv)
{
	struct arguments a;
	struct st_error e;
	int code = ST_EXIT_OK, bad = parse_report(&a, argv, &e);
	if (!bad && a.help)
		st_command_help(stdout, st_command_find("report"), false);
	else if (bad || write_page(&a, &e))
		code = st_complain(&e);
	if (st_debuginfod_problem())
		fprintf(stderr, "strobe: %s\n", st_debuginfod_problem());
	free(a.files.v);
	free(a.histories.v);
	free(a.newest);
	return code;
}
