/* SPDX-License-Identifier: GPL-3.0-or-later */
/* st_accesses against instructions picked by hand; the expectations come from the manuals.
 * decode_zydis and processor do the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rt/arch/x86_64/pieces.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define AT(k, n) .kind = ST_ACCESS_##k, .count = 1, .bytes = (n)
#define ELEMENTS(k, n, e) .kind = ST_ACCESS_##k, .count = (n), .bytes = (e)
#define MASKED(k, n, e, bits)                                                                      \
	.kind = ST_ACCESS_##k, .count = (bits), .bytes = (n), .element = (e), .masked = true
#define R .read = true
#define W .write = true

struct operand_case {
	const char *text;
	uint8_t bytes[16];
	unsigned n;
	struct st_access want[ST_MAX_ACCESSES];
};

/* clang-format off */
static const struct operand_case cases[] = {
	/* moves and arithmetic */
	{"mov rax, rbx", {0x48, 0x89, 0xd8}, 0, {{.kind = 0}}},
	{"mov rax, [rbx]", {0x48, 0x8b, 0x03}, 1, {{AT(MODRM, 8), R}}},
	{"mov [rbx], ax", {0x66, 0x89, 0x03}, 1, {{AT(MODRM, 2), W}}},
	{"mov rax, [rbx], with a 66 that REX.W beats", {0x66, 0x48, 0x8b, 0x03}, 1, {{AT(MODRM, 8), R}}},
	{"mov [rbx], al", {0x88, 0x03}, 1, {{AT(MODRM, 1), W}}},
	{"movzx eax, word [rbx]", {0x0f, 0xb7, 0x03}, 1, {{AT(MODRM, 2), R}}},
	{"movsxd rax, dword [rbx]", {0x48, 0x63, 0x03}, 1, {{AT(MODRM, 4), R}}},
	{"mov [rbx], ds", {0x8c, 0x1b}, 1, {{AT(MODRM, 2), W}}},
	{"movabs al, [moffs]", {0xa0, 1, 2, 3, 4, 5, 6, 7, 8}, 1, {{AT(MOFFS, 1), R}}},
	{"movabs fs:[moffs], rax", {0x64, 0x48, 0xa3, 1, 2, 3, 4, 5, 6, 7, 8}, 1,
	 {{AT(MOFFS, 8), W, .segment = true}}},
	{"add [rbx], eax", {0x01, 0x03}, 1, {{AT(MODRM, 4), R, W}}},
	{"cmp [rbx], eax", {0x39, 0x03}, 1, {{AT(MODRM, 4), R}}},
	{"cmp byte [rbx], 1", {0x80, 0x3b, 1}, 1, {{AT(MODRM, 1), R}}},
	{"add byte [rbx], 1", {0x80, 0x03, 1}, 1, {{AT(MODRM, 1), R, W}}},
	{"lock inc qword gs:[rbx]", {0xf0, 0x65, 0x48, 0xff, 0x03}, 1,
	 {{AT(MODRM, 8), R, W, .segment = true}}},
	{"not dword [rbx]", {0xf7, 0x13}, 1, {{AT(MODRM, 4), R, W}}},
	{"test dword [rbx], 1", {0xf7, 0x03, 1, 0, 0, 0}, 1, {{AT(MODRM, 4), R}}},
	{"div qword [rbx]", {0x48, 0xf7, 0x33}, 1, {{AT(MODRM, 8), R}}},
	{"sete [rbx]", {0x0f, 0x94, 0x03}, 1, {{AT(MODRM, 1), W}}},
	{"cmove eax, [rbx]", {0x0f, 0x44, 0x03}, 1, {{AT(MODRM, 4), R}}},
	{"xchg [rbx], eax", {0x87, 0x03}, 1, {{AT(MODRM, 4), R, W}}},
	{"cmpxchg [rbx], ecx", {0x0f, 0xb1, 0x0b}, 1, {{AT(MODRM, 4), R, W}}},
	{"cmpxchg8b [rbx]", {0x0f, 0xc7, 0x0b}, 1, {{AT(MODRM, 8), R, W}}},
	{"cmpxchg16b [rbx]", {0x48, 0x0f, 0xc7, 0x0b}, 1, {{AT(MODRM, 16), R, W}}},
	{"bt dword [rbx], 3", {0x0f, 0xba, 0x23, 3}, 1, {{AT(MODRM, 4), R}}},
	{"bts qword [rbx], rcx", {0x48, 0x0f, 0xab, 0x0b}, 1, {{AT(MODRM, 8), R, W, .bit_string = true}}},
	{"bt word [rbx], cx", {0x66, 0x0f, 0xa3, 0x0b}, 1, {{AT(MODRM, 2), R, .bit_string = true}}},
	{"crc32 eax, word [rbx]", {0x66, 0xf2, 0x0f, 0x38, 0xf1, 0x03}, 1, {{AT(MODRM, 2), R}}},
	{"movbe [rbx], eax", {0x0f, 0x38, 0xf1, 0x03}, 1, {{AT(MODRM, 4), W}}},
	/* addresses only */
	{"lea rax, fs:[rbx]", {0x64, 0x48, 0x8d, 0x03}, 0, {{.kind = 0}}},
	{"nop dword [rax]", {0x0f, 0x1f, 0x00}, 0, {{.kind = 0}}},
	{"prefetcht0 [rax]", {0x0f, 0x18, 0x08}, 0, {{.kind = 0}}},
	{"prefetchw [rax]", {0x0f, 0x0d, 0x08}, 0, {{.kind = 0}}},
	{"clflush [rax]", {0x0f, 0xae, 0x38}, 0, {{.kind = 0}}},
	{"bndmov bnd0, [rax]", {0x66, 0x0f, 0x1a, 0x00}, 0, {{.kind = 0}}},
	/* the stack */
	{"push rbx", {0x53}, 1, {{AT(PUSH, 8), W}}},
	{"push bx", {0x66, 0x53}, 1, {{AT(PUSH, 2), W}}},
	{"push 1", {0x6a, 1}, 1, {{AT(PUSH, 8), W}}},
	{"push fs", {0x0f, 0xa0}, 1, {{AT(PUSH, 8), W}}},
	{"pop rbx", {0x5b}, 1, {{AT(POP, 8), R}}},
	{"push qword gs:[rbx]", {0x65, 0xff, 0x33}, 2, {{AT(MODRM, 8), R, .segment = true}, {AT(PUSH, 8), W}}},
	{"pop qword [rsp]", {0x8f, 0x04, 0x24}, 2, {{AT(POP, 8), R}, {AT(MODRM, 8), W, .pops = 8}}},
	{"pop word [rsp]", {0x66, 0x8f, 0x04, 0x24}, 2, {{AT(POP, 2), R}, {AT(MODRM, 2), W, .pops = 2}}},
	{"pushfq", {0x9c}, 1, {{AT(PUSH, 8), W}}},
	{"popf, 16 bits", {0x66, 0x9d}, 1, {{AT(POP, 2), R}}},
	{"call rel32", {0xe8, 1, 0, 0, 0}, 1, {{AT(PUSH, 8), W}}},
	{"call [rbx]", {0xff, 0x13}, 2, {{AT(MODRM, 8), R}, {AT(PUSH, 8), W}}},
	{"jmp [rbx]", {0xff, 0x23}, 1, {{AT(MODRM, 8), R}}},
	{"ret", {0xc3}, 1, {{AT(POP, 8), R}}},
	{"ret 8", {0xc2, 8, 0}, 1, {{AT(POP, 8), R}}},
	{"leave", {0xc9}, 1, {{AT(LEAVE, 8), R}}},
	{"enter 16, 0", {0xc8, 16, 0, 0}, 1, {{AT(PUSH, 8), W}}},
	{"enter 16, 1", {0xc8, 16, 0, 1}, 1, {{AT(PUSH, 16), W}}},
	{"enter 16, 3", {0xc8, 16, 0, 3}, 2, {{AT(FRAME, 16), R}, {AT(PUSH, 32), W}}},
	{"iretq", {0x48, 0xcf}, 1, {{AT(POP, 40), R}}},
	/* strings */
	{"movsb", {0xa4}, 2, {{AT(RSI, 1), R}, {AT(RDI, 1), W}}},
	{"rep movsq, from fs", {0x64, 0xf3, 0x48, 0xa5}, 2,
	 {{AT(RSI, 8), R, .rep = true, .segment = true}, {AT(RDI, 8), W, .rep = true}}},
	{"repne scasb", {0xf2, 0xae}, 1, {{AT(RDI, 1), R, .rep = true}}},
	{"repe cmpsw", {0xf3, 0x66, 0xa7}, 2, {{AT(RSI, 2), R, .rep = true}, {AT(RDI, 2), R, .rep = true}}},
	{"rep stosd", {0xf3, 0xab}, 1, {{AT(RDI, 4), W, .rep = true}}},
	{"lodsb, from [esi]", {0x67, 0xac}, 1, {{AT(RSI, 1), R}}},
	{"insd", {0x6d}, 1, {{AT(RDI, 4), W}}},
	{"xlat", {0xd7}, 1, {{AT(XLAT, 1), R}}},
	/* x87 and saved states */
	{"fld tword [rbx]", {0xdb, 0x2b}, 1, {{AT(MODRM, 10), R}}},
	{"fst dword [rbx]", {0xd9, 0x13}, 1, {{AT(MODRM, 4), W}}},
	{"fnstenv [rbx]", {0xd9, 0x33}, 1, {{AT(MODRM, 28), W}}},
	{"fldenv [rbx], 16 bits", {0x66, 0xd9, 0x23}, 1, {{AT(MODRM, 14), R}}},
	{"fnsave [rbx]", {0xdd, 0x33}, 1, {{AT(MODRM, 108), W}}},
	{"fxsave [rbx]", {0x0f, 0xae, 0x03}, 1, {{AT(MODRM, 512), W}}},
	{"fxrstor [rbx]", {0x0f, 0xae, 0x0b}, 1, {{AT(MODRM, 512), R}}},
	{"ldmxcsr [rbx]", {0x0f, 0xae, 0x13}, 1, {{AT(MODRM, 4), R}}},
	{"xsave [rbx]", {0x0f, 0xae, 0x23}, 1, {{AT(MODRM, 576), R, W, .variable = true}}},
	{"xrstor [rbx]", {0x0f, 0xae, 0x2b}, 1, {{AT(MODRM, 576), R, .variable = true}}},
	{"sgdt [rbx]", {0x0f, 0x01, 0x03}, 1, {{AT(MODRM, 10), W}}},
	/* vectors */
	{"movaps [rbx], xmm0", {0x0f, 0x29, 0x03}, 1, {{AT(MODRM, 16), W}}},
	{"movss xmm0, [rbx]", {0xf3, 0x0f, 0x10, 0x03}, 1, {{AT(MODRM, 4), R}}},
	{"movhps xmm0, [rbx]", {0x0f, 0x16, 0x03}, 1, {{AT(MODRM, 8), R}}},
	{"punpcklbw mm0, [rbx]", {0x0f, 0x60, 0x03}, 1, {{AT(MODRM, 4), R}}},
	{"insertps xmm0, [rbx], 0", {0x66, 0x0f, 0x3a, 0x21, 0x03, 0}, 1, {{AT(MODRM, 4), R}}},
	{"pextrb [rbx], xmm0, 1", {0x66, 0x0f, 0x3a, 0x14, 0x03, 1}, 1, {{AT(MODRM, 1), W}}},
	{"maskmovdqu xmm0, xmm1, to fs", {0x64, 0x66, 0x0f, 0xf7, 0xc1}, 1,
	 {{MASKED(RDI, 16, 1, 16), W, .segment = true}}},
	{"vmovaps ymm0, [rbx]", {0xc5, 0xfc, 0x28, 0x03}, 1, {{AT(MODRM, 32), R}}},
	{"vmaskmovps [rbx], ymm1, ymm0", {0xc4, 0xe2, 0x75, 0x2e, 0x03}, 1,
	 {{MASKED(MODRM, 32, 4, 8), W}}},
	{"vpgatherdq ymm0, [rbx+xmm1], ymm2", {0xc4, 0xe2, 0xed, 0x90, 0x04, 0x0b}, 1,
	 {{ELEMENTS(MODRM, 4, 8), R, .element = 8, .vsib = true, .masked = true}}},
	{"vgatherqps xmm0, [rbx+ymm1], xmm2", {0xc4, 0xe2, 0x6d, 0x93, 0x04, 0x0b}, 1,
	 {{ELEMENTS(MODRM, 4, 4), R, .element = 4, .vsib = true, .masked = true}}},
	{"vpscatterdd [rbx+zmm1]{k1}, zmm0", {0x62, 0xf2, 0x7d, 0x49, 0xa0, 0x04, 0x0b}, 1,
	 {{ELEMENTS(MODRM, 16, 4), W, .element = 4, .vsib = true, .masked = true}}},
	{"vaddps zmm0, zmm0, [rbx]", {0x62, 0xf1, 0x7c, 0x48, 0x58, 0x03}, 1, {{AT(MODRM, 64), R}}},
	{"vaddps zmm0{k1}, zmm0, [rbx]", {0x62, 0xf1, 0x7c, 0x49, 0x58, 0x03}, 1,
	 {{MASKED(MODRM, 64, 4, 16), R}}},
	{"vaddpd zmm0{k1}, zmm0, [rbx]{1to8}", {0x62, 0xf1, 0xfd, 0x59, 0x58, 0x03}, 1,
	 {{MASKED(MODRM, 8, 8, 8), R}}},
	{"vpermd zmm0{k1}, zmm0, [rbx], which reads all", {0x62, 0xf2, 0x7d, 0x49, 0x36, 0x03}, 1,
	 {{AT(MODRM, 64), R}}},
	{"vmovdqu8 [rbx]{k1}, zmm0", {0x62, 0xf1, 0x7f, 0x49, 0x7f, 0x03}, 1,
	 {{MASKED(MODRM, 64, 1, 64), W}}},
	{"vaddpd zmm0, zmm0, [rbx]{1to8}", {0x62, 0xf1, 0xfd, 0x58, 0x58, 0x03}, 1, {{AT(MODRM, 8), R}}},
	{"vaddph xmm0, xmm0, [rbx]{1to8}", {0x62, 0xf5, 0x7c, 0x18, 0x58, 0x03}, 1, {{AT(MODRM, 2), R}}},
	{"vpmovdb [rbx], zmm0", {0x62, 0xf2, 0x7e, 0x48, 0x31, 0x03}, 1, {{AT(MODRM, 16), W}}},
	{"vpcompressd [rbx]{k1}, zmm0", {0x62, 0xf2, 0x7d, 0x49, 0x8b, 0x03}, 1,
	 {{MASKED(MODRM, 64, 4, 16), W}}},
	/* the rest */
	{"movdir64b rax, fs:[rbx]", {0x64, 0x66, 0x0f, 0x38, 0xf8, 0x03}, 2,
	 {{AT(MODRM, 64), R, .segment = true}, {AT(REG, 64), W}}},
	{"enqcmd rax, [rbx]", {0xf2, 0x0f, 0x38, 0xf8, 0x03}, 2, {{AT(MODRM, 64), R}, {AT(REG, 64), W}}},
	{"clzero", {0x0f, 0x01, 0xfc}, 1, {{AT(LINE, 64), W}}},
	{"rdtscp", {0x0f, 0x01, 0xf9}, 0, {{.kind = 0}}},
	{"syscall", {0x0f, 0x05}, 0, {{.kind = 0}}},
	{"tileloadd tmm0, [rbx+rcx]", {0xc4, 0xe2, 0x7b, 0x4b, 0x04, 0x0b}, 1,
	 {{AT(MODRM, 0), R, .variable = true}}},
	{"ldtilecfg [rbx]", {0xc4, 0xe2, 0x78, 0x49, 0x03}, 1, {{AT(MODRM, 64), R}}},
};
/* clang-format on */

