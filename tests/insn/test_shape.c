/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shapes of instructions picked by hand, from the manuals, and what the cache promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "insn/shape.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define ALL_16                                                                                     \
	"zmm0 zmm1 zmm2 zmm3 zmm4 zmm5 zmm6 zmm7 zmm8 zmm9 zmm10 zmm11 zmm12 zmm13 zmm14 zmm15"

struct shape_case {
	unsigned length;
	uint8_t bytes[16];
	const char *mnemonic, *category, *read, *written;
};

/* clang-format off */
static const struct shape_case cases[] = {
	/* general registers */
	{3, {0x48, 0x89, 0xd8}, "mov", "DATAXFER", "rbx", "rax"},
	{2, {0xb0, 1}, "mov", "DATAXFER", "", "rax"},
	{2, {0x88, 0xe0}, "mov", "DATAXFER", "rax", "rax"}, /* al, ah */
	{2, {0x31, 0xc0}, "xor", "LOGICAL", "rax", "rax rflags"},
	{3, {0x49, 0x01, 0xc7}, "add", "BINARY", "rax r15", "r15 rflags"},
	{2, {0x11, 0xc8}, "adc", "BINARY", "rax rcx rflags", "rax rflags"},
	{2, {0x39, 0xc8}, "cmp", "BINARY", "rax rcx", "rflags"},
	{4, {0x48, 0x0f, 0xaf, 0xc3}, "imul", "BINARY", "rax rbx", "rax rflags"},
	{3, {0x48, 0xf7, 0xeb}, "imul", "BINARY", "rax rbx", "rax rdx rflags"},
	{3, {0x6b, 0xc1, 7}, "imul", "BINARY", "rcx", "rax rflags"},
	{3, {0x48, 0xf7, 0xfb}, "idiv", "BINARY", "rax rdx rbx", "rax rdx rflags"},
	{2, {0xd3, 0xe0}, "shl", "SHIFT", "rax rcx", "rax rflags"},
	{3, {0x0f, 0x44, 0xc3}, "cmovz", "CMOV", "rbx rflags", "rax"},
	{3, {0x0f, 0x97, 0xc1}, "setnbe", "SETCC", "rflags", "rcx"},
	{3, {0x87, 0x04, 0x8b}, "xchg", "DATAXFER", "rax rcx rbx", "rax"}, /* [rbx+rcx*4], eax */
	{3, {0x0f, 0xb1, 0x0b}, "cmpxchg", "SEMAPHORE", "rax rcx rbx", "rax rflags"},
	{4, {0x48, 0x0f, 0xc7, 0x0e}, "cmpxchg16b", "SEMAPHORE", "rax rcx rdx rbx rsi", "rax rdx rflags"},
	{1, {0x99}, "cdq", "CONVERT", "rax", "rdx"},
	{1, {0xf5}, "cmc", "FLAGOP", "rflags", "rflags"},
	{1, {0xd7}, "xlat", "MISC", "rax rbx", "rax"},
	{5, {0xc4, 0xe2, 0x73, 0xf6, 0xc3}, "mulx", "BMI2", "rdx rbx", "rax rcx"},
	{5, {0x66, 0x0f, 0x38, 0xf6, 0xc3}, "adcx", "ADOX_ADCX", "rax rbx rflags", "rax rflags"},
	/* addresses */
	{4, {0x64, 0x48, 0x8d, 0x03}, "lea", "MISC", "rbx", "rax"},
	{7, {0x48, 0x8b, 0x05, 1, 0, 0, 0}, "mov", "DATAXFER", "rip", "rax"},
	{9, {0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0}, "mov", "DATAXFER", "fs", "rax"},
	{3, {0x67, 0x89, 0x03}, "mov", "DATAXFER", "rax rbx", ""},
	{3, {0x0f, 0x1f, 0x00}, "nop", "WIDENOP", "", ""},
	{1, {0x90}, "nop", "NOP", "", ""},
	{2, {0xf3, 0x90}, "pause", "MISC", "", ""},
	/* the stack and transfers */
	{1, {0x55}, "push", "PUSH", "rsp rbp", "rsp"},
	{1, {0x5d}, "pop", "POP", "rsp", "rsp rbp"},
	{1, {0xc9}, "leave", "MISC", "rbp", "rsp rbp"},
	{1, {0x9c}, "pushfq", "PUSH", "rsp rflags", "rsp"},
	{5, {0xe8, 1, 0, 0, 0}, "call", "CALL", "rsp rip", "rsp rip"},
	{1, {0xc3}, "ret", "RET", "rsp", "rsp rip"},
	{2, {0xff, 0xe0}, "jmp", "UNCOND_BR", "rax", "rip"},
	{2, {0x74, 1}, "jz", "COND_BR", "rflags rip", "rip"},
	/* system */
	{2, {0x0f, 0xa2}, "cpuid", "MISC", "rax rcx", "rax rcx rdx rbx"},
	{2, {0x0f, 0x05}, "syscall", "SYSCALL", "rflags rip", "rcx r11 rflags rip cs ss"},
	{2, {0x0f, 0x31}, "rdtsc", "SYSTEM", "", "rax rdx"},
	/* strings */
	{2, {0xf3, 0xa4}, "movsb", "STRINGOP", "rcx rsi rdi rflags", "rcx rsi rdi"},
	{1, {0xaa}, "stosb", "STRINGOP", "rax rdi rflags", "rdi"},
	{2, {0xf2, 0xae}, "scasb", "STRINGOP", "rax rcx rdi rflags", "rcx rdi rflags"},
	{1, {0xa6}, "cmpsb", "STRINGOP", "rsi rdi rflags", "rsi rdi rflags"},
	{2, {0xf3, 0xac}, "lodsb", "STRINGOP", "rcx rsi rflags", "rax rcx rsi"},
	/* x87 and MMX */
	{2, {0xd9, 0x2b}, "fldcw", "X87_ALU", "rbx", "x87control"},
	{2, {0xdc, 0xc1}, "fadd", "X87_ALU", "st0 st1", "st1 x87status"},
	{2, {0xd9, 0xc1}, "fld", "X87_ALU", "st1", "st0 x87status"},
	{2, {0xdf, 0xe0}, "fnstsw", "X87_ALU", "x87status", "rax"},
	{3, {0x0f, 0x6f, 0xc1}, "movq", "DATAXFER", "mm1", "mm0"},
	/* vectors */
	{3, {0x0f, 0x58, 0xc1}, "addps", "SSE", "zmm0 zmm1", "zmm0"},
	{4, {0xc5, 0xf4, 0x58, 0xc2}, "vaddps", "AVX", "zmm1 zmm2", "zmm0"},
	{4, {0xc5, 0xf4, 0x58, 0x03}, "vaddps", "AVX", "rbx zmm1", "zmm0"},
	{6, {0x62, 0xf1, 0x74, 0x48, 0x58, 0xc2}, "vaddps", "AVX512", "zmm1 zmm2", "zmm0"},
	{6, {0x62, 0xf1, 0x74, 0x49, 0x58, 0xc2}, "vaddps", "AVX512", "zmm0 zmm1 zmm2 k1", "zmm0"},
	{6, {0x62, 0xf1, 0x74, 0xc9, 0x58, 0xc2}, "vaddps", "AVX512", "zmm1 zmm2 k1", "zmm0"}, /* {z} */
	{6, {0x62, 0xf2, 0x6f, 0x48, 0x52, 0x03}, "vp4dpwssd", "AVX512_4VNNIW", "rbx zmm0 zmm1 zmm2 zmm3", "zmm0"},
	{6, {0xc4, 0xe2, 0xed, 0x90, 0x04, 0x0b}, "vpgatherdq", "AVX2GATHER", "rbx zmm0 zmm1 zmm2", "zmm0 zmm2"},
	{4, {0xc5, 0xf8, 0x93, 0xc1}, "kmovw", "KMASK", "k1", "rax"},
	{4, {0x66, 0x0f, 0x6e, 0xc1}, "movd", "DATAXFER", "rcx", "zmm0"},
	{5, {0x66, 0x0f, 0x38, 0x14, 0xcb}, "blendvps", "SSE", "zmm0 zmm1 zmm3", "zmm1"},
	{5, {0xc4, 0xe2, 0x79, 0x17, 0xc1}, "vptest", "LOGICAL", "zmm0 zmm1", "rflags"},
	{3, {0xc5, 0xf8, 0x77}, "vzeroupper", "AVX", "", ALL_16},
	{6, {0x62, 0xf2, 0x6f, 0x48, 0x68, 0xcb}, "vp2intersectd", "AVX512_VP2INTERSECT", "zmm2 zmm3", "k0 k1"},
	{3, {0x0f, 0xae, 0x13}, "ldmxcsr", "SSE", "rbx", "mxcsr"},
};
/* clang-format on */

