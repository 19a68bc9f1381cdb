/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a running process can be attached; if not, why, in one sentence. */
#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "control/attach.h"
#include "control/internal.h"

/* A file of /proc/PID as text; "" when it cannot be read. */
static void
read_proc(pid_t pid, const char *name, char *text, size_t size)
{
	char path[96];
	snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, size - 1) : 0;
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
}

/* The value of a line "Name:\t..." of /proc/PID/status, or "". */
static const char *
status_field(const char *status, const char *name)
{
	size_t n = strlen(name);
	for (const char *line = status; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, n) == 0 && line[n] == ':') {
			line += n + 1;
			while (*line == '\t' || *line == ' ')
				line++;
			return line;
		}
	}
	return "";
}

void
st_process_name(pid_t pid, char *name, size_t size)
{
	read_proc(pid, "comm", name, size);
	name[strcspn(name, "\n")] = 0;
	for (char *c = name; *c; c++)
		if (!isprint((unsigned char)*c))
			*c = '?';
}

static st_status
refuse(struct st_error *e, pid_t pid, const char *why)
{
	char name[64];
	st_process_name(pid, name, sizeof name);
	return st_fail(e, ST_EXIT_NOT_EXECUTABLE, "cannot attach process %d (%s): %s", pid, name,
	               why);
}

static bool
is_kernel_thread(pid_t pid)
{
	enum { PF_KTHREAD = 0x00200000 };
	char stat[1024];
	unsigned flags = 0;
	read_proc(pid, "stat", stat, sizeof stat);
	const char *end = strrchr(stat, ')');
	return end && sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) == 1 &&
	       (flags & PF_KTHREAD);
}

static bool
is_elf32(pid_t pid)
{
	char path[64];
	unsigned char head[5] = {0};
	snprintf(path, sizeof path, "/proc/%d/exe", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, head, sizeof head) : 0;
	if (fd >= 0)
		close(fd);
	return n == sizeof head && memcmp(head, ELFMAG, SELFMAG) == 0 && head[4] == ELFCLASS32;
}

/* Is it in another namespace than we are? */
static bool
is_elsewhere(pid_t pid, const char *namespace)
{
	char path[64];
	struct stat own, its;
	snprintf(path, sizeof path, "/proc/self/ns/%s", namespace);
	if (stat(path, &own) != 0)
		return false;
	snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, namespace);
	return stat(path, &its) == 0 && its.st_ino != own.st_ino;
}

/* The runtime reads /proc/self/maps. */
static bool
sees_itself(pid_t pid)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/root/proc/%d/maps", pid, pid);
	return access(path, F_OK) == 0;
}

/* Results in which a runtime is at work: a controller that was killed while it attached leaves some
 * in which none ever was. */
static bool
is_at_work(pid_t pid, unsigned long long results)
{
	struct st_results_header h;
	struct iovec here = {&h, sizeof h}, there = {(void *)results, sizeof h};
	return process_vm_readv(pid, &here, 1, &there, 1, 0) == sizeof h &&
	       h.layout.magic == ST_RESULTS_MAGIC &&
	       (h.run.state == ST_RUN_CACHE || h.run.state == ST_RUN_NATIVE);
}

static bool
has_ended(pid_t tid)
{
	char stat[1024];
	read_proc(tid, "stat", stat, sizeof stat);
	const char *end = strrchr(stat, ')');
	return !end || end[2] == 'Z' || end[2] == 'X';
}

pid_t
st_live_thread(pid_t pid)
{
	char path[64];
	pid_t live = 0;
	if (!has_ended(pid))
		return pid;
	snprintf(path, sizeof path, "/proc/%d/task", pid);
	DIR *d = opendir(path);
	for (struct dirent *entry; d && !live && (entry = readdir(d));) {
		pid_t tid = (pid_t)atoi(entry->d_name);
		if (tid > 0 && !has_ended(tid))
			live = tid;
	}
	if (d)
		closedir(d);
	return live;
}

/* A mapping of ours with these permissions, for which test is true; test may be NULL. */
static bool
has_mapping(pid_t pid, const char *perms, bool (*test)(pid_t pid, unsigned long long start))
{
	char path[64], line[512];
	bool found = false;
	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	FILE *f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof line, f))
		found = strstr(line, perms) && strstr(line, "/memfd:strobe (deleted)") &&
		        (!test || test(pid, strtoull(line, NULL, 16)));
	if (f)
		fclose(f);
	return found;
}

/* The device and the number of the file of results that the process maps, as in /proc/PID/maps:
 * "00:01 2057". False: there are none. */
static bool
results_file(pid_t pid, char *file, size_t size)
{
	char path[64], line[512];
	unsigned long long start;
	int from = 0, to = 0;
	bool found = false;
	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	FILE *f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof line, f))
		found = strstr(line, " rw-s ") && strstr(line, "/memfd:strobe (deleted)") &&
		        sscanf(line, "%llx-%*s %*s %*s %n%*s %*s%n", &start, &from, &to) == 1 &&
		        to > from && is_at_work(pid, start);
	if (f)
		fclose(f);
	if (found)
		snprintf(file, size, " %.*s ", to - from, line + from);
	return found;
}

static bool
maps_file(pid_t pid, const char *file)
{
	char path[64], line[512];
	bool found = false;
	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	FILE *f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof line, f))
		found = strstr(line, file) != NULL;
	if (f)
		fclose(f);
	return found;
}

/* The strobe that has mapped the results of the process, the one that was started and not its
 * child. 0: it is not known. */
