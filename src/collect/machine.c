/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is worth knowing about the machine and the environment when two profiles are compared. */
#include "collect/collect.h"

#include <cpuid.h>
#include <limits.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "profile/version.h"

/* Variables that change how programs run; others may hold secrets and stay out of the file. */
static const char *const kept_variables[] = {"PATH",
                                             "LANG",
                                             "LC_ALL",
                                             "LD_LIBRARY_PATH",
                                             "LD_PRELOAD",
                                             "LD_BIND_NOW",
                                             "GLIBC_TUNABLES",
                                             "MALLOC_ARENA_MAX",
                                             "OMP_NUM_THREADS",
                                             "PYTHONHASHSEED",
                                             "NODE_OPTIONS",
                                             "JAVA_TOOL_OPTIONS"};

/* The brand string by cpuid: /proc/cpuinfo takes milliseconds on machines with many cores. */
static void
read_brand(char brand[49])
{
	unsigned int words[12] = {0}, max = __get_cpuid_max(0x80000000u, NULL);
	if (max >= 0x80000004u)
		for (unsigned int i = 0; i < 3; i++)
			__cpuid(0x80000002u + i, words[i * 4], words[i * 4 + 1], words[i * 4 + 2],
			        words[i * 4 + 3]);
	memcpy(brand, words, 48);
	brand[48] = '\0';
	for (size_t n = strlen(brand); n > 0 && brand[n - 1] == ' '; n--)
		brand[n - 1] = '\0';
}

static void
keep_environment(struct st_profile *p)
{
	for (size_t i = 0; i < sizeof kept_variables / sizeof *kept_variables; i++) {
		const char *value = getenv(kept_variables[i]);
		if (!value)
			continue;
		const char **slot = ST_PUSH(&p->run.environment);
		if (slot)
			*slot = st_profile_textf(p, "%s=%s", kept_variables[i], value);
		else
			p->out_of_memory = true;
	}
}

void
st_collect_machine(struct st_profile *p)
{
	struct st_profile_run *r = &p->run;
	struct utsname names = {0};
	char cwd[PATH_MAX], brand[49];
	cpu_set_t set;
	r->strobe_version = ST_VERSION;
	uname(&names);
	r->host = st_profile_text(p, names.nodename);
	r->machine = st_profile_text(p, names.machine);
	r->kernel = st_profile_textf(p, "%s %s", names.sysname, names.release);
	read_brand(brand);
	r->cpu = st_profile_text(p, brand);
	r->cwd = st_profile_text(p, getcwd(cwd, sizeof cwd) ? cwd : "");
	r->cores = sched_getaffinity(0, sizeof set, &set) ? 0 : CPU_COUNT(&set);
	keep_environment(p);
}
