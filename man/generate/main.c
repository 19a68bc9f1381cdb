/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: manual PROSE_FOLDER OUT_FOLDER DEPENDENCIES
 *
 * Writes a manual page for strobe, each command and each tool into OUT_FOLDER: options come from
 * the tables that strobe itself reads, the rest from strobe.prose, commands/NAME.prose and
 * tools/NAME.prose, where they exist. DEPENDENCIES is what was read, for ninja.
 */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "page.h"

static FILE *
create(const char *path)
{
	FILE *f = fopen(path, "we");
	if (!f)
		err(1, "%s", path);
	return f;
}

static void
finish(FILE *f, const char *path)
{
	if (ferror(f) || fclose(f))
		err(1, "%s", path);
}

static FILE *dependencies;

/* Prose of something, to be freed, and the page to write, to be finished. */
struct job {
	char prose_path[4096], page_path[4096];
	struct prose prose;
	FILE *out;
};

static void
begin(struct job *j, char **argv, const char *folder, const char *name)
{
	const char *dash = *name ? "-" : "";
	snprintf(j->prose_path, sizeof j->prose_path, "%s/%s%s.prose", argv[1], folder,
	         *name ? name : "strobe");
	snprintf(j->page_path, sizeof j->page_path, "%s/strobe%s%s.1", argv[2], dash, name);
	if (!access(j->page_path, F_OK))
		errx(1, "a tool and a command are both called '%s'", name);
	prose_load(&j->prose, j->prose_path);
	if (!access(j->prose_path, F_OK))
		fprintf(dependencies, " %s", j->prose_path);
	j->out = create(j->page_path);
}

static void
end(struct job *j)
{
	finish(j->out, j->page_path);
	prose_free(&j->prose);
}

static void
write_pages(char **argv)
{
	struct job j;
	begin(&j, argv, "", "");
	page_overview(j.out, &j.prose);
	end(&j);
	for (size_t i = 0; i < st_n_commands; i++) {
		begin(&j, argv, "commands/", st_commands[i].name);
		page_of_command(j.out, &j.prose, &st_commands[i]);
		end(&j);
	}
	for (size_t i = 0; i < ST_TOOL_COUNT; i++) {
		begin(&j, argv, "tools/", st_tools[i]->name);
		page_of_tool(j.out, &j.prose, st_tools[i]);
		end(&j);
	}
}

/* Calls each(folder/NAME, NAME) for the files of a folder, and notes the folder. */
static void
for_files(const char *root, const char *folder, void (*each)(const char *path, const char *name))
{
	char path[8192];
	snprintf(path, sizeof path, "%s/%s", root, folder);
	DIR *d = opendir(path);
	if (!d)
		err(1, "%s", path);
	for (struct dirent *e; (e = readdir(d));) {
		snprintf(path, sizeof path, "%s/%s/%s", root, folder, e->d_name);
		if (e->d_name[0] != '.')
			each(path, e->d_name);
	}
	closedir(d);
}

static void
remove_page(const char *path, const char *name)
{
	(void)name;
	if (unlink(path))
		err(1, "%s", path);
}

static bool
is_prose_of(const char *file, const char *name)
{
	return strcspn(file, ".") == strlen(name) && !strncmp(file, name, strlen(name));
}

static void
check_command(const char *path, const char *name)
{
	for (size_t i = 0; i < st_n_commands; i++)
		if (is_prose_of(name, st_commands[i].name))
			return;
	errx(1, "%s: there is no such command", path);
}

static void
check_tool(const char *path, const char *name)
{
	for (size_t i = 0; i < ST_TOOL_COUNT; i++)
		if (is_prose_of(name, st_tools[i]->name))
			return;
	errx(1, "%s: there is no such tool", path);
}

int
main(int argc, char **argv)
{
	if (argc != 4)
		errx(2, "usage: manual PROSE_FOLDER OUT_FOLDER DEPENDENCIES");
	if (mkdir(argv[2], 0777) && errno != EEXIST)
		err(1, "%s", argv[2]);
	for_files(argv[2], "", remove_page);
	for_files(argv[1], "commands", check_command);
	for_files(argv[1], "tools", check_tool);
	dependencies = create(argv[3]);
	fprintf(dependencies, "%s: %s/commands %s/tools", argv[2], argv[1], argv[1]);
	write_pages(argv);
	fprintf(dependencies, "\n");
	finish(dependencies, argv[3]);
	return EXIT_SUCCESS;
}