static pid_t
strobe_of(pid_t pid)
{
	char file[128], name[64];
	pid_t strobe = 0;
	DIR *d = results_file(pid, file, sizeof file) ? opendir("/proc") : NULL;
	for (struct dirent *entry; d && (entry = readdir(d));) {
		const pid_t other = (pid_t)atoi(entry->d_name);
		if (other <= 0 || other == pid || (strobe && other > strobe))
			continue;
		st_process_name(other, name, sizeof name);
		if (!strcmp(name, "strobe") && maps_file(other, file))
			strobe = other;
	}
	if (d)
		closedir(d);
	return strobe;
}

static st_status
refuse_second(pid_t pid, pid_t live, struct st_error *e)
{
	char text[128];
	const pid_t strobe = strobe_of(live);
	if (!strobe)
		return refuse(e, pid, "it is under strobe already");
	snprintf(text, sizeof text, "it is under strobe already, process %d: end that one first",
	         strobe);
	return refuse(e, pid, text);
}

bool
st_has_leftovers(pid_t pid)
{
	return has_mapping(st_live_thread(pid), " r-xp ", NULL);
}

bool
st_has_further_filters(pid_t pid)
{
	char status[8192], own[8192];
	read_proc(pid, "status", status, sizeof status);
	read_proc(getpid(), "status", own, sizeof own);
	return atoi(status_field(status, "Seccomp_filters")) >
	       atoi(status_field(own, "Seccomp_filters"));
}

bool
st_is_filtered(pid_t pid)
{
	char status[8192];
	read_proc(pid, "status", status, sizeof status);
	return atoi(status_field(status, "Seccomp")) != 0;
}

static st_status
check_state(pid_t pid, const char *status, struct st_error *e)
{
	char text[200];
	pid_t tgid = (pid_t)atoi(status_field(status, "Tgid"));
	pid_t tracer = (pid_t)atoi(status_field(status, "TracerPid"));
	char state = *status_field(status, "State");
	if (is_kernel_thread(pid))
		return refuse(e, pid, "it is a thread of the kernel");
	if (tgid != pid) {
		snprintf(text, sizeof text, "it is a thread of process %d; attach that", tgid);
		return refuse(e, pid, text);
	}
	if (!st_live_thread(pid))
		return refuse(e, pid, "it has ended already");
	if (tracer) {
		char name[64];
		st_process_name(tracer, name, sizeof name);
		snprintf(text, sizeof text, "it is traced already, by process %d (%s)", tracer,
		         name);
		return refuse(e, pid, text);
	}
	if (state == 'T') {
		snprintf(text, sizeof text, "it is stopped; continue it first (kill -CONT %d)",
		         pid);
		return refuse(e, pid, text);
	}
	return 0;
}

static st_status
check_kind(pid_t pid, pid_t live, const char *status, struct st_error *e)
{
	if (is_elf32(live))
		return refuse(e, pid, "it is a 32-bit program; strobe knows 64-bit x86 only");
	if (is_elsewhere(live, "pid"))
		return refuse(e, pid,
		              "it is in a container (another pid namespace); run strobe inside of "
		              "it");
	if (is_elsewhere(live, "mnt") && !sees_itself(live))
		return refuse(e, pid,
		              "it is in a container (another mount namespace) without a /proc of "
		              "its own");
	if (atoi(status_field(status, "Seccomp")) != 0)
		return refuse(e, pid,
		              "it runs under a seccomp filter, which may forbid what strobe's "
		              "engine needs; start it with strobe run");
	if (strstr(status_field(status, "x86_Thread_features"), "shstk"))
		return refuse(e, pid, "it uses a shadow stack");
	if (has_mapping(live, " rw-s ", is_at_work))
		return refuse_second(pid, live, e);
	return 0;
}

/* Another process that shares its memory, as a vfork's child does. */
static pid_t
sharer(pid_t pid)
{
	char path[64], text[4096];
	snprintf(path, sizeof path, "task/%d/children", pid);
	read_proc(pid, path, text, sizeof text); /* of this thread */
	for (char *at = text, *end; *at; at = end) {
		long child = strtol(at, &end, 10);
		if (end == at)
			break;
		if (syscall(SYS_kcmp, pid, child, KCMP_VM, 0, 0) == 0)
			return (pid_t)child;
	}
	read_proc(pid, "stat", text, sizeof text);
	const char *name_end = strrchr(text, ')');
	int parent = 0;
	if (name_end && sscanf(name_end + 1, " %*c %d", &parent) == 1 && parent > 0 &&
	    syscall(SYS_kcmp, pid, parent, KCMP_VM, 0, 0) == 0)
		return parent;
	return 0;
}

st_status
st_attach_check(pid_t pid, struct st_error *e)
{
	char status[8192], text[100];
	read_proc(pid, "status", status, sizeof status);
	if (!*status)
		return st_fail(e, ST_EXIT_NOT_FOUND, "there is no process %d", pid);
	if (pid == getpid())
		return refuse(e, pid, "strobe cannot attach itself");
	if (check_state(pid, status, e) != 0)
		return -1;
	pid_t live = st_live_thread(pid);
	read_proc(live, "status", status, sizeof status);
	uid_t uid = (uid_t)atoi(status_field(status, "Uid"));
	if (geteuid() != 0 && uid != geteuid()) {
		const struct passwd *who = getpwuid(uid);
		snprintf(text, sizeof text,
		         "it belongs to user %.40s; run strobe as that user or "
		         "as root",
		         who ? who->pw_name : "unknown");
		return refuse(e, pid, text);
	}
	if (check_kind(pid, live, status, e) != 0)
		return -1;
	pid_t other = sharer(live);
	if (other) {
		snprintf(text, sizeof text, "it shares its memory with process %d", other);
		return refuse(e, pid, text);
	}
	return 0;
}
