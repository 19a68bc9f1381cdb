/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The doctor on machines that are not this one: trees of files in place of /proc and /sys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/doctor.h"
#include "job/disturbance.h"

static char root[] = "/tmp/strobe-doctor-XXXXXX";

static void
put(const char *path, const char *text)
{
	char full[512];
	snprintf(full, sizeof full, "%s%s", root, path);
	for (char *slash = strchr(full + strlen(root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0777);
		*slash = '/';
	}
	FILE *f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int
clear(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof command, "rm -rf %s && mkdir %s", root, root);
	return system(command);
}

static void
version_1_quota(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "9:name=systemd:/\n4:memory:/a/b\n1:cpu,cpuacct:/a/b\n");
	put("/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1\n");
	put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "150000\n");
	put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
	put("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
	assert_float_equal(st_cgroup_cpus(root), 1.5, 1e-9);
	assert_int_equal(st_cgroup_memory(root), 0);
	put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
	assert_int_equal(st_cgroup_memory(root), 1 << 30);
}

static void
version_2_quota(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "0::/user.slice/app\n");
	put("/sys/fs/cgroup/user.slice/app/cpu.max", "max 100000\n");
	put("/sys/fs/cgroup/user.slice/cpu.max", "50000 100000\n");
	put("/sys/fs/cgroup/user.slice/app/memory.max", "max\n");
	put("/sys/fs/cgroup/memory.max", "67108864\n");
	assert_float_equal(st_cgroup_cpus(root), 0.5, 1e-9);
	assert_int_equal(st_cgroup_memory(root), 64 << 20);
	struct st_finding f = {0};
	st_check_cores(root, &f);
	assert_int_equal(f.health, ST_HEALTH_LIMITED);
	assert_non_null(strstr(f.found, "control group allows 0.50"));
	assert_non_null(f.fix);
	st_check_memory(root, &f);
	assert_int_equal(f.health, ST_HEALTH_LIMITED);
}

static void
no_groups_no_limits(void **state)
{
	(void)state;
	assert_float_equal(st_cgroup_cpus(root), 0, 0);
	assert_int_equal(st_cgroup_memory(root), 0);
	put("/proc/self/cgroup", "garbage\n::\n0:\n");
	assert_float_equal(st_cgroup_cpus(root), 0, 0);
}

static void
old_kernels_are_refused(void **state)
{
	(void)state;
	struct st_finding f = {0};
	put("/proc/sys/kernel/osrelease", "4.19.0-21-amd64\n");
	st_check_kernel(root, &f);
	assert_int_equal(f.health, ST_HEALTH_NO);
	put("/proc/sys/kernel/osrelease", "5.10.0-8-amd64\n");
	st_check_kernel(root, &f);
	assert_int_equal(f.health, ST_HEALTH_OK);
	assert_string_equal(f.found, "Linux 5.10.0-8-amd64");
}

static void
containers_and_filters_show(void **state)
{
	(void)state;
	struct st_finding f = {0};
	st_check_container(root, &f);
	assert_string_equal(f.found, "no sign of a container");
	put("/proc/self/cgroup", "0::/system.slice/docker-abcdef.scope\n");
	st_check_container(root, &f);
	assert_non_null(strstr(f.found, "docker"));
	put("/.dockerenv", "");
	st_check_container(root, &f);
	assert_string_equal(f.found, "in a container of Docker");
	put("/proc/self/status", "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n");
	st_check_seccomp(root, &f);
	assert_int_equal(f.health, ST_HEALTH_LIMITED);
	put("/proc/self/status", "Name:\tx\nSeccomp:\t0\n");
	f = (struct st_finding){0};
	st_check_seccomp(root, &f);
	assert_int_equal(f.health, ST_HEALTH_OK);
}

