/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a program does, instruction by instruction: the independent truth for the tools. It steps a
 * program of one thread under ptrace, decodes with Zydis what is executed and computes from the
 * registers what it accesses. Prints to FILE
 *
 *	mnemonic NAME COUNT, category NAME COUNT, read REGISTER COUNT, write REGISTER COUNT
 *	branch SOURCE TARGET KIND TAKEN NOT_TAKEN
 *	access INSTRUCTION KIND ADDRESS BYTES, in the order of execution
 *	unjudged INSTRUCTION, whose accesses a mask or a vector of indices decides
 *
 * An instruction with a rep prefix is one, with one access of all its bytes per operand.
 *
 * Usage: judge FILE PROGRAM [ARGUMENT...]
 */
#include <cpuid.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <Zydis/Zydis.h>

#include "insn/shape.h"

enum { LONGEST = 15 };

struct insn {
	uint64_t at;
	ZydisDecodedInstruction i;
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	bool valid;
	uint8_t code[LONGEST];
};

static FILE *out;
static ZydisDecoder decoder;
static struct st_shapes *shapes;
static pid_t pid;

static void
fail(const char *what)
{
	fprintf(stderr, "judge: %s: %s\n", what, strerror(errno));
	exit(125);
}

/* ---- sums by text ---- */

struct sum {
	struct sum *next;
	uint64_t taken, not_taken;
	char text[];
};
static struct sum *sums[1 << 16];

static struct sum *
sum_of(const char *text)
{
	uint64_t h = 0xcbf29ce484222325;
	for (const char *c = text; *c; c++)
		h = (h ^ (unsigned char)*c) * 0x100000001b3;
	struct sum **at = &sums[(h ^ h >> 32) & 0xffff];
	for (; *at; at = &(*at)->next)
		if (!strcmp((*at)->text, text))
			return *at;
	*at = calloc(1, sizeof **at + strlen(text) + 1);
	if (!*at)
		fail("no memory");
	return strcpy((*at)->text, text), *at;
}

static void
add(const char *kind, const char *name)
{
	char text[128];
	snprintf(text, sizeof text, "%s %s", kind, name);
	sum_of(text)->taken++;
}

/* ---- registers ---- */

static uint64_t
value_of(const struct user_regs_struct *r, ZydisRegister name)
{
	const unsigned long long values[] = {r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp,
	                                     r->rsi, r->rdi, r->r8,  r->r9,  r->r10, r->r11,
	                                     r->r12, r->r13, r->r14, r->r15};
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
	if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
		return 0;
	uint64_t v = values[whole - ZYDIS_REGISTER_RAX];
	return ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, name) == 32 ? (uint32_t)v : v;
}

/* Which registers it uses is a matter of definition: see insn/shape.h. */
static void
count_registers(const uint8_t code[LONGEST])
{
	const struct st_shape *shape = st_shapes_find(shapes, code, LONGEST, NULL);
	if (!shape)
		fail("an instruction without a shape");
	for (unsigned k = 0; k < shape->n_read; k++)
		add("read", st_register_name(shape->read[k]));
	for (unsigned k = 0; k < shape->n_written; k++)
		add("write", st_register_name(shape->written[k]));
}

/* ---- branches ---- */

