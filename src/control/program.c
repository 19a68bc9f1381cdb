/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/program.h"
#include "control/internal.h"

static st_status
check_elf(const unsigned char *head, ssize_t n, const char *path, struct st_error *e)
{
	Elf64_Ehdr h;
	if (n >= 5 && head[EI_CLASS] == ELFCLASS32)
		return st_fail(e, ST_EXIT_NOT_EXECUTABLE,
		               "%s is a 32-bit program; strobe runs 64-bit x86 programs only",
		               path);
	if (n < (ssize_t)sizeof h)
		return st_fail(
		        e, ST_EXIT_NOT_EXECUTABLE,
		        "%s is a damaged ELF file: its header is cut off; copy or build it again",
		        path);
	memcpy(&h, head, sizeof h);
	if (h.e_machine != EM_X86_64)
		return st_fail(e, ST_EXIT_NOT_EXECUTABLE,
		               "%s is for another processor (ELF machine %u); strobe runs x86-64 "
		               "programs only",
		               path, h.e_machine);
	if (h.e_type != ET_EXEC && h.e_type != ET_DYN)
		return st_fail(e, ST_EXIT_NOT_EXECUTABLE,
		               "%s is an ELF file but not a program (type %u)", path, h.e_type);
	return 0;
}

static st_status
check_file(const char *path, struct st_error *e)
{
	struct stat st;
	unsigned char head[64];
	if (stat(path, &st) != 0)
		return st_fail(e,
		               errno == ENOENT || errno == ENOTDIR ? ST_EXIT_NOT_FOUND
		                                                   : ST_EXIT_NOT_EXECUTABLE,
		               "cannot run %s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return st_fail(e, ST_EXIT_NOT_EXECUTABLE, "cannot run %s: it is a directory", path);
	if (access(path, X_OK) != 0)
		return st_fail(e, ST_EXIT_NOT_EXECUTABLE,
		               "cannot run %s: %s (chmod +x makes a file executable)", path,
		               strerror(errno));
	if (((st.st_mode & S_ISUID) && st.st_uid != geteuid()) ||
	    ((st.st_mode & S_ISGID) && st.st_gid != getegid()))
		return st_fail(e, ST_EXIT_NOT_EXECUTABLE,
		               "%s is set-uid or set-gid and would lose its privileges under "
		               "strobe; run strobe as its owner",
		               path);
	if (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
		return st_fail(e, ST_EXIT_NOT_EXECUTABLE,
		               "%s has file capabilities, which it would lose under strobe; run "
		               "strobe as root",
		               path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0; /* executable but not readable: the kernel will tell */
	ssize_t n = read(fd, head, sizeof head);
	close(fd);
	if (n >= 4 && memcmp(head, ELFMAG, SELFMAG) == 0)
		return check_elf(head, n, path, e);
	if (n >= 2 && head[0] == '#' && head[1] == '!')
		return 0;
	return st_fail(e, ST_EXIT_NOT_EXECUTABLE,
	               "cannot run %s: neither an ELF program nor a script with a #! line", path);
}

st_status
st_program_find(const char *name, char *path, size_t size, struct st_error *e)
{
	if (!name || !*name)
		return st_fail(e, ST_EXIT_NOT_FOUND,
		               "no program given; say strobe run -- PROGRAM ARGS");
	if (strchr(name, '/')) {
		if (snprintf(path, size, "%s", name) >= (int)size)
			return st_fail(e, ST_EXIT_NOT_FOUND, "the name of the program is too long");
		return check_file(path, e);
	}
	int error = st_path_find(name, path, size);
	if (error == ENOENT)
		return st_fail(e, ST_EXIT_NOT_FOUND, "%s: no such program in PATH", name);
	if (error)
		return st_fail(e, ST_EXIT_NOT_EXECUTABLE,
		               "%s was found in PATH but is not executable", name);
	return check_file(path, e);
}

/* The word after "#!", or after the blanks behind it, of a script's first line; for env the word
 * after it. False: it is none. */
static bool
interpreter_of(const char *path, char *word, size_t size, bool *by_env)
{
	char line[256] = "";
	FILE *f = fopen(path, "re");
	const size_t n = f ? fread(line, 1, sizeof line - 1, f) : 0;
	if (f)
		fclose(f);
	if (n < 3 || line[0] != '#' || line[1] != '!')
		return false;
	line[strcspn(line, "\n")] = '\0';
	char *rest = NULL, *first = strtok_r(line + 2, " \t", &rest);
	const char *base = first ? strrchr(first, '/') : NULL;
	if (base && !strcmp(base, "/env")) {
		*by_env = true;
		first = strtok_r(NULL, " \t", &rest);
	}
	return first && snprintf(word, size, "%s", first) < (int)size;
}

st_status
st_program_image(const char *name, char *path, size_t size, bool *by_env, struct st_error *e)
{
	enum { MOST_SCRIPTS = 4 }; /* as the kernel has it */
	char real[PATH_MAX], word[256];
	*by_env = false;
	if (st_program_find(name, path, size, e))
		return ST_FAILED;
	for (int i = 0; i < MOST_SCRIPTS && interpreter_of(path, word, sizeof word, by_env); i++)
		if (st_program_find(word, path, size, e))
			return ST_FAILED;
	if (realpath(path, real) && strlen(real) < size)
		memcpy(path, real, strlen(real) + 1);
	return ST_OK;
}