static void
disturbances_of_settings(void **state)
{
	struct st_finding f = {0};
	(void)state;
	st_benchmark_governor(root, &f);
	assert_int_equal(f.health, ST_HEALTH_OK);
	put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
	st_benchmark_governor(root, &f);
	assert_int_equal(f.health, ST_HEALTH_LIMITED);
	assert_string_equal(f.found, "frequency governor powersave");
	put("/sys/devices/system/cpu/cpufreq/boost", "1\n");
	st_benchmark_turbo(root, &f);
	assert_int_equal(f.health, ST_HEALTH_LIMITED);
	put("/sys/devices/system/cpu/cpufreq/boost", "0\n");
	st_benchmark_turbo(root, &f);
	assert_string_equal(f.found, "the clock stays at its nominal frequency");
	st_benchmark_siblings(root, &f);
	assert_string_equal(f.found, "not known which CPUs share a core");
	put("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,4\n");
	st_benchmark_siblings(root, &f);
	assert_string_equal(f.found, "1 CPUs share their core with another one");
	put("/proc/loadavg", "3.25 1 1 1/1 1\n");
	st_benchmark_load(root, &f);
	assert_int_equal(f.health, ST_HEALTH_LIMITED);
	assert_non_null(strstr(f.found, "last minute: 3.25, on"));
	put("/proc/sys/kernel/randomize_va_space", "0\n");
	st_benchmark_aslr(root, &f);
	assert_string_equal(f.found, "addresses are not randomised");
}

static void
disturbances_of_a_measurement(void **state)
{
	struct st_disturbance d = {.rounds = 9,
	                           .median = 100e-6,
	                           .median_low = 99e-6,
	                           .median_high = 101e-6,
	                           .tenth = 101e-6,
	                           .most = 150e-6,
	                           .away = 0.005,
	                           .load = {0.1, 0, 0.02}};
	struct st_finding f = {0};
	(void)state;
	st_benchmark_loop(&d, &f);
	assert_int_equal(f.health, ST_HEALTH_OK);
	assert_string_equal(f.found,
	                    "9 rounds of a fixed loop: median 100.0 us (95 %: 99.0 to 101.0), "
	                    "one in ten 1.0 % longer, the longest 50.0 %");
	st_benchmark_away(&d, &f);
	assert_int_equal(f.health, ST_HEALTH_OK);
	st_benchmark_others(&d, &f);
	assert_int_equal(f.health, ST_HEALTH_OK);
	d.tenth = 110e-6;
	d.away = 0.5;
	d.load.others = 1;
	d.load.stolen = 0.5;
	st_benchmark_loop(&d, &f);
	assert_int_equal(f.health, ST_HEALTH_LIMITED);
	st_benchmark_away(&d, &f);
	assert_string_equal(f.found, "the loop was without a CPU for 50.0 % of the time");
	st_benchmark_others(&d, &f);
	assert_string_equal(f.found, "other processes kept 1.00 (+- 0.02) CPUs busy during the "
	                             "measurement");
	st_benchmark_stolen(&d, &f);
	assert_int_equal(f.health, ST_HEALTH_LIMITED);
}

static void
limited_address_space_shows(void **state)
{
	(void)state;
	struct rlimit before, limit;
	struct st_finding f = {0};
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	limit = before;
	limit.rlim_cur = 4ull << 30;
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
	st_check_memory(root, &f);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
	assert_int_equal(f.health, ST_HEALTH_OK); /* a soft limit is the program's alone */
	/* A hard one cannot be taken back: a process of its own looks at it. */
	pid_t child = fork();
	if (child == 0) {
		limit.rlim_max = 4ull << 30;
		setrlimit(RLIMIT_AS, &limit);
		st_check_memory(root, &f);
		_exit(f.health == ST_HEALTH_NO &&
		                      !strcmp(f.found,
		                              "address space limited to 4096 MiB, a hard limit")
		              ? 0
		              : 1);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* Every line that is not ok says what follows; every check says what it found. */
static void
this_machine_gets_whole_answers(void **state)
{
	(void)state;
	static void (*const checks[])(const char *, struct st_finding *) = {
#define X(name, required) st_check_##name,
	        ST_CHECKS(X)
#undef X
	};
	for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
		struct st_finding f = {0};
		checks[i]("", &f);
		assert_true(strlen(f.found) > 0);
		if (f.health != ST_HEALTH_OK)
			assert_non_null(f.follows);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_teardown(version_1_quota, clear),
	        cmocka_unit_test_teardown(version_2_quota, clear),
	        cmocka_unit_test_teardown(no_groups_no_limits, clear),
	        cmocka_unit_test_teardown(old_kernels_are_refused, clear),
	        cmocka_unit_test_teardown(containers_and_filters_show, clear),
	        cmocka_unit_test_teardown(disturbances_of_settings, clear),
	        cmocka_unit_test(disturbances_of_a_measurement),
	        cmocka_unit_test(limited_address_space_shows),
	        cmocka_unit_test(this_machine_gets_whole_answers),
	};
	if (!mkdtemp(root))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	clear(NULL);
	return remove(root) || failed;
}
