/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests the reading of the state of the machine, from files that look like those of the kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "recording/machine.h"

static char root[] = "/tmp/strobe-machine-XXXXXX";

static void
write_file(const char *folders, const char *name, const char *text)
{
	char path[256], command[512];
	snprintf(command, sizeof command, "mkdir -p %s%s", root, folders);
	assert_int_equal(system(command), 0);
	snprintf(path, sizeof path, "%s%s/%s", root, folders, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static double
load_of(const struct st_machine *m)
{
	double load;
	memcpy(&load, &m->values[ST_MACHINE_LOAD], sizeof load);
	return load;
}

static int
make_root(void **state)
{
	(void)state;
	return mkdtemp(root) ? 0 : -1;
}

static int
remove_root(void **state)
{
	char command[256];
	(void)state;
	snprintf(command, sizeof command, "rm -r %s", root);
	return system(command);
}

static void
test_nothing_is_known(void **state)
{
	static struct st_machine m;
	(void)state;
	st_machine_read(&m, root, true);
	assert_int_equal(m.known, 0);
	assert_int_equal(m.cpus[0].khz, 0);
}

static void
test_values(void **state)
{
	static struct st_machine m;
	(void)state;
	write_file("/proc", "loadavg", "0.52 0.58 0.59 3/321 4711\n");
	write_file("/proc", "meminfo",
	           "MemTotal:       32777420 kB\nMemFree:        18207968 kB\n"
	           "MemAvailable:   23725732 kB\nBuffers:          123456 kB\n");
	write_file("/sys/devices/system/cpu/cpu0/cpufreq", "scaling_cur_freq", "2600000\n");
	st_machine_read(&m, root, true);
	assert_int_equal(m.known,
	                 1 << ST_MACHINE_RUNNABLE | 1 << ST_MACHINE_LOAD | 1 << ST_MACHINE_FREE);
	assert_int_equal(m.values[ST_MACHINE_RUNNABLE], 3);
	assert_true(load_of(&m) == 0.52);
	assert_int_equal(m.values[ST_MACHINE_FREE], 23725732ull * 1024);
	assert_int_equal(m.cpus[0].khz, 2600000);
	assert_int_equal(m.cpus[ST_MACHINE_CPUS - 1].khz, 0);
}

/* A frequency is read again only if a thread has asked for it since. */
static void
test_frequency_on_request(void **state)
{
	static struct st_machine m;
	(void)state;
	write_file("/sys/devices/system/cpu/cpu0/cpufreq", "scaling_cur_freq", "2600000\n");
	st_machine_read(&m, root, true);
	write_file("/sys/devices/system/cpu/cpu0/cpufreq", "scaling_cur_freq", "800000\n");
	st_machine_read(&m, root, false);
	assert_int_equal(m.cpus[0].khz, 2600000);
	m.cpus[0].used = 1;
	st_machine_read(&m, root, false);
	assert_int_equal(m.cpus[0].khz, 800000);
	assert_int_equal(m.cpus[0].used, 0);
}

static void
test_other_texts(void **state)
{
	static struct st_machine m;
	(void)state;
	write_file("/proc", "loadavg", "unknown\n");
	write_file("/proc", "meminfo", "MemTotal:       32777420 kB\n");
	write_file("/sys/devices/system/cpu/cpu0/cpufreq", "scaling_cur_freq", "<unknown>\n");
	st_machine_read(&m, root, true);
	assert_int_equal(m.known, 0);
	assert_int_equal(m.cpus[0].khz, 0);
}

static void
test_watch(void **state)
{
	static struct st_machine m;
	struct st_machine_watch w;
	(void)state;
	st_machine_watch_begin(&w, &m);
	st_machine_watch_end(&w);
	st_machine_watch_end(&w);
	assert_false(w.runs);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_nothing_is_known), cmocka_unit_test(test_values),
	        cmocka_unit_test(test_frequency_on_request), cmocka_unit_test(test_other_texts),
	        cmocka_unit_test(test_watch)};
	return cmocka_run_group_tests(tests, make_root, remove_root);
}
