/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/traits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Values stand in lines: a line break in one would end it. */
static void
traits_put_line(FILE *out, const char *name, const char *value)
{
	fputs(name, out);
	fputc('=', out);
	for (; *value; value++)
		fputc(*value == '\n' || *value == '\r' ? ' ' : *value, out);
	fputc('\n', out);
}

/* Files of other tools often do not say where a program ran. */
static void
traits_put_known(FILE *out, const char *name, const char *value)
{
	if (*value)
		traits_put_line(out, name, value);
}

static char *
traits_command(const struct st_profile_run *r)
{
	struct st_text text;
	FILE *out = st_text_begin(&text);
	for (size_t i = 0; out && i < r->command.n; i++)
		fprintf(out, "%s%s", i ? " " : "",
		        i ? r->command.v[i] : st_base_name(r->command.v[0]));
	return st_text_end(&text);
}

static char *
traits_collector(const struct st_profile_run *r)
{
	struct st_text text;
	FILE *out = st_text_begin(&text);
	for (size_t i = 0; out && i < r->tools.n; i++)
		fprintf(out, "%s%s", i ? "," : "", r->tools.v[i]);
	if (out && !r->tools.n)
		fputs(r->tool, out);
	return st_text_end(&text);
}

static char *
traits_parameters(const struct st_profile *p)
{
	static const char *const budgets[] = {"budget_ns", "budget_period_ns", "budget_clock",
	                                      "budget_share"};
	const struct st_profile_run *r = &p->run;
	struct st_text text;
	FILE *out = st_text_begin(&text);
	if (!out)
		return NULL;
	for (size_t i = 0; i < r->tool_options.n; i++)
		fprintf(out, "%s.%s=%s ",
		        r->tool_options.v[i].tool < r->tools.n
		                ? r->tools.v[r->tool_options.v[i].tool]
		                : "",
		        r->tool_options.v[i].name, r->tool_options.v[i].value);
	for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++)
		if (st_profile_statistic_most(p, "budget_ns"))
			fprintf(out, "%s=%llu ", budgets[i],
			        (unsigned long long)st_profile_statistic_most(p, budgets[i]));
	fprintf(out, "sample_hz=%lld follow=%d", (long long)r->sample_hz, r->follow);
	return st_text_end(&text);
}

/* Libraries of the system: those of the project differ from version to version. */
static bool
traits_is_system_library(const char *path)
{
	static const char *const folders[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		if (!strncmp(path, folders[i], strlen(folders[i])))
			return true;
	return false;
}

/* PATH says where programs were found, which the command and the build-ids say better. */
static void
traits_put_environment(FILE *out, const struct st_profile_run *r)
{
	fputs("environment=", out);
	for (size_t i = 0, n = 0; i < r->environment.n; i++)
		if (strncmp(r->environment.v[i], "PATH=", 5))
			fprintf(out, "%s%s", n++ ? " " : "", r->environment.v[i]);
	fputc('\n', out);
}

static char *
traits_machine(const struct st_profile *p)
{
	const struct st_profile_run *r = &p->run;
	struct st_text text;
	FILE *out = st_text_begin(&text);
	if (!out)
		return NULL;
	traits_put_known(out, "cpu", r->cpu);
	traits_put_known(out, "architecture", r->machine);
	if (r->cores)
		fprintf(out, "cores=%lld\n", (long long)r->cores);
	traits_put_known(out, "kernel", r->kernel);
	for (size_t i = 0; i < r->facts.n; i++)
		traits_put_line(out, r->facts.v[i].name, r->facts.v[i].value);
	if (*r->cpu || r->environment.n)
		traits_put_environment(out, r);
	for (size_t i = 0; i < p->images.n; i++) {
		const struct st_profile_image *image = &p->images.v[i];
		if (!*image->build_id || !traits_is_system_library(image->path))
			continue;
		fputs("library ", out);
		traits_put_line(out, st_base_name(image->path), image->build_id);
	}
	return st_text_end(&text);
}

/* As it was given, or as the profile's measurements are labelled. */
static const char *
traits_workload(const struct st_profile *p, const char *given)
{
	for (size_t i = 0; i < p->measurements.series.n && !given; i++)
		given = st_series_label(&p->measurements.series.v[i], "workload");
	return given ? given : "";
}

st_status
st_traits_of(struct st_traits *t, const struct st_profile *p, const char *workload)
{
	*t = (struct st_traits){
	        .collector = traits_collector(&p->run),
	        .command = traits_command(&p->run),
	        .workload = strdup(traits_workload(p, workload)),
	        .parameters = traits_parameters(p),
	        .machine = traits_machine(p),
	};
	return t->collector && t->command && t->workload && t->parameters && t->machine ? ST_OK
	                                                                                : ST_FAILED;
}

void
st_traits_free(struct st_traits *t)
{
	free(t->collector);
	free(t->command);
	free(t->workload);
	free(t->parameters);
	free(t->machine);
	*t = (struct st_traits){0};
}

/* The value of a field, NULL: there is no such field. */
static const char *
traits_value(const char *fields, const char *name, int name_length, int *length)
{
	for (const char *line = fields; *line;) {
		const char *end = strchrnul(line, '\n');
		if (end - line > name_length && line[name_length] == '=' &&
		    !strncmp(line, name, (size_t)name_length)) {
			*length = (int)(end - line) - name_length - 1;
			return line + name_length + 1;
		}
		line = *end ? end + 1 : end;
	}
	return NULL;
}

bool
st_traits_differ(const char *a, const char *b, const char **at, struct st_trait_difference *d)
{
	const char *line = *at ? *at : a;
	while (*line) {
		const char *end = strchrnul(line, '\n'), *equals = strchr(line, '=');
		const char *next = *end ? end + 1 : end;
		*d = (struct st_trait_difference){.name = line};
		if (equals && equals < end) {
			d->name_length = (int)(equals - line);
			d->a = equals + 1;
			d->a_length = (int)(end - d->a);
			d->b = traits_value(b, line, d->name_length, &d->b_length);
		}
		if (d->b &&
		    (d->a_length != d->b_length || strncmp(d->a, d->b, (size_t)d->a_length) != 0)) {
			*at = next;
			return true;
		}
		line = next;
	}
	*at = line;
	return false;
}

char *
st_traits_differences(const char *a, const char *b, const char *between)
{
	struct st_text text;
	struct st_trait_difference d;
	const char *at = NULL;
	size_t n = 0;
	FILE *out = st_text_begin(&text);
	while (out && st_traits_differ(a, b, &at, &d))
		fprintf(out, "%s%.*s: %.*s%s%.*s", n++ ? "; " : "", d.name_length, d.name,
		        d.a_length, d.a, between, d.b_length, d.b);
	char *made = st_text_end(&text);
	if (n)
		return made;
	free(made);
	return NULL;
}
