/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Call frame information (.eh_frame), read where the program has it mapped: where the caller of a
 * function that is under way goes on, and what its registers are.
 *
 * All of it is the program's and may be wrong: memory is read by cfi_read alone, and everything
 * that is repeated has an end.
 */
#ifndef STROBE_RT_UNWIND_CFI_H
#define STROBE_RT_UNWIND_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers by their DWARF numbers. */
enum { CFI_RBP = 6, CFI_RSP = 7, CFI_PC = 16, CFI_REGISTERS = 17 };

enum cfi_how {
	CFI_SAME,
	CFI_UNDEFINED,
	CFI_OFFSET,        /* the CFA (for the CFA itself: the register) plus the number */
	CFI_AT_OFFSET,     /* what lies there */
	CFI_REGISTER,      /* another register */
	CFI_EXPRESSION,    /* what the expression says */
	CFI_AT_EXPRESSION, /* what lies there */
};
struct cfi_rule {
	uint64_t number; /* of an expression: where it is */
	uint32_t bytes;  /* of it */
	uint8_t how, reg;
};
/* The unwind rules of one location. */
struct cfi_row {
	struct cfi_rule cfa, rules[CFI_REGISTERS];
	bool signal; /* the frame is a signal's: its caller's pc is where the signal came */
};

/* The table by which an image's information is searched (.eh_frame_hdr). */
struct cfi_table {
	uint64_t header;
	uint64_t entries;
	uint32_t n; /* 0: there is none */
};

/* Copies from the program's memory. */
bool cfi_read(void *to, uint64_t from, size_t bytes);

/* As the table has them, in ascending order: from its header on. */
struct cfi_entry {
	int32_t start, frame;
};

void cfi_open(struct cfi_table *table, uint64_t header);
/* Makes one of .eh_frame, where an image has none: fills at most `space` entries, which have to
 * stay there. Returns how many there would be. */
uint32_t cfi_make(struct cfi_table *table, uint64_t frames, uint64_t end, struct cfi_entry *entries,
                  uint32_t space);
/* False when nothing is said of the place. */
bool cfi_find(const struct cfi_table *table, uint64_t pc, struct cfi_row *row);

enum cfi_step {
	CFI_CALLER,    /* the registers are now the caller's */
	CFI_OUTERMOST, /* there is none */
	CFI_LOST,
};
/* *cfa: the stack pointer before the call. */
enum cfi_step cfi_apply(const struct cfi_row *row, uint64_t registers[CFI_REGISTERS],
                        uint64_t *cfa);

/* cfi_expression.c: evaluates the expression in the rule; first: what lies on its stack at the
 * beginning, NULL: nothing. */
bool cfi_evaluate(const struct cfi_rule *rule, const uint64_t registers[CFI_REGISTERS],
                  const uint64_t *first, uint64_t *value);

#endif
