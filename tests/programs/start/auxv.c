/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the kernel tells a program at its start: auxiliary vector, /proc/self/exe, command line,
 * name, environment.
 */
/* strobe-test: args="alpha beta" env="STROBE_TEST_VALUE=42" stress=none */
#include "check.h"
#include <elf.h>
#include <limits.h>
#include <sys/auxv.h>

extern const Elf64_Ehdr __ehdr_start;
extern char _start[];

static size_t
slurp(const char *path, char *buffer, size_t size)
{
	FILE *f = fopen(path, "r");
	CHECK(f, "cannot open %s", path);
	size_t n = fread(buffer, 1, size, f);
	fclose(f);
	return n;
}

static void
check_aux(void)
{
	CHECK_EQ(getauxval(AT_ENTRY), (uintptr_t)_start);
	CHECK_EQ(getauxval(AT_PHDR), (uintptr_t)&__ehdr_start + __ehdr_start.e_phoff);
	CHECK_EQ(getauxval(AT_PHNUM), __ehdr_start.e_phnum);
	CHECK_EQ(getauxval(AT_PHENT), sizeof(Elf64_Phdr));
	CHECK_EQ(getauxval(AT_PAGESZ), 4096);
	CHECK_EQ(getauxval(AT_SECURE), 0);
	CHECK_EQ(getauxval(AT_UID), getuid());
	CHECK(getauxval(AT_RANDOM) != 0, "no AT_RANDOM");
	const Elf64_Ehdr *vdso = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	CHECK(vdso && !memcmp(vdso->e_ident, ELFMAG, SELFMAG), "AT_SYSINFO_EHDR is no ELF image");
}

static void
check_names(char **argv)
{
	char exe[PATH_MAX + 1] = "", self[PATH_MAX], name[32] = "", line[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", exe, PATH_MAX);
	CHECK(n > 0 && realpath(argv[0], self), "cannot resolve own path");
	CHECK(!strcmp(exe, self), "/proc/self/exe is %s, should be %s", exe, self);
	const char *execfn = (const char *)getauxval(AT_EXECFN);
	CHECK(execfn && realpath(execfn, self) && !strcmp(exe, self), "AT_EXECFN is %s", execfn);

	const char *base = strrchr(self, '/') + 1;
	size_t got = slurp("/proc/self/comm", name, sizeof name - 1);
	CHECK(got > 1 && !strncmp(name, base, got - 1 < 15 ? got - 1 : 15), "comm is %s", name);
	got = slurp("/proc/self/cmdline", line, sizeof line);
	char *p = line;
	for (int i = 0; argv[i]; p += strlen(p) + 1, i++)
		CHECK(p < line + got && !strcmp(p, argv[i]), "cmdline argument %d is %s", i, p);
	CHECK_EQ(p - line, got);
}

static void
check_environment(char **argv, char **envp)
{
	char raw[1 << 16];
	size_t got = slurp("/proc/self/environ", raw, sizeof raw), used = 0;
	const char *value = getenv("STROBE_TEST_VALUE");
	CHECK(value && !strcmp(value, "42"), "STROBE_TEST_VALUE is %s", value ? value : "unset");
	for (int i = 0; envp[i]; i++) {
		CHECK(used < got && !strcmp(raw + used, envp[i]), "environment string %d differs",
		      i);
		used += strlen(envp[i]) + 1;
	}
	CHECK_EQ(used, got);
	/* The initial stack: argc argv 0 envp 0 auxv, without a gap. */
	int argc = 0;
	while (argv[argc])
		argc++;
	CHECK(envp == argv + argc + 1, "environment does not follow the arguments");
	CHECK_EQ(((long *)argv)[-1], argc);
	CHECK_EQ((uintptr_t)(argv - 1) % 16, 0);
	for (int i = 0; envp[i]; i++)
		CHECK(strncmp(envp[i], "LD_PRELOAD=", 11) && strncmp(envp[i], "STROBE_RT", 9),
		      "unexpected %s in the environment", envp[i]);
}

int
main(int argc, char **argv, char **envp)
{
	CHECK_EQ(argc, 3);
	check_aux();
	check_names(argv);
	check_environment(argv, envp);
	puts("auxv, names, command line and environment are right");
	return 0;
}
