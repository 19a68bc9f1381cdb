/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fixed instruction sequences of control transfers and counts, and what recovery has to know of
 * their layout: sequence.c writes each and says, next to that, how far a thread has come that was
 * stopped in it. Under --stress it checks that the two agree.
 */
#ifndef STROBE_RT_JIT_SEQUENCE_H
#define STROBE_RT_JIT_SEQUENCE_H

#include "rt/arch/x86_64/decode.h"
#include "rt/arch/x86_64/emit.h"
#include "rt/jit/jit.h"

/* Pads with a nop so that a rel32 after `opcode_len` bytes lies in one cache line: it may be
 * patched while it runs. */
void emit_align_site(struct emit *e, unsigned opcode_len);
/* field of the thread += 1 through reg, flags untouched: three instructions. */
void emit_add_field(struct emit *e, unsigned reg, uint32_t field);

/* Saves rcx and rdx, counts if count_field is not 0, rdx = target of the indirect jump or call. */
void sequence_target(struct emit *e, const struct st_insn *in, uint64_t pc, uint32_t count_field);
/* From rdx = a program address: jumps to the pad of its block of the version. */
void sequence_lookup(struct emit *e, enum version version);
void sequence_return(struct emit *e, enum version version, const struct st_insn *in, uint64_t pc,
                     uint32_t count_field);
/* call thunk, a cache offset */
void sequence_call(struct emit *e, uint32_t thunk);
bool sequence_is_call(const uint8_t *p);
/* Entered by a call from the cache: replaces the return address. constant: cache offset of the 8
 * bytes holding it, if that is wanted. */
bool sequence_thunk_wants_constant(uint64_t back);
void sequence_call_thunk(struct emit *e, uint64_t back, uint32_t constant);
/* Entry pad for the program address. It goes on to what is emitted next. counts: by site, see
 * target.c. */
void sequence_pad(struct emit *e, uint64_t pc, bool counts);
/* The program address that a pad is for. */
uint64_t sequence_pad_target(uint32_t pad);
/* The number of an indirect branch, for who counts its targets. */
void sequence_site(struct emit *e, uint32_t site);
/* If the branch under way is the site, counts in the field and gives rcx and rdx back, else goes to
 * the next such code: the rel32 of that jump lies before its `hit`. far: but when there have been
 * many that went through such code, it goes to rt_stub_miss. */
void sequence_count_site(struct emit *e, uint32_t site, uint32_t field, bool far);
enum { NO_SITE = 0x7fffffff }; /* what no branch is */
enum { MANY_FAR = 1 << 16 };
/* Of such code at the cache offset: the site; where it counts; the offset after its counting; and
 * does such code stand there at all? */
uint32_t sequence_counted_site(uint32_t at);
uint32_t sequence_count_hit(uint32_t at);
uint32_t sequence_count_done(uint32_t at);
bool sequence_counts_site(uint32_t at);
/* Goes on with the branch under way where the table says for the byte of its site, whose addresses
 * lie right before this code; rdx = pc. */
void sequence_jump_table(struct emit *e, unsigned byte, uint64_t pc);
enum { JUMP_TABLE_ENTRIES = 256 };
/* The site is another from now on. No other thread may execute it. */
void sequence_give_site(uint32_t at, uint32_t site, uint32_t field);
/* Pad-relative offset at which a pad has found that the branch is meant for it; the rel32 of the
 * jump of those for whom it is not lies right before. */
uint32_t sequence_pad_check_end(uint32_t pad);

/* field of the thread += 1, with a register spilled for it. */
void sequence_count_spilled(struct emit *e, uint32_t field);
/* eax = 0: what stands for an xbegin. */
void sequence_clear_eax(struct emit *e);
bool sequence_is_clear_eax(const uint8_t *p);
/* The pad of empty entries of the lookup tables, at offset 0 of the cache: nothing is there. */
void sequence_empty_pad(struct emit *e);

/*
 * Layout: what has been done when a thread is `at` bytes into the code.
 */

/* Of sequence_target and sequence_return. */
struct indirect_state {
	bool rcx_saved, rdx_saved, counted;
};
struct indirect_state sequence_indirect_at(uint32_t at, bool counts);
/* Of sequence_return with an immediate: rsp has been moved. */
bool sequence_return_has_popped(uint32_t at, bool counts);
/* The last instruction of a sequence: a real ret, or the jump to what the lookup has found. */
bool sequence_is_return(const uint8_t *p);
bool sequence_is_lookup_jump(const uint8_t *p);
/* Of sequence_call_thunk: the cache's return address is on the stack; it has been taken off; the
 * program's has taken its place; and what comes after that, which may count, has been done. */
enum thunk_step { THUNK_CALLED, THUNK_POPPED, THUNK_PUSHED, THUNK_COUNTED };
enum thunk_step sequence_thunk_at(uint64_t back, uint32_t at);
/* Of sequence_count_spilled: gives the program its register. Has it been counted? */
bool sequence_recover_count_spilled(const struct thread *t, uint32_t at, struct regs *regs);

#endif
