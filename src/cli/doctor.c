/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/doctor.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "job/disturbance.h"

enum {
#define O(id, letter, name, argument, shown, help) DOCTOR_##id,
	ST_DOCTOR_OPTIONS(O)
#undef O
};

static const struct {
	const char *name;
	bool required;
	void (*examine)(const char *root, struct st_finding *f);
} checks[] = {
#define X(name, required) {#name, required, st_check_##name},
        ST_CHECKS(X)
#undef X
};

enum { N_CHECKS = sizeof checks / sizeof *checks };

static const char *const healths[] = {
        [ST_HEALTH_OK] = "ok", [ST_HEALTH_LIMITED] = "limited", [ST_HEALTH_NO] = "no"};

void
st_found(struct st_finding *f, enum st_health health, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	f->health = health;
	vsnprintf(f->found, sizeof f->found, format, ap);
	va_end(ap);
}

bool
st_read_file(const char *root, const char *path, char *text, size_t size)
{
	char full[4096];
	if (snprintf(full, sizeof full, "%s%s", root, path) >= (int)sizeof full)
		return false;
	FILE *f = fopen(full, "re");
	if (!f)
		return false;
	size_t n = fread(text, 1, size - 1, f);
	bool read = !ferror(f);
	fclose(f);
	text[n] = '\0';
	if (n && text[n - 1] == '\n')
		text[n - 1] = '\0';
	return read;
}

bool
st_read_number(const char *root, const char *path, int64_t *value)
{
	char text[64], *end;
	if (!st_read_file(root, path, text, sizeof text))
		return false;
	*value = strtoll(text, &end, 10);
	return end != text;
}

/* A finding with the name of what was examined. */
struct examined {
	const char *name;
	bool required;
	struct st_finding finding;
};

static void
print_text(const struct examined *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct st_finding *f = &all[i].finding;
		printf("  %-8s%-14s%s\n", healths[f->health], all[i].name, f->found);
		if (f->follows)
			printf("  %-22s  so: %s\n", "", f->follows);
		if (f->fix)
			printf("  %-22s  fix: %s\n", "", f->fix);
	}
}

static json_t *
text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static int
print_json_doctor(const struct examined *all, size_t n, const char *verdict, bool good)
{
	json_t *array = json_array();
	int bad = !array;
	for (size_t i = 0; i < n; i++) {
		const struct st_finding *f = &all[i].finding;
		bad |= json_array_append_new(
		        array, json_pack("{s:s, s:s, s:b, s:s, s:o, s:o}", "name", all[i].name,
		                         "status", healths[f->health], "required", all[i].required,
		                         "found", f->found, "follows", text_or_null(f->follows),
		                         "fix", text_or_null(f->fix)));
	}
	json_t *root = json_pack("{s:{s:i}, s:b, s:o}", "strobe", "version", 1, verdict, good,
	                         "checks", array);
	bad |= !root || json_dumpf(root, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(root);
	return bad;
}

static int
examine(bool json)
{
	struct examined all[N_CHECKS] = {0};
	bool usable = true;
	for (size_t i = 0; i < N_CHECKS; i++) {
		all[i].name = checks[i].name;
		all[i].required = checks[i].required;
		checks[i].examine("", &all[i].finding);
		if (checks[i].required && all[i].finding.health == ST_HEALTH_NO)
			usable = false;
	}
	if (json && print_json_doctor(all, N_CHECKS, "usable", usable))
		return ST_EXIT_FAILED;
	if (!json) {
		print_text(all, N_CHECKS);
		printf("\nstrobe run %s on this machine\n", usable ? "works" : "does not work");
	}
	return usable ? 0 : 1;
}

/* Long enough for a hundred ticks of the kernel's accounting. */
static const double benchmark_seconds = 1;

static int
examine_for_benchmarks(bool json)
{
	struct examined all[] = {
#define X(name) {#name, false, {0}},
	        ST_BENCHMARK_MEASURES(X) ST_BENCHMARK_CHECKS(X)
#undef X
	};
	enum { N = sizeof all / sizeof *all };
	struct examined *next = all;
	struct st_disturbance d;
	struct st_error e;
	bool quiet = true;
	if (st_disturbance_measure(benchmark_seconds, &d)) {
		st_cause(&e, ST_EXIT_FAILED, "no memory left to measure");
		return st_complain(&e);
	}
#define X(name) st_benchmark_##name(&d, &(next++)->finding);
	ST_BENCHMARK_MEASURES(X)
#undef X
#define X(name) st_benchmark_##name("", &(next++)->finding);
	ST_BENCHMARK_CHECKS(X)
#undef X
	for (size_t i = 0; i < N; i++)
		quiet &= all[i].finding.health == ST_HEALTH_OK;
	if (json && print_json_doctor(all, N, "quiet", quiet))
		return ST_EXIT_FAILED;
	if (!json) {
		print_text(all, N);
		printf("\n%s\n",
		       quiet ? "nothing was found that disturbs measurements"
		             : "the lines that do not begin with ok disturb measurements");
	}
	return quiet ? 0 : 1;
}

int
st_doctor_main(char *const *argv)
{
	struct st_options o = st_command_options("doctor", argv);
	struct st_error e;
	const char *value;
	bool json = false, for_benchmarks = false;
	for (int option; (option = st_options_next(&o, &value, &e)) != ST_OPTIONS_END;) {
		switch (option) {
		case DOCTOR_help:
			st_command_help(stdout, st_command_find("doctor"), false);
			return ST_EXIT_OK;
		case DOCTOR_for_benchmarks:
			for_benchmarks = true;
			break;
		case DOCTOR_format:
			json = !strcmp(value, "json");
			if (json || !strcmp(value, "text"))
				break;
			ST_IGNORE(st_bad_format(value, "text and json", &e));
			return st_complain(&e);
		case ST_OPTIONS_OTHER:
			st_cause(&e, ST_EXIT_USAGE, "strobe doctor takes no argument '%s'", value);
			return st_complain(&e);
		default:
			return st_complain(&e);
		}
	}
	return for_benchmarks ? examine_for_benchmarks(json) : examine(json);
}
