/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a tool's actions cost: which of them it asks for is known from the functions that it refers
 * to, how often they happen only a run can tell. The times are those of instructions like the ones
 * that the engine emits, measured on this machine when they are asked for.
 */
#include <string.h>
#include <time.h>

#include "cli/build_tool.h"

enum { ROUNDS = 400000, COUNTERS = 8, TRIES = 5 };

/* Each loop does its action eight times, at eight places, as a program passes different points. */
#define EIGHT(body) body(0) body(8) body(16) body(24) body(32) body(40) body(48) body(56)

static void
loop_nothing(uint64_t *at)
{
	for (long n = ROUNDS; n; n--)
		__asm__ volatile("" : : "r"(at) : "memory");
}

#define INCREMENT(place) "incq " #place "(%0)\n\t"
static void
loop_count(uint64_t *at)
{
	for (long n = ROUNDS; n; n--)
		__asm__ volatile(EIGHT(INCREMENT) : : "r"(at) : "memory", "cc");
}

#define ADD(place)                                                                                 \
	"movq %%rdx, 128(%0)\n\tleaq 3(%0), %%rdx\n\taddq %%rdx, " #place "(%0)\n\t"               \
	"movq 128(%0), %%rdx\n\t"
static void
loop_add(uint64_t *at)
{
	for (long n = ROUNDS; n; n--)
		__asm__ volatile(EIGHT(ADD) : : "r"(at) : "memory", "cc", "rdx");
}

#define CONDITION(place)                                                                           \
	"movq %%rdx, 128(%0)\n\tlahf\n\tseto %%al\n\tcmpq $1, %0\n\tjb 1f\n\tincq " #place         \
	"(%0)\n1:\t"                                                                               \
	"addb $127, %%al\n\tsahf\n\tmovq 128(%0), %%rdx\n\t"
static void
loop_condition(uint64_t *at)
{
	for (long n = ROUNDS; n; n--)
		__asm__ volatile(EIGHT(CONDITION) : : "r"(at) : "memory", "cc", "rax", "rdx");
}

/* A row of one column that varies: registers borrowed, the row's place fetched, tag and value
 * stored, the place moved on. */
#define ROW(place)                                                                                 \
	"movq %%rdx, 128(%0)\n\tmovq 136(%0), %%rdx\n\tmovq $" #place ", (%%rdx)\n\t"              \
	"movq %0, 8(%%rdx)\n\tleaq 16(%%rdx), %%rdx\n\tmovq %%rdx, 136(%0)\n\tmovq 128(%0), "      \
	"%%rdx\n\t"
static void
loop_row(uint64_t *at)
{
	for (long n = ROUNDS; n; n--) {
		at[17] = (uint64_t)(at + 18);
		__asm__ volatile(EIGHT(ROW) : : "r"(at) : "memory", "cc", "rdx");
	}
}

__attribute__((noinline)) static void
callee(uint64_t *at)
{
	__asm__ volatile("" : : "r"(at) : "memory");
}

/* Every register that a function may change is saved and restored, and the flags. */
static void
loop_call(uint64_t *at)
{
	for (long n = 8 * ROUNDS; n; n--) {
		__asm__ volatile("movq %%rax, 0(%0)\n\tmovq %%rcx, 8(%0)\n\tmovq %%rdx, 16(%0)\n\t"
		                 "movq %%rsi, 24(%0)\n\tmovq %%rdi, 32(%0)\n\tmovq %%r8, 40(%0)\n\t"
		                 "movq %%r9, 48(%0)\n\tmovq %%r10, 56(%0)\n\tmovq %%r11, 64(%0)\n\t"
		                 "lahf\n\tseto %%al\n\tmovq %%rax, 72(%0)\n\t"
		                 :
		                 : "r"(at)
		                 : "memory", "rax");
		callee(at);
		__asm__ volatile("movq 72(%0), %%rax\n\taddb $127, %%al\n\tsahf\n\t"
		                 "movq 8(%0), %%rcx\n\tmovq 16(%0), %%rdx\n\tmovq 40(%0), %%r8\n\t"
		                 "movq 48(%0), %%r9\n\tmovq 56(%0), %%r10\n\tmovq 64(%0), %%r11\n\t"
		                 "movq 0(%0), %%rax\n\t"
		                 :
		                 : "r"(at)
		                 : "memory", "cc", "rax", "rcx", "rdx", "r8", "r9", "r10", "r11");
	}
}

static double
seconds_of(void (*loop)(uint64_t *at))
{
	uint64_t memory[64] = {0};
	double least = 1e9;
	for (int i = 0; i < TRIES; i++) {
		struct timespec begin, end;
		clock_gettime(CLOCK_MONOTONIC, &begin);
		loop(memory);
		clock_gettime(CLOCK_MONOTONIC, &end);
		double took = (double)(end.tv_sec - begin.tv_sec) +
		              (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
		least = took < least ? took : least;
	}
	return least;
}

static double
nanoseconds(void (*loop)(uint64_t *at))
{
	double net = seconds_of(loop) - seconds_of(loop_nothing);
	return net > 0 ? net * 1e9 / (8.0 * ROUNDS) : 0;
}

static const struct action {
	const char *name, *functions[3];
	void (*loop)(uint64_t *at);
	const char *note;
} actions[] = {
        {"count",
         {"strobe_count_counter", "strobe_count_cell"},
         loop_count,
         "for all constant counts of a block together"},
        {"condition",
         {"strobe_when", "strobe_when_taken", "strobe_when_not_taken"},
         loop_condition,
         "for a count under a condition"},
        {"add", {"strobe_add_counter", "strobe_add_cell"}, loop_add, "for each"},
        {"record",
         {"strobe_record_row"},
         loop_row,
         "for a row of one column that varies; each more is one store"},
        {"invoke", {"strobe_invoke_with"}, loop_call, "without what the function does"},
};

void
st_tool_print_costs(const struct st_tool_file *f, FILE *out)
{
	bool any = false;
	for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
		const struct action *a = &actions[i];
		bool used = false;
		for (int k = 0; k < 3 && a->functions[k]; k++)
			used |= st_tool_file_uses(f, a->functions[k]);
		if (!used)
			continue;
		if (!any)
			fprintf(out, "  each time the program passes a point, about:\n");
		any = true;
		fprintf(out, "    %-10s %5.1f ns  %s\n", a->name, nanoseconds(a->loop), a->note);
	}
	if (!any)
		fprintf(out, "  asks for no action: the program's code runs at the engine's own "
		             "speed\n");
}