static void
assert_same(const char *text, unsigned at, const struct st_access *got,
            const struct st_access *want)
{
#define FIELD(f)                                                                                   \
	if (got->f != want->f)                                                                     \
	fail_msg("%s: access %u: " #f " is %u, not %u", text, at, got->f, want->f)
	FIELD(kind);
	FIELD(count);
	FIELD(bytes);
	FIELD(pops);
	FIELD(read);
	FIELD(write);
	FIELD(rep);
	FIELD(vsib);
	FIELD(masked);
	if (want->masked)
		FIELD(element);
	FIELD(variable);
	FIELD(bit_string);
	FIELD(segment);
#undef FIELD
}

static void
every_field(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct operand_case *c = &cases[i];
		struct st_access got[ST_MAX_ACCESSES];
		struct st_insn in;
		unsigned n;

		if (!st_decode(c->bytes, sizeof c->bytes, &in))
			fail_msg("%s is not decoded", c->text);
		n = st_accesses(&in, c->bytes, got);
		if (n != c->n)
			fail_msg("%s: %u accesses, not %u", c->text, n, c->n);
		for (unsigned k = 0; k < n; k++)
			assert_same(c->text, k, &got[k], &c->want[k]);
	}
}

/* ---- pieces: what tests/decode/processor.c cannot see ---- */

