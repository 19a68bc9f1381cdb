/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Follows the processes that share an area. A thread that is about to call execve reports it, and
 * waits. It is then traced until the call has failed, or until the new program has got probes
 * before its first instruction. A child of fork has its parent's probes.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "control/attach.h"
#include "control/internal.h"
#include "control/probe.h"
#include "control/supervisor.h"

struct becoming {
	pid_t tid, pid;
};

static void
leave_child_alone(struct st_probing *p, const char *why)
{
	if (!p->unfollowed++)
		p->unfollowed_why = strdup(why);
}

/* ---- stops ---- */

/* The next stop of the thread, which may get the number of its process meanwhile. -1: it has ended.
 */
static int
next_stop_of_becoming(struct becoming *b)
{
	int stop;
	for (;;) {
		const pid_t tids[] = {b->tid, b->pid};
		for (int i = 0; i < 2; i++) {
			siginfo_t seen = {0};
			const int what = WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL;
			if (waitid(P_PID, (id_t)tids[i], &seen, what) || seen.si_pid != tids[i])
				continue;
			b->tid = tids[i];
			return st_next_stop(b->tid, &stop) ? stop : -1;
		}
		if (kill(b->pid, 0) != 0)
			return -1;
		nanosleep(&(struct timespec){0, 200000}, NULL);
	}
}

/* Takes the thread's end, if it has ended, since its parent does not learn of it before. The end of
 * the program that strobe has started is left: st_probing_wait needs its status. */
static void
take_end(const struct becoming *b, pid_t program)
{
	if (b->tid != program)
		waitpid(b->tid, NULL, __WALL | WNOHANG);
}

static bool
probe_has_ended(const struct becoming *b)
{
	siginfo_t seen = {0};
	return !waitid(P_PID, (id_t)b->tid, &seen, WEXITED | WNOHANG | WNOWAIT | __WALL) &&
	       seen.si_pid == b->tid;
}

/* The signal that a stop is about; 0: it is about something else. */
static int
signal_of_stop(int stop)
{
	return stop >> 8 ? 0 : stop;
}

static bool
is_exec(uint64_t nr)
{
	return nr == SYS_execve || nr == SYS_execveat;
}

