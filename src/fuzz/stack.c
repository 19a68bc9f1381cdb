/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/stack.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "symbol/unwind.h"

enum { MOST_STACK_FRAMES = 64, STACK_COPY_BYTES = 1024 * 1024, PAGE_BYTES = 4096 };

/* An executable mapping of the program. */
struct mapped_code {
	uint64_t from, to, offset; /* offset: in the file */
	char *path;
	struct st_image *image; /* NULL: not opened yet, or it cannot be read */
	bool tried;
};

struct stack_reader {
	struct st_fuzz_stack *out;
	ST_VEC(struct mapped_code) maps;
};

void
st_fuzz_stack_free(struct st_fuzz_stack *s)
{
	for (size_t i = 0; i < s->frames.n; i++) {
		free(s->frames.v[i].function);
		free(s->frames.v[i].image);
		free(s->frames.v[i].file);
	}
	free(s->frames.v);
	*s = (struct st_fuzz_stack){0};
}

/* ---- the frames ---- */

static st_status
read_code_maps(struct stack_reader *r, pid_t pid)
{
	char name[64], line[PATH_MAX + 128];
	st_status status = ST_OK;
	snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
	FILE *in = fopen(name, "re");
	while (in && !status && fgets(line, sizeof line, in)) {
		struct mapped_code m = {0};
		char rights[8];
		const char *path = strchr(line, '/');
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64, &m.from, &m.to, rights,
		           &m.offset) != 4 ||
		    rights[2] != 'x' || !path)
			continue;
		struct mapped_code *new = ST_PUSH(&r->maps);
		m.path = strndup(path, strcspn(path, "\n"));
		if (new)
			*new = m;
		else
			free(m.path);
		status = new &&m.path ? ST_OK : ST_FAILED;
	}
	if (in)
		fclose(in);
	return status;
}

static void
free_code_maps(struct stack_reader *r)
{
	for (size_t i = 0; i < r->maps.n; i++) {
		free(r->maps.v[i].path);
		if (r->maps.v[i].image)
			st_image_close(r->maps.v[i].image);
	}
	free(r->maps.v);
}

static struct mapped_code *
code_at(struct stack_reader *r, uint64_t pc)
{
	struct st_error ignored; /* an image that cannot be read has no frames */
	for (size_t i = 0; i < r->maps.n; i++) {
		struct mapped_code *m = &r->maps.v[i];
		if (pc < m->from || pc >= m->to)
			continue;
		if (!m->tried)
			m->image = st_image_open(m->path, &ignored);
		m->tried = true;
		return m;
	}
	return NULL;
}

static st_status
add_stack_frame(struct st_fuzz_stack *out, const struct mapped_code *m, uint64_t offset)
{
	const struct st_function *f = st_image_function(m->image, offset);
	struct st_line line;
	struct st_fuzz_frame *new = ST_PUSH(&out->frames);
	if (!new)
		return ST_FAILED;
	*new = (struct st_fuzz_frame){
	        .function = f ? strdup(f->name) : NULL, .image = strdup(m->path), .offset = offset};
	if (!st_image_line(m->image, offset, &line) && line.file) {
		new->file = strdup(line.file);
		new->line = line.line;
	}
	return new->image ? ST_OK : ST_FAILED;
}

static st_status
unwind_frames(struct stack_reader *r, uint64_t registers[ST_DWARF_REGISTERS],
              const struct st_stack_copy *copy)
{
	bool exact = true;
	for (int i = 0; i < MOST_STACK_FRAMES; i++) {
		const uint64_t pc = registers[ST_DWARF_PC] - !exact;
		struct mapped_code *m = code_at(r, pc);
		const uint64_t offset =
		        m && m->image
		                ? st_image_offset_of_file(m->image, m->offset + (pc - m->from))
		                : UINT64_MAX;
		if (offset == UINT64_MAX) {
			r->out->missing = "the code is not in a file that can be read";
			return ST_OK;
		}
		if (add_stack_frame(r->out, m, offset))
			return ST_FAILED;
		switch (st_image_unwind(m->image, offset, registers, copy, &exact)) {
		case ST_UNWIND_CALLER:
			break;
		case ST_UNWIND_OUTERMOST:
			return ST_OK;
		default:
			r->out->missing = "the unwind information does not lead to its caller";
			return ST_OK;
		}
		if (!registers[ST_DWARF_PC])
			return ST_OK;
	}
	r->out->missing = "the stack is deeper";
	return ST_OK;
}