static uint8_t area[576]; /* of xsave */

static int
read_area(void *to, uint64_t from, size_t bytes)
{
	if (from < 0x1000 || from + bytes > 0x1000 + sizeof area)
		return -1;
	memcpy(to, area + (from - 0x1000), bytes);
	return 0;
}

static const struct st_xsave layout = {.enabled = 0xe7,
                                       .in_use = 0x07,
                                       .offset = {[2] = 576, [5] = 832, [6] = 896, [7] = 1408},
                                       .bytes = {[2] = 256, [5] = 64, [6] = 512, [7] = 1024}};

/* Bytes of the access at 0x1000, which is one piece, with rax and rdx saying what is asked for. */
static uint64_t
bytes_of(const uint8_t *code, uint64_t asked)
{
	uint64_t gpr[16] = {[0] = (uint32_t)asked, [2] = asked >> 32, [3] = 0x1000};
	struct st_state s = {.gpr = gpr, .xsave = &layout, .read = read_area};
	struct st_access a[ST_MAX_ACCESSES];
	struct st_piece pieces[ST_MOST_PIECES];
	struct st_insn in;

	assert_true(st_decode(code, 15, &in));
	assert_int_equal(st_accesses(&in, code, a), 1);
	assert_true(st_access_has_pieces(&in, code, a));
	assert_int_equal(st_pieces(&in, code, a, &s, pieces), 1);
	assert_int_equal(pieces->address, 0x1000);
	return pieces->bytes;
}