/* Would the kernel give the program other rights, if it were not traced? */
static bool
gains_rights(const struct becoming *b, uint64_t path_at)
{
	char path[4096] = "", full[4200];
	struct stat st;
	char mem[64];
	snprintf(mem, sizeof mem, "/proc/%d/mem", b->pid);
	const int fd = open(mem, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? 0 : pread(fd, path, sizeof path - 1, (off_t)path_at);
	if (fd >= 0)
		close(fd);
	path[n > 0 ? n : 0] = '\0';
	snprintf(full, sizeof full, "/proc/%d/%s/%s", b->pid, *path == '/' ? "root" : "cwd", path);
	return geteuid() &&
	       (stat(full, &st) || (st.st_mode & (S_ISUID | S_ISGID)) || access(full, R_OK) ||
	        getxattr(full, "security.capability", NULL, 0) > 0);
}

enum next { GOES_ON, HAS_BECOME, IS_DONE };

/* Interprets a stop; *pass becomes the signal to deliver. */
static enum next
look_at_stop(struct st_probing *p, struct becoming *b, int stop, int *pass)
{
	struct __ptrace_syscall_info info = {0};
	*pass = 0;
	if (stop < 0)
		return IS_DONE;
	if (stop == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
		return HAS_BECOME;
	if (stop != (SIGTRAP | 0x80)) {
		*pass = signal_of_stop(stop);
		return GOES_ON;
	}
	ptrace(PTRACE_GET_SYSCALL_INFO, b->tid, sizeof info, &info);
	const bool enters = info.op == PTRACE_SYSCALL_INFO_ENTRY && is_exec(info.entry.nr);
	if (enters && gains_rights(b, info.entry.args[info.entry.nr == SYS_execveat])) {
		leave_child_alone(p, "a program that gets other rights cannot be traced");
		return IS_DONE;
	}
	struct user_regs_struct regs = {0};
	if (info.op == PTRACE_SYSCALL_INFO_EXIT && !ptrace(PTRACE_GETREGS, b->tid, 0, &regs) &&
	    is_exec(regs.orig_rax))
		return IS_DONE; /* it has failed */
	return GOES_ON;
}

/* Lets it go up to its next program. False: it has not become one. */
static bool
run_to_exec(struct st_probing *p, struct becoming *b)
{
	int pass = 0;
	enum next next;
	while ((next = look_at_stop(p, b, next_stop_of_becoming(b), &pass)) == GOES_ON)
		if (ptrace(PTRACE_SYSCALL, b->tid, 0, pass) != 0)
			return false;
	if (next == IS_DONE)
		ptrace(PTRACE_DETACH, b->tid, 0, pass);
	return next == HAS_BECOME;
}

/* ---- the program ---- */

static bool
is_64_bit(pid_t pid)
{
	char path[64];
	Elf64_Ehdr h = {0};
	snprintf(path, sizeof path, "/proc/%d/exe", pid);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const bool is = fd >= 0 && read(fd, &h, sizeof h) == sizeof h &&
	                h.e_ident[EI_CLASS] == ELFCLASS64 && h.e_machine == EM_X86_64;
	if (fd >= 0)
		close(fd);
	return is;
}

static void
take_new_program(struct st_probing *p, const struct becoming *b)
{
	struct st_error e;
	const bool filtered = st_has_further_filters(b->pid);
	struct st_probing *new = is_64_bit(b->pid) && !filtered ? p->again(p->arg) : NULL;
	if (p->pid == b->pid && !p->has_end) {
		p->end = st_moment_now().ticks; /* its calls that are under way end here */
		p->has_end = true;
	}
	if (!new) {
		leave_child_alone(
		        p, filtered ? "it runs under a seccomp filter, which may kill it"
		                    : "it is no 64-bit program, or there is no memory for it");
		ptrace(PTRACE_DETACH, b->tid, 0, 0);
		return;
	}
	new->pid = b->pid;
	new->command = st_command_of(b->pid);
	st_probing_begin(new);
	if (!st_probing_prepare(new, &e))
		return;
	if (!probe_has_ended(b))
		leave_child_alone(p, e.text);
	new->follows = false; /* nothing of it is used */
	ptrace(PTRACE_DETACH, b->tid, 0, 0);
}

/* ---- the area ---- */

static bool
maps_one_of(const char *pid, struct st_probing *const *v, size_t n)
{
	uint64_t at, inode;
	bool maps = false;
	if (!st_probe_area_of(pid, &at, &inode))
		return false;
	for (size_t i = 0; i < n; i++)
		maps |= v[i]->area && v[i]->inode == inode;
	return maps;
}

/* The program can write anything into the area. Strobe may have rights that the program does not
 * have, so it traces only threads of processes that have mapped the area. */
static bool
has_area(struct st_probing *p, const struct becoming *b)
{
	char pid[16], task[64];
	struct st_probing *const one[] = {p};
	snprintf(pid, sizeof pid, "%d", b->pid);
	snprintf(task, sizeof task, "/proc/%d/task/%d", b->pid, b->tid);
	return b->tid > 0 && b->pid > 0 && !access(task, F_OK) && maps_one_of(pid, one, 1);
}

static void
answer_exec(struct st_probing *p)
{
	struct st_probe_area *a = p->area;
	struct becoming b = {(pid_t)a->exec_tid, (pid_t)a->exec_pid};
	enum { OPTIONS = PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD };
	pthread_mutex_lock(p->held);
	const bool seized = has_area(p, &b) && !ptrace(PTRACE_SEIZE, b.tid, 0, OPTIONS) &&
	                    !ptrace(PTRACE_INTERRUPT, b.tid, 0, 0);
	const int stop = seized ? next_stop_of_becoming(&b) : -1;
	const bool traced = stop >= 0;
	if (!traced && !probe_has_ended(&b))
		leave_child_alone(p, "it may not be traced");
	if (traced)
		ptrace(PTRACE_SYSCALL, b.tid, 0, signal_of_stop(stop));
	__atomic_store_n(&a->exec_tid, 0, __ATOMIC_RELEASE);
	syscall(SYS_futex, &a->exec_tid, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	if (traced && run_to_exec(p, &b)) {
		take_new_program(p, &b);
		if (p->only_exec) /* no process has its probes any more */
			st_probing_dismiss(p);
	}
	if (seized)
		take_end(&b, p->program);
	pthread_mutex_unlock(p->held);
}

static void *
follow_area(void *arg)
{
	struct st_probing *p = arg;
	struct st_probe_area *a = p->area;
	while (!__atomic_load_n(&p->ends, __ATOMIC_ACQUIRE)) {
		const uint32_t asked = __atomic_load_n(&a->exec_asked, __ATOMIC_ACQUIRE);
		if (__atomic_load_n(&a->exec_tid, __ATOMIC_ACQUIRE))
			answer_exec(p);
		else
			syscall(SYS_futex, &a->exec_asked, FUTEX_WAIT, asked,
			        &(struct timespec){0, 50000000}, NULL, 0);
	}
	return NULL;
}

void
st_probing_follow(struct st_probing *p)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	p->has_follower = pthread_create(&p->follower, NULL, follow_area, p) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void
st_probing_unfollow(struct st_probing *p)
{
	if (!p->has_follower)
		return;
	__atomic_store_n(&p->ends, true, __ATOMIC_RELEASE);
	__atomic_add_fetch(&p->area->exec_asked, 1, __ATOMIC_ACQ_REL);
	syscall(SYS_futex, &p->area->exec_asked, FUTEX_WAKE, 1, NULL, NULL, 0);
	pthread_join(p->follower, NULL);
	p->has_follower = false;
}

/* ---- remaining processes ---- */

bool
st_probing_is_used(struct st_probing *const *v, size_t n)
{
	DIR *d = opendir("/proc");
	const pid_t self = getpid();
	bool used = false;
	for (struct dirent *entry; d && !used && (entry = readdir(d));)
		used = atoi(entry->d_name) > 0 && atoi(entry->d_name) != self &&
		       maps_one_of(entry->d_name, v, n);
	if (d)
		closedir(d);
	return used;
}