/* The stack of a thread that is stopped. */
static st_status
read_stopped_stack(pid_t pid, pid_t tid, struct st_fuzz_stack *out)
{
	struct stack_reader r = {.out = out};
	struct user_regs_struct regs;
	unsigned char *bytes = malloc(STACK_COPY_BYTES);
	st_fuzz_stack_free(out);
	if (!bytes || ptrace(PTRACE_GETREGS, tid, 0, &regs)) {
		free(bytes);
		out->missing = "the registers of the thread cannot be read";
		return ST_OK;
	}
	uint64_t registers[ST_DWARF_REGISTERS] = {
	        [ST_DWARF_RBX] = regs.rbx, [ST_DWARF_RBP] = regs.rbp, [ST_DWARF_RSP] = regs.rsp,
	        [ST_DWARF_R12] = regs.r12, [ST_DWARF_R13] = regs.r13, [ST_DWARF_R14] = regs.r14,
	        [ST_DWARF_R15] = regs.r15, [ST_DWARF_PC] = regs.rip};
	struct st_stack_copy copy = {bytes, regs.rsp, 0};
	while (copy.size + PAGE_BYTES <= STACK_COPY_BYTES) {
		const uint64_t at = regs.rsp + copy.size;
		const struct iovec here = {bytes + copy.size, PAGE_BYTES - at % PAGE_BYTES},
		                   there = {(void *)(uintptr_t)at, here.iov_len};
		if (process_vm_readv(pid, &here, 1, &there, 1, 0) != (ssize_t)here.iov_len)
			break;
		copy.size += here.iov_len;
	}
	st_status status = read_code_maps(&r, pid);
	if (!status)
		status = unwind_frames(&r, registers, &copy);
	free_code_maps(&r);
	free(bytes);
	return status;
}

/* ---- the run ---- */

/* Waits for a thread of the process group, at most until then. 0: none; -1: all have ended. */
static pid_t
wait_for_thread(pid_t group, int *status, double until)
{
	const struct timespec nap = {0, 500000};
	for (;;) {
		const pid_t got = waitpid(-group, status, __WALL | WNOHANG);
		if (got)
			return got;
		if (st_now_raw() >= until || st_fuzz_interrupted())
			return 0;
		nanosleep(&nap, NULL);
	}
}

/* Ends the program, which is stopped or not. */
static void
end_traced_program(pid_t pid)
{
	int status;
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	while (waitpid(-pid, &status, __WALL) > 0 || errno == EINTR)
		;
}

/* Whether the stop is that of the program's start, or of a clone or an execve. Any other SIGTRAP is
 * a signal of the program, such as that of a breakpoint instruction. */
static bool
is_own_stop(int status, bool *begun)
{
	const bool first = !*begun;
	*begun = true;
	return first || status >> 16;
}

static st_status
follow_until_signal(pid_t pid, int signo, double seconds, struct st_fuzz_stack *out)
{
	double until = st_now_raw() + seconds;
	bool begun = false, stopping = false;
	st_status status = ST_OK;
	int how;
	for (pid_t tid; !status && (tid = wait_for_thread(pid, &how, until)) >= 0;) {
		if (!tid && (signo || stopping))
			break;
		if (!tid) { /* it hangs */
			stopping = true;
			until += 1;
			kill(pid, SIGSTOP);
			continue;
		}
		if (!WIFSTOPPED(how))
			continue;
		if (tid == pid && !begun)
			ptrace(PTRACE_SETOPTIONS, pid, 0,
			       PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC);
		const int got = WSTOPSIG(how);
		const bool own = is_own_stop(how, &begun);
		if (!own && (signo ? got == signo : stopping && got == SIGSTOP)) {
			status = read_stopped_stack(pid, tid, out);
			if (!signo)
				break;
		}
		ptrace(PTRACE_CONT, tid, 0, own || got == SIGSTOP ? 0 : got);
	}
	end_traced_program(pid);
	return status;
}

st_status
st_fuzz_stack_read(struct st_fuzz_target *t, const struct st_fuzz_bytes *input, int signo,
                   struct st_fuzz_stack *out, struct st_error *e)
{
	char *argument;
	*out = (struct st_fuzz_stack){.missing = "the program did not end natively as it did under "
	                                         "the engine"};
	if (st_fuzz_give_input(t, &t->workers[0], input, &argument, e))
		return ST_FAILED;
	const pid_t pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		st_fuzz_prepare_program(t, &t->workers[0]);
		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(ST_EXIT_FAILED);
		execvp(t->argv[0], t->argv);
		_exit(ST_EXIT_NOT_FOUND);
	}
	free(argument);
	if (pid < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot fork: %s", strerror(errno));
	setpgid(pid, pid);
	return follow_until_signal(pid, signo, t->hang_seconds, out)
	               ? st_fail(e, ST_EXIT_FAILED, "no memory left for a stack")
	               : ST_OK;
}
