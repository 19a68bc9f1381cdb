/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A buffer of machine code with labels, for code whose final address is known from the start. */
#ifndef FUZZ_CODE_H
#define FUZZ_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FZ_CODE_CAP = 0x1c00,
	FZ_MAX_LABELS = 512,
	FZ_MAX_FIXUPS = 1024,
};

enum fz_gpr { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

enum fz_fixup_kind { FZ_REL8, FZ_REL32, FZ_ABS64, FZ_ABS32, FZ_CTRL };

struct fz_fixup {
	uint16_t at; /* offset in the code; FZ_CTRL: slot of the control page */
	uint16_t label;
	int16_t addend;
	uint8_t kind;
};

struct fz_code {
	uint8_t bytes[FZ_CODE_CAP];
	uint32_t len;
	uint64_t base; /* address of bytes[0] when it runs */
	int32_t labels[FZ_MAX_LABELS];
	unsigned nlabels;
	struct fz_fixup fixups[FZ_MAX_FIXUPS];
	unsigned nfixups;
	bool full; /* something did not fit: the code is of no use */
};

void fz_code_start(struct fz_code *c, uint64_t base);
void fz_put(struct fz_code *c, const void *bytes, size_t n);
void fz_put8(struct fz_code *c, unsigned v);
void fz_put32(struct fz_code *c, uint32_t v);
void fz_put64(struct fz_code *c, uint64_t v);

/* Puts the bytes given as arguments. */
#define FZ_PUT(c, ...)                                                                             \
	fz_put(c, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

unsigned fz_label(struct fz_code *c);
void fz_bind(struct fz_code *c, unsigned label);

/* A field of the given kind at the current place that will hold the label's address or distance. */
void fz_ref(struct fz_code *c, enum fz_fixup_kind kind, unsigned label, int addend);

/* The label's address goes to a slot of the control page. */
void fz_ref_ctrl(struct fz_code *c, unsigned slot, unsigned label);

/* The address the next byte will have. */
uint64_t fz_here(const struct fz_code *c);

/* mov r, v in one of the encodings that can hold v. `variant` chooses. */
void fz_mov_imm(struct fz_code *c, unsigned r, uint64_t v, unsigned variant);
void fz_mov_label(struct fz_code *c, unsigned r, unsigned label, bool lea);

/* `op` with a 64-bit register operand and REX.W: op is one byte, r goes to ModRM.reg, rm to
 * ModRM.rm. */
void fz_rr(struct fz_code *c, unsigned op, unsigned r, unsigned rm);

/* op [base+disp32] with REX.W; base may be RSP. */
void fz_rm(struct fz_code *c, unsigned op, unsigned r, unsigned base, int32_t disp);

/* A rip-relative ModRM and displacement to `target`; `tail` bytes of immediate follow. */
void fz_rip(struct fz_code *c, unsigned reg, uint64_t target, unsigned tail);

void fz_jmp(struct fz_code *c, unsigned label, bool near);
void fz_jcc(struct fz_code *c, unsigned cond, unsigned label, bool near);
void fz_call(struct fz_code *c, unsigned label);

/* Resolves all references; control slots are written to ctrl[]. False when a distance does not fit.
 */
bool fz_code_finish(struct fz_code *c, uint64_t *ctrl);

#endif
