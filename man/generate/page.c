/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "page.h"

#include <ctype.h>
#include <err.h>
#include <string.h>

#include "wire/plan.h"

/* Plain text as roff: a hyphen that begins a word is a minus sign. */
static void
plain(FILE *out, const char *text)
{
	for (const char *c = text; *c; c++)
		if (*c == '\\')
			fputs("\\e", out);
		else if (*c == '-' && (c == text || !isalnum((unsigned char)c[-1])))
			fputs("\\-", out);
		else
			fputc(*c, out);
}

/* A name as it is typed: all its hyphens are minus signs. */
static void
typed(FILE *out, const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (name[i] == '-')
			fputc('\\', out);
		fputc(name[i], out);
	}
}

/* A line of --help as a sentence. */
static void
sentence(FILE *out, const char *help)
{
	fputs("\\&", out);
	fputc(toupper((unsigned char)*help), out);
	plain(out, help + 1);
	fputs(".\n", out);
}

static void
heading(FILE *out, const char *name, const char *help)
{
	fprintf(out, ".\\\" SPDX-License-Identifier: GPL-3.0-or-later\n.TH \"");
	for (const char *c = name; *c; c++)
		fputc(toupper((unsigned char)*c), out);
	fprintf(out, "\" 1 " ST_DATE " \"Strobe " ST_VERSION "\" \"User Commands\"\n.SH NAME\n");
	typed(out, name, strlen(name));
	fprintf(out, " \\- ");
	plain(out, help);
	fprintf(out, "\n.SH SYNOPSIS\n");
}

/* "[options]", "[--]", "PROGRAM", "[ARGUMENT...]": a word of a usage line, what is literal bold. */
static void
usage_word(FILE *out, const char *word, size_t length)
{
	bool bracket = *word == '[';
	const char *core = word + bracket;
	size_t rest = length - bracket, n = strcspn(core, "]. ");
	fprintf(out, bracket ? ".R%c [ " : ".%cR ", *core == '-' ? 'B' : 'I');
	typed(out, core, n < rest ? n : rest);
	fprintf(out, " \"%.*s\"\n", (int)(n < rest ? rest - n : 0), core + n);
}

static void
usage(FILE *out, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, " ");
		usage_word(out, text, length);
		text += length + strspn(text + length, " ");
	}
}

static void
list_of_commands(FILE *out)
{
	for (size_t i = 0; i < st_n_commands; i++) {
		fprintf(out, ".TP\n.BR strobe\\-%s (1)\n", st_commands[i].name);
		sentence(out, st_commands[i].help);
	}
}

static void
list_of_tools(FILE *out)
{
	for (size_t i = 0; i < ST_TOOL_COUNT; i++) {
		fprintf(out, ".TP\n.BR %s \", see \" strobe\\-%s (1)\n", st_tools[i]->name,
		        st_tools[i]->name);
		sentence(out, st_tools[i]->help);
	}
}

static void
list_of_stresses(FILE *out)
{
#define ST_STRESS(name, bit, text)                                                                 \
	fprintf(out, ".RS\n.TP\n.B " #name "\n");                                                  \
	sentence(out, text);                                                                       \
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
			errx(1, "%s: no '%.*s' is known", p->path, (int)length, text);
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
		sentence(out, help);
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

static void
option_text(FILE *out, const struct prose *p, const char *name, const char *help)
{
	const char *text = prose_find(p, true, name);
	if (text)
		prose_text(out, p, text);
	else
		sentence(out, help);
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
		typed(out, o->name, strlen(o->name));
		if (o->argument)
			fprintf(out, " \" %s\n", o->argument);
		else
			fprintf(out, "\"\n");
		option_text(out, p, o->name, o->help);
	}
}

/* Every option that the prose explains must be there. */
static void
check_options(const struct prose *p, const struct st_option *options, size_t n)
{
	for (size_t i = 0; i < p->n; i++) {
		size_t j = 0;
		while (p->parts[i].option && j < n && strcmp(options[j].name, p->parts[i].name))
			j++;
		if (p->parts[i].option && j == n)
			errx(1, "%s: there is no option '%s'", p->path, p->parts[i].name);
	}
}

static void
options_of_tool(FILE *out)
{
	fprintf(out, ".SH OPTIONS\nThe tool has none of its own.\nThose of\n.B strobe run\n"
	             "are in\n.BR strobe\\-run (1).\n");
}

void
page_overview(FILE *out, const struct prose *p)
{
	heading(out, "strobe", "show what a native Linux program does with its time");
	fprintf(out, ".B strobe\n.I COMMAND\n.RI [ options ]\n");
	check_options(p, NULL, 0);
	description(out, p, "");
	sections(out, p);
}

void
page_of_command(FILE *out, const struct prose *p, const struct st_command *c)
{
	char name[64];
	snprintf(name, sizeof name, "strobe-%s", c->name);
	check_options(p, c->options, c->n_options);
	heading(out, name, c->help);
	fprintf(out, ".B strobe %s\n", c->name);
	usage(out, c->usage);
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
	check_options(p, NULL, 0);
	heading(out, name, t->help);
	fprintf(out, ".B strobe run \\-t %s\n", t->name);
	usage(out, st_command_find("run")->usage);
	description(out, p, t->help);
	options_of_tool(out);
	sections(out, p);
	if (!prose_find(p, false, "SEE ALSO"))
		fprintf(out, ".SH SEE ALSO\n.BR strobe (1),\n.BR strobe\\-run (1),\n"
		             ".BR strobe\\-tools (1)\n");
}
