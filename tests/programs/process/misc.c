/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a process can ask about itself and set: name, parent-death signal, working directory, umask,
 * resource use, limits, affinity, personality, identity; nobody traces it and it has one thread, as
 * far as it can see.
 */
/* strobe-test: stress=blocks,lookup */
#include "check.h"
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>

static long
status_field(const char *name)
{
	char line[256];
	long value = -1;
	FILE *f = fopen("/proc/self/status", "r");

	CHECK(f, "status");
	while (fgets(line, sizeof line, f))
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':')
			value = strtol(line + strlen(name) + 1, NULL, 10);
	fclose(f);
	return value;
}

static void
names(void)
{
	char name[17] = "", text[32] = "";

	CHECK(!prctl(PR_SET_NAME, "a new name") && !prctl(PR_GET_NAME, name) &&
	              !strcmp(name, "a new name"),
	      "name %s", name);
	FILE *f = fopen("/proc/self/comm", "r");
	CHECK(f && fgets(text, sizeof text, f) && !strcmp(text, "a new name\n"), "comm %s", text);
	fclose(f);
	int sig = -1;
	CHECK(!prctl(PR_GET_PDEATHSIG, &sig) && sig == 0, "parent-death signal %d from the start",
	      sig);
	CHECK(!prctl(PR_SET_PDEATHSIG, SIGUSR1) && !prctl(PR_GET_PDEATHSIG, &sig) && sig == SIGUSR1,
	      "PDEATHSIG");
	CHECK(!prctl(PR_SET_PDEATHSIG, 0), "PDEATHSIG");
	CHECK_EQ(prctl(PR_GET_DUMPABLE), 1);
	CHECK_EQ(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0);
	CHECK_EQ(prctl(PR_GET_SECCOMP), 0);
}

static void
alone(void)
{
	DIR *d = opendir("/proc/self/task");
	struct dirent *e;
	int threads = 0;

	CHECK(d, "task");
	while ((e = readdir(d)))
		threads += *e->d_name != '.';
	closedir(d);
	CHECK_EQ(threads, 1);
	CHECK_EQ(status_field("Threads"), 1);
	CHECK_EQ(status_field("TracerPid"), 0);
	CHECK_EQ(status_field("Seccomp"), 0);
	CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1);
	CHECK_EQ(errno, ECHILD);
}

static void
surroundings(void)
{
	char before[4096], after[4096];
	struct utsname u;
	cpu_set_t cpus;

	CHECK(getcwd(before, sizeof before) && !chdir("/usr") && getcwd(after, sizeof after) &&
	              !strcmp(after, "/usr"),
	      "cwd");
	CHECK(!chdir(before), "chdir");
	mode_t mask = umask(027);
	CHECK_EQ(umask(mask), 027);
	CHECK(!uname(&u) && !strcmp(u.machine, "x86_64"), "machine %s", u.machine);
	CHECK(!sched_getaffinity(0, sizeof cpus, &cpus), "affinity");
	printf("may run on %d CPUs\n", CPU_COUNT(&cpus));
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (CPU_ISSET(0, &cpus)) {
		CHECK(!sched_setaffinity(0, sizeof one, &one) && sched_getcpu() == 0,
		      "setaffinity");
		CHECK(!sched_setaffinity(0, sizeof cpus, &cpus), "setaffinity");
	}
	CHECK_EQ(personality(0xffffffff) & ~ADDR_NO_RANDOMIZE, 0);
}

static void
resources(void)
{
	struct rusage use;
	struct rlimit limit, again;
	char a[16] = {0}, b[16] = {0};

	CHECK(!getrusage(RUSAGE_SELF, &use) && use.ru_maxrss > 100, "rusage");
	CHECK(!getrlimit(RLIMIT_CORE, &limit) && !setrlimit(RLIMIT_CORE, &limit), "limit");
	limit.rlim_cur = limit.rlim_max = 12345;
	CHECK(!prlimit(0, RLIMIT_FSIZE, &limit, NULL) && !getrlimit(RLIMIT_FSIZE, &again) &&
	              again.rlim_cur == 12345,
	      "prlimit");
	CHECK(getrandom(a, 16, 0) == 16 && getrandom(b, 16, 0) == 16 && memcmp(a, b, 16),
	      "getrandom");
	CHECK_EQ(syscall(SYS_gettid), getpid());
	CHECK(!kill(getpid(), 0) && !syscall(SYS_tgkill, getpid(), gettid(), 0), "kill 0");
	CHECK_EQ(syscall(SYS_membarrier, 0, 0, 0) >= 0, 1);
}

int
main(void)
{
	alone();
	names();
	surroundings();
	resources();
	puts("the process is as it should be");
	return 0;
}
