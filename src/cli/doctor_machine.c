/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks of what makes results finer or coarser, and of the limits around a program. */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/doctor.h"

static int
try_perf(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
	                               .size = sizeof attr,
	                               .config = PERF_COUNT_SW_TASK_CLOCK,
	                               .sample_period = 1000000,
	                               .disabled = 1,
	                               .exclude_kernel = 1,
	                               .exclude_hv = 1};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

void
st_check_perf(const char *root, struct st_finding *f)
{
	int64_t paranoid = 0;
	char setting[64] = "no perf_event_paranoid";
	if (st_read_number(root, "/proc/sys/kernel/perf_event_paranoid", &paranoid))
		snprintf(setting, sizeof setting, "perf_event_paranoid %d", (int)paranoid);
	int error = try_perf();
	if (!error) {
		st_found(f, ST_HEALTH_OK, "task-clock events can be opened (%s)", setting);
		return;
	}
	st_found(f, ST_HEALTH_LIMITED, "no task-clock event: %s (%s)", strerror(error), setting);
	f->follows =
	        "samples can be no finer than the kernel's tick, 1 to 10 ms; counts stay exact";
	f->fix = "sysctl kernel.perf_event_paranoid=2; in a container, allow perf_event_open";
}

void
st_check_bpf(const char *root, struct st_finding *f)
{
	int64_t disabled = 0;
	char setting[64] = "no such setting";
	union bpf_attr attr = {
	        .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 1};
	if (st_read_number(root, "/proc/sys/kernel/unprivileged_bpf_disabled", &disabled))
		snprintf(setting, sizeof setting, "unprivileged_bpf_disabled %d", (int)disabled);
	long fd = syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof attr);
	if (fd >= 0) {
		close((int)fd);
		st_found(f, ST_HEALTH_OK, "maps can be made (%s)", setting);
		return;
	}
	st_found(f, ST_HEALTH_LIMITED, "no BPF: %s (%s)", strerror(errno), setting);
	f->follows = "nothing today: no tool of this version uses BPF";
	f->fix = "run as root, or with CAP_BPF and CAP_PERFMON";
}

void
st_check_cores(const char *root, struct st_finding *f)
{
	cpu_set_t set;
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	int usable = sched_getaffinity(0, sizeof set, &set) ? (int)online : CPU_COUNT(&set);
	double quota = st_cgroup_cpus(root);
	if (quota > 0 && quota < usable) {
		st_found(f, ST_HEALTH_LIMITED, "%d of %ld usable, control group allows %.2f",
		         usable, online, quota);
		f->follows = "threads are stopped when the quota is used up: elapsed time then "
		             "means little, but CPU time and counts are correct";
		f->fix = "raise cpu.max (v2) or cpu.cfs_quota_us (v1) of the control group";
		return;
	}
	st_found(f, usable > 1 ? ST_HEALTH_OK : ST_HEALTH_LIMITED, "%d of %ld usable, no quota",
	         usable, online);
	if (usable > 1)
		return;
	f->follows = "the program shares its core with strobe, and threads do not run in parallel";
	f->fix = "allow more CPUs (taskset, cpuset)";
}

void
st_check_memory(const char *root, struct st_finding *f)
{
	/* The engine reserves this much address space, most of it for results that are never used.
	 * A soft limit is lifted for it, and stays in force for the program. */
	const uint64_t reserved = 160ull << 30, needed = 128ull << 20;
	struct rlimit space;
	int64_t overcommit = 0;
	uint64_t group = st_cgroup_memory(root);
	if (!getrlimit(RLIMIT_AS, &space) && space.rlim_max < reserved) {
		st_found(f, ST_HEALTH_NO, "address space limited to %llu MiB, a hard limit",
		         (unsigned long long)space.rlim_max >> 20);
		f->follows = "there is no space for the tables of the engine, which are large but "
		             "mostly unused";
		f->fix = "start strobe without it, or with a soft limit only (ulimit -S -v)";
	} else if (st_read_number(root, "/proc/sys/vm/overcommit_memory", &overcommit) &&
	           overcommit == 2) {
		st_found(f, ST_HEALTH_LIMITED, "the kernel does not overcommit memory");
		f->follows = "the kernel counts the whole tables of the engine, although little of "
		             "them is used";
		f->fix = "sysctl vm.overcommit_memory=0";
	} else if (group && group < needed) {
		st_found(f, ST_HEALTH_LIMITED, "control group allows %llu MiB",
		         (unsigned long long)group >> 20);
		f->follows =
		        "the engine needs 16 MiB, and up to 8 bytes for each byte of program code";
		f->fix = "raise memory.max (v2) or memory.limit_in_bytes (v1) of the control group";
	} else if (group) {
		st_found(f, ST_HEALTH_OK, "control group allows %llu MiB",
		         (unsigned long long)group >> 20);
	} else {
		st_found(f, ST_HEALTH_OK, "no limit");
	}
}

void
st_check_seccomp(const char *root, struct st_finding *f)
{
	char status[8192];
	int mode = 0;
	const char *line = NULL;
	if (st_read_file(root, "/proc/self/status", status, sizeof status))
		line = strstr(status, "\nSeccomp:");
	if (line)
		sscanf(line, "\nSeccomp: %d", &mode);
	if (!mode) {
		st_found(f, ST_HEALTH_OK, "no filter on system calls");
		return;
	}
	st_found(f, ST_HEALTH_LIMITED, "system calls are filtered (mode %d)", mode);
	f->follows = "the lines above show what the filter allows";
	f->fix = "only if one of them says no: docker run --security-opt seccomp=unconfined";
}

void
st_check_container(const char *root, struct st_finding *f)
{
	static const char *const marks[][2] = {
	        {"/.dockerenv", "Docker"},
	        {"/run/.containerenv", "Podman"},
	        {"/var/run/secrets/kubernetes.io/serviceaccount/token", "Kubernetes"}};
	static const char *const words[] = {"docker", "kubepods", "lxc", "containerd"};
	char groups[4096];
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (st_read_file(root, marks[i][0], groups, sizeof groups)) {
			st_found(f, ST_HEALTH_OK, "in a container of %s", marks[i][1]);
			return;
		}
	if (st_read_file(root, "/proc/self/cgroup", groups, sizeof groups))
		for (size_t i = 0; i < sizeof words / sizeof *words; i++)
			if (strstr(groups, words[i])) {
				st_found(f, ST_HEALTH_OK,
				         "in a container, by its control group (%s)", words[i]);
				return;
			}
	st_found(f, ST_HEALTH_OK, "no sign of a container");
}

void
st_check_core_dumps(const char *root, struct st_finding *f)
{
	char pattern[128] = "unknown";
	struct rlimit core = {0};
	st_read_file(root, "/proc/sys/kernel/core_pattern", pattern, sizeof pattern);
	getrlimit(RLIMIT_CORE, &core);
	st_found(f, ST_HEALTH_OK, "core_pattern \"%s\", %s", pattern,
	         core.rlim_cur ? "core files allowed" : "core files of size 0 (ulimit -c)");
}
