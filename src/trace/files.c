/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/files.h"

/* The dynamic linker that the program asks for. False: it has none. */
static bool
find_linker_of(const char *path, char linker[PATH_MAX])
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	bool found = false;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const bool is_elf = fd >= 0 && pread(fd, &header, sizeof header, 0) == sizeof header &&
	                    !memcmp(header.e_ident, ELFMAG, SELFMAG);
	for (unsigned i = 0; is_elf && !found && i < header.e_phnum; i++) {
		const off_t at = (off_t)(header.e_phoff + i * sizeof segment);
		if (pread(fd, &segment, sizeof segment, at) != sizeof segment)
			break;
		found = segment.p_type == PT_INTERP && segment.p_filesz < PATH_MAX &&
		        pread(fd, linker, segment.p_filesz, (off_t)segment.p_offset) ==
		                (ssize_t)segment.p_filesz;
		if (found)
			linker[segment.p_filesz] = '\0';
	}
	if (fd >= 0)
		close(fd);
	return found;
}

bool
st_trace_is_dynamic(const char *path)
{
	char linker[PATH_MAX];
	return find_linker_of(path, linker);
}

/* A line of the list: "NAME => PATH (0x...)" or "PATH (0x...)". */
static void
take_listed(char *line, void (*look)(void *arg, const char *path), void *arg)
{
	char real[PATH_MAX];
	char *end = strstr(line, " (0x"), *path = strstr(line, " => ");
	path = path ? path + 4 : line + strspn(line, " \t");
	if (!end || *path != '/')
		return;
	*end = '\0';
	if (realpath(path, real))
		look(arg, real);
}

/* The dynamic linker says what it would map, and executes nothing of it. */
static void
list_libraries(const char *linker, const char *path, void (*look)(void *arg, const char *path),
               void *arg)
{
	int ends[2];
	char *line = NULL;
	size_t room = 0;
	if (pipe2(ends, O_CLOEXEC))
		return;
	const pid_t pid = fork();
	if (pid == 0) {
		const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
		dup2(null, 0);
		dup2(ends[1], 1);
		dup2(null, 2);
		execl(linker, linker, "--list", path, (char *)NULL);
		_exit(1);
	}
	close(ends[1]);
	FILE *in = fdopen(ends[0], "r");
	while (in && getline(&line, &room, in) > 0)
		take_listed(line, look, arg);
	free(line);
	if (in)
		fclose(in);
	else
		close(ends[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

void
st_trace_files_of_program(const char *path, void (*look)(void *arg, const char *path), void *arg)
{
	char linker[PATH_MAX], real[PATH_MAX];
	look(arg, path);
	if (!find_linker_of(path, linker))
		return;
	if (realpath(linker, real))
		look(arg, real);
	list_libraries(linker, path, look, arg);
}

bool
st_trace_files_of_process(pid_t pid, void (*look)(void *arg, const char *path), void *arg)
{
	char name[64], *line = NULL;
	size_t room = 0;
	snprintf(name, sizeof name, "/proc/%d/maps", pid);
	FILE *in = fopen(name, "re");
	while (in && getline(&line, &room, in) > 0) {
		char rights[8];
		char *path = strchr(line, '/'), *end = strchr(line, '\n');
		if (end)
			*end = '\0';
		if (path && sscanf(line, "%*s %7s", rights) == 1 && strchr(rights, 'x'))
			look(arg, path);
	}
	free(line);
	if (in)
		fclose(in);
	return in != NULL;
}
