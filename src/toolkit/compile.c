/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiling a tool outside of Strobe's own tree, with the flags that the runtime's code needs. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/program.h"
#include "base/regular.h"
#include "toolkit/compile.h"

/* Code that runs between two instructions of the program: it may use the general registers only,
 * and finds no C library. The linker keeps code and data in pages of their own. _LIBC_LIMITS_H_:
 * gcc's <limits.h> asks for the C library's without it. */
static const char *const flags[] = {"-x",
                                    "c",
                                    "-std=gnu17",
                                    "-O2",
                                    "-g",
                                    "-ffreestanding",
                                    "-fPIC",
                                    "-fno-plt",
                                    "-fvisibility=hidden",
                                    "-mgeneral-regs-only",
                                    "-mno-red-zone",
                                    "-fno-stack-protector",
                                    "-fno-asynchronous-unwind-tables",
                                    "-fcf-protection=none",
                                    "-fno-common",
                                    "-Wall",
                                    "-Wextra",
                                    "-Werror=incompatible-pointer-types",
                                    "-Werror=implicit-function-declaration",
                                    "-Werror=int-conversion",
                                    "-Werror=return-type",
                                    "-D_LIBC_LIMITS_H_",
                                    "-shared",
                                    "-nostdlib",
                                    "-Wl,-z,norelro",
                                    "-Wl,-z,noexecstack",
                                    "-Wl,-z,max-page-size=4096",
                                    "-Wl,-z,separate-code",
                                    "-Wl,-z,now",
                                    "-Wl,--build-id=none",
                                    "-Wl,--hash-style=sysv",
                                    "-Wl,-Bsymbolic"};
enum { N_FLAGS = sizeof flags / sizeof *flags, MOST_ARGUMENTS = 128 };

struct arguments {
	const char *list[MOST_ARGUMENTS];
	size_t n;
};

static void
compile_add(struct arguments *a, const char *text)
{
	if (a->n < MOST_ARGUMENTS - 1)
		a->list[a->n++] = text;
}

static bool
in_path(const char *name)
{
	char path[4096];
	return !st_path_find(name, path, sizeof path);
}

/* $CC, which may have arguments; else what there is. text: where its words are kept. */
static st_status
add_compiler(struct arguments *a, char **text, struct st_error *e)
{
	const char *chosen = getenv("CC");
	char *rest = NULL;
	if (!chosen || !*chosen)
		chosen = in_path("gcc") ? "gcc" : in_path("clang") ? "clang" : NULL;
	if (!chosen)
		return st_fail(e, ST_EXIT_USAGE,
		               "no C compiler: install gcc or clang, or name one in CC");
	*text = strdup(chosen);
	for (char *word = strtok_r(*text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		compile_add(a, word);
	return a->n ? 0 : st_fail(e, ST_EXIT_USAGE, "CC names no compiler");
}

/* Runs it; out: a descriptor for its standard output, or -1. Its exit code; -1: not started. */
static int
run(const struct arguments *a, int out)
{
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		if (out >= 0)
			dup2(out, STDOUT_FILENO);
		execvp(a->list[0], (char *const *)a->list);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) != pid)
		if (errno != EINTR)
			return -1;
	if (pid < 0)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* The compiler's own headers: those of a freestanding C. */
static st_status
own_headers(const struct arguments *compiler, char *path, size_t size, struct st_error *e)
{
	struct arguments a = *compiler;
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot make a pipe: %s", strerror(errno));
	compile_add(&a, "-print-file-name=include");
	int code = run(&a, ends[1]);
	close(ends[1]);
	ssize_t n = read(ends[0], path, size - 1);
	close(ends[0]);
	if (code == 127)
		return st_fail(e, ST_EXIT_USAGE, "cannot run the compiler %s", a.list[0]);
	if (code || n <= 0)
		return st_fail(e, ST_EXIT_USAGE,
		               "the compiler %s does not say where its headers "
		               "are; set CC to gcc or clang",
		               a.list[0]);
	path[n] = 0;
	path[strcspn(path, "\n")] = 0;
	return 0;
}

/* A build folder has a file that says where the headers are that it was built with. */
static bool
headers_of_build(const char *folder, char *path, size_t size)
{
	char name[4096];
	snprintf(name, sizeof name, "%s/include-folder", folder);
	FILE *f = st_fopen_regular(name);
	const bool read = f && fgets(path, (int)size, f);
	if (f)
		fclose(f);
	if (read)
		path[strcspn(path, "\n")] = '\0';
	return read;
}

/* The header that belongs to this strobe: that of the build folder which it lies in, else
 * PREFIX/include beside PREFIX/bin. */
static st_status
tool_header(const struct st_tool_build *b, char *path, size_t size, struct st_error *e)
{
	char exe[4000], probe[4096];
	for (size_t i = 0; b->include[i]; i++) {
		snprintf(probe, sizeof probe, "%s/strobe/tool.h", b->include[i]);
		if (access(probe, R_OK) == 0) {
			*path = 0;
			return 0;
		}
	}
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	exe[n > 0 ? n : 0] = 0;
	char *slash = strrchr(exe, '/');
	if (slash)
		*slash = 0;
	if (!headers_of_build(exe, path, size))
		snprintf(path, size, "%s/../include", exe);
	snprintf(probe, sizeof probe, "%s/strobe/tool.h", path);
	if (access(probe, R_OK) == 0)
		return 0;
	return st_fail(e, ST_EXIT_USAGE, "cannot find strobe/tool.h at %s; say where it is with -I",
	               probe);
}

static st_status
compile(const struct st_tool_build *b, struct arguments *a, struct st_error *e)
{
	char headers[4096], tool[4096];
	if (own_headers(a, headers, sizeof headers, e) || tool_header(b, tool, sizeof tool, e))
		return -1;
	for (size_t i = 0; i < N_FLAGS; i++)
		compile_add(a, flags[i]);
	compile_add(a, "-nostdinc");
	for (size_t i = 0; b->include[i]; i++) {
		compile_add(a, "-I");
		compile_add(a, b->include[i]);
	}
	if (*tool) {
		compile_add(a, "-I");
		compile_add(a, tool);
	}
	compile_add(a, "-isystem");
	compile_add(a, headers);
	compile_add(a, "-o");
	compile_add(a, b->output);
	compile_add(a, b->source);
	if (a->n >= MOST_ARGUMENTS - 1)
		return st_fail(e, ST_EXIT_USAGE, "too many arguments for the compiler");
	int code = run(a, -1);
	if (code < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot start the compiler: %s", strerror(errno));
	if (code)
		return st_fail(e, ST_EXIT_USAGE, "%s does not compile (%s ended with %d)",
		               b->source, a->list[0], code);
	return 0;
}

st_status
st_tool_compile(const struct st_tool_build *b, struct st_error *e)
{
	struct arguments a = {.n = 0};
	char *words = NULL;
	int status = add_compiler(&a, &words, e) || compile(b, &a, e) ? -1 : 0;
	free(words);
	return status;
}
