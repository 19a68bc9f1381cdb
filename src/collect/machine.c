/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Properties of the machine and the environment that matter when two profiles are compared. */
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

/* The first line of a file of the kernel; false: there is none, as in many virtual machines. */
static bool
read_fact(const char *path, char *line, int size)
{
	FILE *f = fopen(path, "re");
	bool read = f && fgets(line, size, f);
	if (f)
		fclose(f);
	if (read)
		line[strcspn(line, "\n")] = '\0';
	return read && *line;
}

static void
add_fact_of_file(struct st_profile *p, const char *name, const char *path)
{
	char line[64];
	if (read_fact(path, line, sizeof line))
		st_profile_add_fact(p, name, line);
}

/* The name of the hypervisor by CPUID, such as "KVMKVMKVM"; "none" on bare hardware. */
static void
add_virtualisation(struct st_profile *p)
{
	enum { HYPERVISOR_LEAF = 0x40000000 };
	static const unsigned hypervisor_bit = 1u << 31;
	unsigned int a, b, c, d, name[4] = {0};
	__cpuid(1, a, b, c, d);
	(void)a, (void)b, (void)d;
	if (!(c & hypervisor_bit)) {
		st_profile_add_fact(p, "virtualisation", "none");
		return;
	}
	__cpuid(HYPERVISOR_LEAF, a, name[0], name[1], name[2]);
	char *text = (char *)name;
	for (size_t n = strlen(text); n && text[n - 1] == ' '; n--)
		text[n - 1] = '\0';
	st_profile_add_fact(p, "virtualisation", *text ? text : "unknown");
}

/* In steps of 256 MiB: what the kernel keeps for itself differs a little at each boot. */
static void
add_memory_fact(struct st_profile *p)
{
	enum { STEP = 256 << 20 };
	uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	const unsigned long long mib = (bytes + STEP / 2) / STEP * 256;
	st_profile_add_fact(p, "memory", st_profile_textf(p, "%llu MiB", mib));
}

/* Properties of the machine that change speed. */
static void
add_facts(struct st_profile *p)
{
	static const char cpu[] = "/sys/devices/system/cpu/";
	char path[96];
	add_memory_fact(p);
	snprintf(path, sizeof path, "%scpu0/cpufreq/scaling_governor", cpu);
	add_fact_of_file(p, "governor", path);
	snprintf(path, sizeof path, "%scpufreq/boost", cpu);
	add_fact_of_file(p, "turbo", path);
	snprintf(path, sizeof path, "%sintel_pstate/no_turbo", cpu);
	add_fact_of_file(p, "no_turbo", path);
	add_fact_of_file(p, "aslr", "/proc/sys/kernel/randomize_va_space");
	add_virtualisation(p);
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
	add_facts(p);
	keep_environment(p);
}