static void
join(const uint16_t *registers, unsigned n, char out[256])
{
	out[0] = '\0';
	for (unsigned i = 0; i < n; i++) {
		strcat(out, i ? " " : "");
		strcat(out, st_register_name(registers[i]));
	}
}

static void
check(const struct shape_case *c, const struct st_shape *shape, unsigned length)
{
	char read[256], written[256];

	if (!shape)
		fail_msg("%s: nothing found", c->mnemonic);
	join(shape->read, shape->n_read, read);
	join(shape->written, shape->n_written, written);
	if (length != c->length || strcmp(shape->mnemonic, c->mnemonic) != 0 ||
	    strcmp(shape->category, c->category) != 0 || strcmp(read, c->read) != 0 ||
	    strcmp(written, c->written) != 0)
		fail_msg("%s %s of %u reads '%s' writes '%s', not %s %s of %u '%s' '%s'",
		         shape->mnemonic, shape->category, length, read, written, c->mnemonic,
		         c->category, c->length, c->read, c->written);
}

/* New and from the cache; with other bytes behind and with none. */
static void
by_hand(void **state)
{
	struct st_shapes *shapes = st_shapes_new();

	(void)state;
	assert_non_null(shapes);
	for (unsigned round = 0; round < 3; round++) {
		for (size_t i = 0; i < COUNT(cases); i++) {
			uint8_t bytes[16];
			unsigned length;
			const struct st_shape *shape;

			memset(bytes, round, sizeof bytes);
			memcpy(bytes, cases[i].bytes, cases[i].length);
			shape = st_shapes_find(shapes, bytes,
			                       round == 2 ? cases[i].length : sizeof bytes,
			                       &length);
			check(&cases[i], shape, length);
			assert_ptr_equal(st_shapes_get(shapes, shape->number), shape);
		}
	}
	assert_true(st_shapes_count(shapes) <= COUNT(cases));
	st_shapes_free(shapes);
}