static const char *
branch_kind(const struct insn *x)
{
	bool direct = x->operand[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	switch (x->i.meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return x->i.mnemonic == ZYDIS_MNEMONIC_XBEGIN ? NULL : "conditional";
	case ZYDIS_CATEGORY_UNCOND_BR:
		return direct ? "jump" : "indirect jump";
	case ZYDIS_CATEGORY_CALL:
		return direct ? "call" : "indirect call";
	case ZYDIS_CATEGORY_RET:
		return "return";
	default:
		return NULL;
	}
}

/* rip: where it has gone. */
static void
count_branch(const struct insn *x, uint64_t rip)
{
	const char *kind = branch_kind(x);
	uint64_t target = rip;
	char text[128];
	if (!kind)
		return;
	if (x->operand[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && kind[0] != 'r')
		ZydisCalcAbsoluteAddress(&x->i, &x->operand[0], x->at, &target);
	snprintf(text, sizeof text, "branch %" PRIx64 " %" PRIx64 " %s", x->at, target, kind);
	struct sum *s = sum_of(text);
	if (rip == target)
		s->taken++;
	else
		s->not_taken++;
}

/* ---- memory accesses ---- */

static bool
is_repeated(const struct insn *x)
{
	return (x->i.attributes &
	        (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
}

static bool
is_on_stack(const ZydisDecodedOperand *o)
{
	return o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
	       o->mem.base == ZYDIS_REGISTER_RSP;
}

static uint64_t
address_of(const struct insn *x, const ZydisDecodedOperand *o, const struct user_regs_struct *r,
           uint64_t bytes)
{
	bool write = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	uint64_t a = value_of(r, o->mem.base) + value_of(r, o->mem.index) * o->mem.scale +
	             (o->mem.disp.has_displacement ? (uint64_t)o->mem.disp.value : 0);
	if (o->mem.base == ZYDIS_REGISTER_RIP || o->mem.base == ZYDIS_REGISTER_EIP)
		a = x->at + x->i.length + (uint64_t)o->mem.disp.value;
	if (is_on_stack(o))
		a = write ? r->rsp - bytes : r->rsp;
	if (x->i.mnemonic == ZYDIS_MNEMONIC_LEAVE)
		a = r->rbp;
	if (x->i.mnemonic == ZYDIS_MNEMONIC_POP && !is_on_stack(o) &&
	    o->mem.base == ZYDIS_REGISTER_RSP)
		a += bytes;
	if (x->i.mnemonic == ZYDIS_MNEMONIC_XLAT)
		a = r->rbx + (r->rax & 0xff);
	bool bits = x->i.mnemonic == ZYDIS_MNEMONIC_BT || x->i.mnemonic == ZYDIS_MNEMONIC_BTS ||
	            x->i.mnemonic == ZYDIS_MNEMONIC_BTR || x->i.mnemonic == ZYDIS_MNEMONIC_BTC;
	if (bits && x->operand[1].type == ZYDIS_OPERAND_TYPE_REGISTER) {
		int64_t bit = (int64_t)value_of(r, x->operand[1].reg.value);
		bit = bytes == 2 ? (int16_t)bit : bytes == 4 ? (int32_t)bit : bit;
		a += (uint64_t)(bit >> (bytes == 2 ? 4 : bytes == 4 ? 5 : 6)) * bytes;
	}
	if (x->i.address_width == 32 && !is_on_stack(o))
		a = (uint32_t)a;
	if (o->mem.segment == ZYDIS_REGISTER_FS)
		a += r->fs_base;
	return a;
}

/* Elements of a string instruction that has just been executed. */
static uint64_t times;
enum { DOWNWARDS = 0x400 };

/* What a mask or a vector of indices decides is not judged here: tests/decode does that. */
static bool
is_by_vector(const struct insn *x, const ZydisDecodedOperand *o)
{
	return o->mem.type == ZYDIS_MEMOP_TYPE_VSIB ||
	       strstr(ZydisMnemonicGetString(x->i.mnemonic), "maskmov") ||
	       (x->i.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX &&
	        x->i.avx.mask.reg > ZYDIS_REGISTER_K0) ||
	       x->i.meta.category == ZYDIS_CATEGORY_XSAVE ||
	       x->i.meta.category == ZYDIS_CATEGORY_XSAVEOPT;
}

static void
print_access(const struct insn *x, const char *kind, uint64_t address, uint64_t bytes)
{
	fprintf(out, "access %" PRIx64 " %s %" PRIx64 " %" PRIu64 "\n", x->at, kind, address,
	        bytes);
}

/* Zydis knows it without levels only. */
static void
print_enter(const struct insn *x, const struct user_regs_struct *r)
{
	uint64_t level = x->operand[1].imm.value.u & 31;
	if (level > 1)
		print_access(x, "read", r->rbp - (level - 1) * 8, (level - 1) * 8);
	print_access(x, "write", r->rsp - (level + 1) * 8, (level + 1) * 8);
}

static void
print_accesses(const struct insn *x, const struct user_regs_struct *r)
{
	if (x->i.mnemonic == ZYDIS_MNEMONIC_ENTER) {
		print_enter(x, r);
		return;
	}
	bool idle = x->i.meta.category == ZYDIS_CATEGORY_NOP ||
	            x->i.meta.category == ZYDIS_CATEGORY_WIDENOP ||
	            x->i.meta.category == ZYDIS_CATEGORY_PREFETCH;
	for (unsigned k = 0; !idle && k < x->i.operand_count; k++) {
		const ZydisDecodedOperand *o = &x->operand[k];
		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
			continue;
		bool read = o->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
		bool write = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
		uint64_t bytes = o->size / 8, count = 1;
		if (!read && !write)
			continue;
		uint64_t a = address_of(x, o, r, bytes);
		if (is_by_vector(x, o)) {
			fprintf(out, "unjudged %" PRIx64 "\n", x->at);
			continue;
		}
		if (is_repeated(x))
			count = times;
		if (is_repeated(x) && r->eflags & DOWNWARDS)
			a -= (count - 1) * bytes;
		if (!count)
			continue;
		print_access(x,
		             read && write ? "read-write"
		             : write       ? "write"
		                           : "read",
		             a, bytes * count);
	}
}

/* ---- stepping ---- */

static void
fetch(struct insn *x, uint64_t at)
{
	uint8_t *code = x->code;
	size_t room = 4096 - at % 4096, first = room < LONGEST ? room : LONGEST;
	struct iovec local[2] = {{code, first}, {code + first, LONGEST - first}};
	struct iovec remote[2] = {{(void *)at, first}, {(void *)(at + first), LONGEST - first}};
	memset(code, 0, LONGEST);
	x->at = at;
	process_vm_readv(pid, local, 1, remote, 1, 0);
	process_vm_readv(pid, local + 1, 1, remote + 1, 1, 0);
	x->valid = ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, LONGEST, &x->i, x->operand));
}

static void
executed(const struct insn *x, const struct user_regs_struct *before, uint64_t rip)
{
	if (!x->valid)
		return;
	add("mnemonic", ZydisMnemonicGetString(x->i.mnemonic));
	add("category", ZydisCategoryGetString(x->i.meta.category));
	count_registers(x->code);
	count_branch(x, rip);
	print_accesses(x, before);
}

/* Whether a stop is the end of a step that has executed its instruction; *sig: a signal to hand on.
 */
static bool
step_ended(int status, int *sig)
{
	siginfo_t info;
	*sig = 0;
	if (status >> 16)
		return false;
	if (WSTOPSIG(status) == SIGTRAP && !ptrace(PTRACE_GETSIGINFO, pid, NULL, &info) &&
	    info.si_code > 0 && info.si_code != SI_KERNEL)
		return info.si_code != SIGTRAP; /* else: the entry to a handler */
	*sig = WSTOPSIG(status);
	return false;
}

/* A hypervisor that does cpuid in the CPU's place may forget the trap after it, and the next
 * instruction would be executed unseen: cpuid is not stepped but done here. */
static bool
did_cpuid(const struct insn *x, struct user_regs_struct *r)
{
	const struct user_regs_struct before = *r;
	uint32_t a, b, c, d;
	if (!x->valid || x->i.mnemonic != ZYDIS_MNEMONIC_CPUID)
		return false;
	__cpuid_count((uint32_t)r->rax, (uint32_t)r->rcx, a, b, c, d);
	r->rax = a;
	r->rbx = b;
	r->rcx = c;
	r->rdx = d;
	r->rip += x->i.length;
	if (ptrace(PTRACE_SETREGS, pid, NULL, r))
		fail("cannot write the registers");
	executed(x, &before, r->rip);
	return true;
}

static int
run(void)
{
	struct user_regs_struct before, now, first;
	struct insn x;
	int status, sig = 0;
	bool repeating = false;
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		fail("the program did not start");
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_EXITKILL) ||
	    ptrace(PTRACE_GETREGS, pid, NULL, &before))
		fail("cannot trace");
	for (;;) {
		do
			fetch(&x, before.rip);
		while (!sig && did_cpuid(&x, &before));
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(long)sig) ||
		    waitpid(pid, &status, 0) != pid)
			fail("cannot step");
		if (!WIFSTOPPED(status)) {
			executed(&x, &before, 0); /* the system call that ended it */
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		}
		if (ptrace(PTRACE_GETREGS, pid, NULL, &now))
			fail("cannot read the registers");
		bool ended = step_ended(status, &sig);
		if (!repeating)
			first = before;
		repeating = ended && x.valid && is_repeated(&x) && now.rip == before.rip;
		times = x.valid && x.i.address_width == 32 ? (uint32_t)(first.rcx - now.rcx)
		                                           : first.rcx - now.rcx;
		if (ended && !repeating)
			executed(&x, &first, now.rip);
		before = now;
	}
}

static void
print_sums(void)
{
	for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
		for (const struct sum *s = sums[i]; s; s = s->next) {
			fprintf(out, "%s %" PRIu64, s->text, s->taken);
			if (!strncmp(s->text, "branch", 6))
				fprintf(out, " %" PRIu64, s->not_taken);
			putc('\n', out);
		}
}

int
main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: judge FILE PROGRAM [ARGUMENT...]\n");
		return 125;
	}
	out = fopen(argv[1], "we");
	if (!out)
		fail(argv[1]);
	shapes = st_shapes_new();
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[2], argv + 2);
		fail(argv[2]);
	}
	int result = run();
	print_sums();
	return fclose(out) ? 125 : result;
}