static void
xsave_areas(void **state)
{
	static const uint8_t xsave[16] = {0x0f, 0xae, 0x23}, xrstor[16] = {0x0f, 0xae, 0x2b},
	                     xsaveopt[16] = {0x0f, 0xae, 0x33}, xsavec[16] = {0x0f, 0xc7, 0x23};
	uint64_t has = 0x27, compact = 1ull << 63 | 0xe7;

	(void)state;
	assert_int_equal(bytes_of(xsave, 3), 576);
	assert_int_equal(bytes_of(xsave, 7), 832);
	assert_int_equal(bytes_of(xsave, UINT64_MAX), 2432);
	assert_int_equal(bytes_of(xsaveopt, UINT64_MAX), 832);
	assert_int_equal(bytes_of(xsavec, 0xe4), 832);
	memset(area, 0, sizeof area);
	assert_int_equal(bytes_of(xrstor, UINT64_MAX), 576);
	memcpy(area + 512, &has, 8);
	assert_int_equal(bytes_of(xrstor, UINT64_MAX), 896);
	assert_int_equal(bytes_of(xrstor, 7), 832);
	memcpy(area + 520, &compact, 8);
	assert_int_equal(bytes_of(xrstor, UINT64_MAX), 896);
}

/* What cannot be read ends a comparison, before it. */
static void
strings_at_ends(void **state)
{
	static const uint8_t scas[16] = {0xf2, 0xae};
	uint64_t gpr[16] = {[0] = 1, [1] = UINT64_MAX, [7] = 0x1000 + sizeof area - 5};
	struct st_state s = {.gpr = gpr, .read = read_area};
	struct st_access a[ST_MAX_ACCESSES];
	struct st_piece pieces[ST_MOST_PIECES];
	struct st_insn in;

	(void)state;
	memset(area, 0, sizeof area);
	assert_true(st_decode(scas, 15, &in));
	assert_int_equal(st_accesses(&in, scas, a), 1);
	assert_int_equal(st_pieces(&in, scas, a, &s, pieces), 1);
	assert_int_equal(pieces->address, gpr[7]);
	assert_int_equal(pieces->bytes, 5);
	area[sizeof area - 3] = 1;
	assert_int_equal(st_pieces(&in, scas, a, &s, pieces), 1);
	assert_int_equal(pieces->bytes, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_field),
	        cmocka_unit_test(xsave_areas),
	        cmocka_unit_test(strings_at_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