/* A constant or a displacement makes no new shape; a register does. */
static void
kept_once(void **state)
{
	static const uint8_t one[] = {0x83, 0xc0, 1}, two[] = {0x83, 0xc0, 2},
	                     other[] = {0x83, 0xc1, 2};
	struct st_shapes *shapes = st_shapes_new();
	const struct st_shape *shape = st_shapes_find(shapes, one, 3, NULL);

	(void)state;
	assert_non_null(shape);
	assert_ptr_equal(st_shapes_find(shapes, two, 3, NULL), shape);
	assert_ptr_not_equal(st_shapes_find(shapes, other, 3, NULL), shape);
	assert_int_equal(st_shapes_count(shapes), 2);
	assert_null(st_shapes_get(shapes, 2));
	st_shapes_free(shapes);
}

static void
no_instruction(void **state)
{
	static const uint8_t none[] = {0x06, 0x48};
	struct st_shapes *shapes = st_shapes_new();
	unsigned length = 9;

	(void)state;
	assert_null(st_shapes_find(shapes, none, 2, &length));
	assert_int_equal(length, 0);
	assert_null(st_shapes_find(shapes, none + 1, 1, &length)); /* cut off */
	assert_null(st_shapes_find(shapes, none, 0, &length));
	st_shapes_free(shapes);
	st_shapes_free(NULL);
}

/* Random bytes, so many that the tables grow: an old cache says the same as a new one. */
static void
same_from_cache(void **state)
{
	struct st_shapes *old = st_shapes_new();
	unsigned seed = 1, found = 0;

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct st_shapes *fresh = st_shapes_new();

		for (unsigned i = 0; i < 100; i++) {
			uint8_t bytes[16];
			unsigned a, b;

			for (unsigned k = 0; k < sizeof bytes; k++)
				bytes[k] = (uint8_t)(rand_r(&seed) >> 8);
			const struct st_shape *x = st_shapes_find(old, bytes, 16, &a);
			const struct st_shape *y = st_shapes_find(fresh, bytes, 16, &b);
			assert_int_equal(a, b);
			if (!x || !y) {
				assert_true(!x && !y);
				continue;
			}
			found++;
			assert_string_equal(x->mnemonic, y->mnemonic);
			assert_memory_equal(x->read, y->read, sizeof x->read);
			assert_memory_equal(x->written, y->written, sizeof x->written);
		}
		st_shapes_free(fresh);
	}
	assert_true(found > 10000);
	assert_true(st_shapes_count(old) > 1000);
	st_shapes_free(old);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(by_hand),
	        cmocka_unit_test(kept_once),
	        cmocka_unit_test(no_instruction),
	        cmocka_unit_test(same_from_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
