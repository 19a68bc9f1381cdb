/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "page.h"

#include <err.h>
#include <string.h>

#include "roff.h"
#include "wire/plan.h"

static void
list_of_commands(FILE *out)
{
	for (size_t i = 0; i < st_n_commands; i++) {
		fprintf(out, ".TP\n.BR strobe\\-%s (1)\n", st_commands[i].name);
		roff_sentence(out, st_commands[i].help);
	}
}

static void
list_of_tools(FILE *out)
{
	for (size_t i = 0; i < ST_TOOL_COUNT; i++) {
		fprintf(out, ".TP\n.BR %s \", see \" strobe\\-%s (1)\n", st_tools[i]->name,
		        st_tools[i]->name);
		roff_sentence(out, st_tools[i]->help);
	}
}

static void
list_of_stresses(FILE *out)
{
#define ST_STRESS(name, bit, text)                                                                 \
	fprintf(out, ".RS\n.TP\n.B " #name "\n");                                                  \
	roff_sentence(out, text);                                                                  \
	fprintf(out, ".RE\n");
	ST_STRESSES(ST_STRESS)
#undef ST_STRESS
}

/* Text from the prose, with what its lines "@..." stand for. */
static void
prose_text(FILE *out, const struct prose *p, const char *text)
{
	static const struct {
		const char *mark;
		void (*print)(FILE *out);
	} lists[] = {{"@commands", list_of_commands},
	             {"@tools", list_of_tools},
	             {"@stresses", list_of_stresses}};
	for (size_t length; *text; text += length + (text[length] != '\0')) {
		size_t i = 0;
		length = strcspn(text, "\n");
		while (i < 3 &&
		       (strlen(lists[i].mark) != length || strncmp(lists[i].mark, text, length)))
			i++;
		if (i < 3)
			lists[i].print(out);
		else if (*text == '@')
			errx(1, "%s: no list is called '%.*s'", p->path, (int)length, text);
		else
			fprintf(out, "%.*s\n", (int)length, text);
	}
}

static void
description(FILE *out, const struct prose *p, const char *help)
{
	const char *text = prose_find(p, false, "DESCRIPTION");
	fprintf(out, ".SH DESCRIPTION\n");
	if (text)
		prose_text(out, p, text);
	else
		roff_sentence(out, help);
}

/* The other sections, as they stand. */
static void
sections(FILE *out, const struct prose *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct prose_part *part = &p->parts[i];
		if (part->option || !strcmp(part->name, "DESCRIPTION"))
			continue;
		fprintf(out, ".SH %s\n", part->name);
		prose_text(out, p, part->text);
	}
}

/* The line of --help, and what the prose adds to it. */
static void
option_text(FILE *out, const struct prose *p, const char *name, const char *help)
{
	const char *text = prose_find(p, true, name);
	roff_sentence(out, help);
	if (text)
		prose_text(out, p, text);
}

static void
options_of_command(FILE *out, const struct prose *p, const struct st_command *c)
{
	fprintf(out, ".SH OPTIONS\n");
	for (size_t i = 0; i < c->n_options; i++) {
		const struct st_option *o = &c->options[i];
		fprintf(out, ".TP\n.B%s \"", o->argument ? "I" : "");
		if (o->letter)
			fprintf(out, "\\-%c, ", o->letter);
		fprintf(out, "\\-\\-");
		roff_typed(out, o->name, strlen(o->name));
		if (o->argument)
			fprintf(out, " \" %s\n", o->argument);
		else
			fprintf(out, "\"\n");
		option_text(out, p, o->name, o->help);
	}
}

static const char *
command_option(const void *command, size_t i)
{
	const struct st_command *c = command;
	return i < c->n_options ? c->options[i].name : NULL;
}

static const char *
tool_option(const void *tool, size_t i)
{
	return i < STROBE_MOST_OPTIONS ? ((const strobe_tool *)tool)->options[i].name : NULL;
}

static const char *
no_option(const void *of, size_t i)
{
	(void)of;
	(void)i;
	return NULL;
}

/* Every option that the prose explains must be there. */
static void
check_options(const struct prose *p, const char *(*option)(const void *, size_t), const void *of)
{
	for (size_t i = 0; i < p->n; i++) {
		const char *name = p->parts[i].option ? option(of, 0) : "";
		for (size_t j = 1; name && *name && strcmp(name, p->parts[i].name); j++)
			name = option(of, j);
		if (!name)
			errx(1, "%s: there is no option '%s'", p->path, p->parts[i].name);
	}
}

/* NAME=VALUE, as it stands behind the tool's name and a colon. */
static void
options_of_tool(FILE *out, const struct prose *p, const strobe_tool *t)
{
	const char *name;
	fprintf(out, ".SH OPTIONS\n");
	if (tool_option(t, 0))
		fprintf(out, "Options of the tool follow its name, separated by commas.\n"
		             "An option without a value is 1; sizes may end in k, M or G.\n");
	for (size_t i = 0; (name = tool_option(t, i)); i++) {
		const char *value = t->options[i].value;
		fprintf(out, ".TP\n.BI \"%s=\" VALUE\n", name);
		option_text(out, p, name, t->options[i].help);
		const strobe_limit *limit = st_tool_limit(t, name);
		char range[ST_TOOL_RANGE];
		if (value && *value)
			fprintf(out, "The default is %s%s%s.\n", value,
			        limit ? "; the value is a number " : "",
			        limit ? st_tool_range(range, limit) : "");
	}
	fprintf(out, "%s.BR strobe\\-run (1)\ndescribes the options of\n.BR \"strobe run\" .\n",
	        tool_option(t, 0) ? ".PP\n" : "The tool has no options.\n");
}

void
page_overview(FILE *out, const struct prose *p)
{
	roff_heading(out, "strobe", "show what a native Linux program does with its time");
	fprintf(out, ".B strobe\n.I COMMAND\n.RI [ options ]\n");
	check_options(p, no_option, NULL);
	description(out, p, "");
	sections(out, p);
}

void
page_of_command(FILE *out, const struct prose *p, const struct st_command *c)
{
	char name[64];
	snprintf(name, sizeof name, "strobe-%s", c->name);
	check_options(p, command_option, c);
	roff_heading(out, name, c->help);
	fprintf(out, ".B strobe %s\n", c->name);
	roff_usage(out, c->usage);
	description(out, p, c->help);
	options_of_command(out, p, c);
	sections(out, p);
	if (!prose_find(p, false, "SEE ALSO"))
		fprintf(out, ".SH SEE ALSO\n.BR strobe (1)\n");
}

void
page_of_tool(FILE *out, const struct prose *p, const strobe_tool *t)
{
	char name[64];
	snprintf(name, sizeof name, "strobe-%s", t->name);
	check_options(p, tool_option, t);
	roff_heading(out, name, t->help);
	if (tool_option(t, 0))
		fprintf(out,
		        ".B strobe run \\-t %s\\fR[\\fP:\\fIOPTION\\fP=\\fIVALUE\\fR,...]\\fP\n",
		        t->name);
	else
		fprintf(out, ".B strobe run \\-t %s\n", t->name);
	roff_usage(out, st_command_find("run")->usage);
	description(out, p, t->help);
	options_of_tool(out, p, t);
	sections(out, p);
	if (!prose_find(p, false, "SEE ALSO"))
		fprintf(out, ".SH SEE ALSO\n.BR strobe (1),\n.BR strobe\\-run (1),\n"
		             ".BR strobe\\-tools (1)\n");
}
