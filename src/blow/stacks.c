/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/stacks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "blow/replaced.h"
#include "symbol/unwind.h"

enum { MOST_THREADS = 64, MOST_FRAMES = 64, STACK_BYTES = 256 * 1024, PATIENCE_MS = 20000 };

/* ---- in the separate process ---- */

/* Stops the thread, whose stop may take a while. False with errno. */
static bool
stop_thread(pid_t tid)
{
	enum { LOOKS = 2000 };
	const struct timespec nap = {0, 5000000};
	if (ptrace(PTRACE_SEIZE, tid, 0, 0) || ptrace(PTRACE_INTERRUPT, tid, 0, 0))
		return false;
	for (int i = 0; i < LOOKS; i++) {
		int status;
		const pid_t got = waitpid(tid, &status, __WALL | WNOHANG);
		if (got == tid)
			return WIFSTOPPED(status);
		if (got < 0)
			return false;
		nanosleep(&nap, NULL);
	}
	errno = ETIMEDOUT;
	return false;
}

struct st_probed_image *
st_blow_image_at(const struct st_probes *probes, uint64_t pc)
{
	for (size_t i = 0; i < probes->images.n; i++) {
		struct st_probed_image *image = &probes->images.v[i];
		if (!image->gone && image->image && pc >= image->from && pc < image->to)
			return image;
	}
	return NULL;
}

/* A function with a probe returns to the probe's code: its caller is the program's own one. */
static void
look_through_probe(const struct st_probing *p, uint64_t registers[ST_DWARF_REGISTERS])
{
	if (registers[ST_DWARF_PC] != p->trampoline)
		return;
	const uint64_t address = st_blow_replaced_address(p, registers[ST_DWARF_RSP] - 8);
	if (address)
		registers[ST_DWARF_PC] = address;
}

static void
write_frame(const struct st_probed_image *image, uint64_t pc, FILE *out)
{
	const uint64_t offset = pc - image->bias;
	const struct st_function *f = st_image_function(image->image, offset);
	fprintf(out, "frame\t%s\t%s\t%" PRIx64 "\n", f ? f->name : "?", image->path, offset);
}

static void
write_thread_frames(const struct st_probes *probes, uint64_t registers[ST_DWARF_REGISTERS],
                    const struct st_stack_copy *copy, FILE *out)
{
	bool exact = true;
	for (int i = 0; i < MOST_FRAMES; i++) {
		const uint64_t pc = registers[ST_DWARF_PC] - !exact;
		const struct st_probed_image *image = st_blow_image_at(probes, pc);
		if (!image) {
			fputs("missing\tthe thread is in code that belongs to no file: that of a "
			      "probe, of the kernel, or made by the program\n",
			      out);
			return;
		}
		write_frame(image, pc, out);
		switch (st_image_unwind(image->image, pc - image->bias, registers, copy, &exact)) {
		case ST_UNWIND_CALLER:
			look_through_probe(&probes->process, registers);
			break;
		case ST_UNWIND_OUTERMOST:
			return;
		default:
			fputs("missing\tthe callers cannot be found by the unwind information\n",
			      out);
			return;
		}
		if (!registers[ST_DWARF_PC])
			return;
	}
	fputs("missing\tthe stack is deeper\n", out);
}

static void
write_stack(const struct st_probes *probes, pid_t tid, unsigned char *bytes, FILE *out)
{
	struct user_regs_struct regs;
	if (!stop_thread(tid) || ptrace(PTRACE_GETREGS, tid, 0, &regs)) {
		fprintf(out, "missing\tthe thread cannot be stopped: %s\n", strerror(errno));
		return;
	}
	uint64_t registers[ST_DWARF_REGISTERS] = {
	        [ST_DWARF_RBX] = regs.rbx, [ST_DWARF_RBP] = regs.rbp, [ST_DWARF_RSP] = regs.rsp,
	        [ST_DWARF_R12] = regs.r12, [ST_DWARF_R13] = regs.r13, [ST_DWARF_R14] = regs.r14,
	        [ST_DWARF_R15] = regs.r15, [ST_DWARF_PC] = regs.rip};
	/* A stack is shorter than the copy as a rule, so it is read page by page. */
	enum { PAGE = 4096 };
	struct st_stack_copy copy = {bytes, regs.rsp, 0};
	while (copy.size < STACK_BYTES) {
		const uint64_t at = regs.rsp + copy.size;
		const struct iovec here = {bytes + copy.size, PAGE - at % PAGE},
		                   there = {(void *)(uintptr_t)at, PAGE - at % PAGE};
		if (here.iov_len > STACK_BYTES - copy.size ||
		    process_vm_readv(tid, &here, 1, &there, 1, 0) != (ssize_t)here.iov_len)
			break;
		copy.size += here.iov_len;
	}
	write_thread_frames(probes, registers, &copy, out);
}

static _Noreturn void
write_all_stacks(const struct st_hang *h, const struct st_probes *probes, int end)
{
	FILE *out = fdopen(end, "w");
	unsigned char *bytes = malloc(STACK_BYTES);
	for (size_t i = 0; i < h->threads.n && out && bytes; i++) {
		fputs("thread\t", out);
		st_hang_write_thread(h, i, out);
		fputc('\n', out);
		if (i < MOST_THREADS)
			write_stack(probes, (pid_t)h->threads.v[i].tid, bytes, out);
		else
			fprintf(out, "missing\tonly the stacks of %d threads are kept\n",
			        (int)MOST_THREADS);
	}
	/* The threads go on when their tracer has ended. */
	_exit(out && bytes && !fclose(out) ? 0 : 1);
}

/* ---- in the process that waits for the program ---- */

/* Copies what comes until the end, or until nothing has come for PATIENCE_MS. */
static void
copy_lines(int from, FILE *out)
{
	char bytes[4096];
	for (;;) {
		struct pollfd p = {.fd = from, .events = POLLIN};
		const int ready = poll(&p, 1, PATIENCE_MS);
		if (ready < 0 && errno == EINTR)
			continue;
		const ssize_t n = ready > 0 ? read(from, bytes, sizeof bytes) : 0;
		if (n <= 0)
			return;
		fwrite(bytes, 1, (size_t)n, out);
	}
}

void
st_blow_stacks_write(const struct st_hang *h, struct st_probes *probes, FILE *out)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC)) {
		fprintf(out, "missing\tthere is no pipe for the stacks: %s\n", strerror(errno));
		return;
	}
	/* The images must not change while the separate process is made, which then has its own. */
	pthread_mutex_lock(&probes->installing);
	const pid_t pid = fork();
	if (pid == 0)
		write_all_stacks(h, probes, ends[1]);
	pthread_mutex_unlock(&probes->installing);
	close(ends[1]);
	if (pid > 0) {
		copy_lines(ends[0], out);
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	} else {
		fprintf(out, "missing\tthere is no process for the stacks: %s\n", strerror(errno));
	}
	close(ends[0]);
}
