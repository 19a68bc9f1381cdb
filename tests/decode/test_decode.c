/* SPDX-License-Identifier: GPL-3.0-or-later */
/* st_decode against instructions picked by hand, and its promises about short input. decode_zydis
 * does the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cases.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* One field per line, so that a failure names it. */
static void
assert_same(const char *text, const struct st_insn *got, const struct st_insn *want)
{
#define FIELD(f)                                                                                   \
	if (got->f != want->f)                                                                     \
	fail_msg("%s: " #f " is %#x, not %#x", text, (unsigned)got->f, (unsigned)want->f)
	FIELD(len);
	FIELD(cls);
	FIELD(op_off);
	FIELD(modrm_off);
	FIELD(disp_off);
	FIELD(disp_len);
	FIELD(imm_off);
	FIELD(imm_len);
	FIELD(rex_off);
	FIELD(vex_off);
	FIELD(flags);
	FIELD(flags_read);
	FIELD(flags_written);
	FIELD(gpr_read);
	FIELD(gpr_written);
	FIELD(rel);
	if (want->cls == ST_C_JCC)
		FIELD(cond);
#undef FIELD
}

static void
every_field(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct st_insn got;
		uint8_t buf[64];

		memset(buf, 0xcc, sizeof(buf));
		memcpy(buf, cases[i].bytes, cases[i].want.len);
		assert_int_equal(st_decode(buf, sizeof(buf), &got), cases[i].want.len);
		assert_same(cases[i].text, &got, &cases[i].want);
		/* with no byte to spare, and garbage in the result before */
		memset(&got, 0xff, sizeof(got));
		assert_int_equal(st_decode(buf, cases[i].want.len, &got), cases[i].want.len);
		assert_same(cases[i].text, &got, &cases[i].want);
	}
}

static void
cut_off(void **state)
{
	static const struct st_insn want = {.cls = ST_C_INVALID};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		for (unsigned n = 1; n < cases[i].want.len; n++) {
			struct st_insn got;

			memset(&got, 0xff, sizeof(got));
			assert_int_equal(st_decode(cases[i].bytes, n, &got), 0);
			assert_same(cases[i].text, &got, &want);
		}
	}
}

static void
no_instruction(void **state)
{
	static const uint8_t none[][16] = {
	        {0x06},
	        {0x07},
	        {0x0e},
	        {0x16},
	        {0x17},
	        {0x1e},
	        {0x1f},
	        {0x27},
	        {0x2f},
	        {0x37},
	        {0x3f},
	        {0x60},
	        {0x61},
	        {0x82},
	        {0x9a},
	        {0xce},
	        {0xd4},
	        {0xd5},
	        {0xd6},
	        {0xea},
	        {0x62, 0x08, 0x7c, 0x48, 0x58}, /* reserved bit 3 of the first payload byte */
	        {0x62, 0xf1, 0x78, 0x48,
	         0x58}, /* not EVEX: bit 2 of the second payload byte is clear */
	        {0x62, 0xf4, 0x7c, 0x48, 0x58}, /* no map 4 */
	        {0xc4, 0xe4, 0x78, 0x58, 0xc0}, /* no map 4 either */
	        {0x66, 0xc5, 0xf8, 0x58, 0xc0}, /* 66, f2, f3, lock and REX do not go with VEX */
	        {0xf3, 0xc5, 0xf8, 0x58, 0xc0},
	        {0xf2, 0xc5, 0xf8, 0x58, 0xc0},
	        {0xf0, 0xc5, 0xf8, 0x58, 0xc0},
	        {0x48, 0xc5, 0xf8, 0x58, 0xc0},
	        {0x40, 0x62, 0xf1, 0x7c, 0x48, 0x58, 0xc1},
	        {0x8f, 0xc8}, /* pop is /0 only */
	        {0xff, 0xf8},
	        {0xfe, 0xd0}, /* groups 5 and 4 */
	        {0xff, 0xd8},
	        {0xff, 0xe8}, /* far transfers need memory */
	        {0x8d, 0xc0}, /* so does lea */
	        {0xc6, 0x48},
	        {0xc7, 0xc8}, /* group 11 */
	        {0x0f, 0xba, 0xc0},
	        {0x0f, 0xc7, 0xc8},
	        {0x0f, 0xb8, 0xc0},
	        {0x0f, 0x04},
	        {0x0f, 0x0a},
	        {0x0f, 0x0c},
	        {0x0f, 0x24, 0xc0},
	        {0x0f, 0x36},
	        {0x0f, 0x39},
	        {0x0f, 0x3f},
	        {0x0f, 0x7a, 0xc0},
	        {0x8e, 0xc8},
	        {0x8c, 0xf0}, /* mov cs, and a seventh segment register */
	        {0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
	         0x66, 0x90},
	        {0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
	         0x89, 0xc0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(none); i++) {
		uint8_t buf[64] = {0};
		struct st_insn got;

		memcpy(buf, none[i], sizeof(none[i]));
		if (st_decode(buf, sizeof(buf), &got) != 0 || got.cls != ST_C_INVALID)
			fail_msg("%02x %02x %02x is taken for an instruction", buf[0], buf[1],
			         buf[2]);
		assert_in_range(got.len, 1, 15);
	}
}

/* Random bytes before an unreadable page: a read past the end faults. */
static void
reads_no_further(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *map =
	        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *end = map + page;
	unsigned seed = 1;

	(void)state;
	assert_ptr_not_equal(map, MAP_FAILED);
	assert_int_equal(mprotect(end, page, PROT_NONE), 0);
	for (unsigned round = 0; round < 200000; round++) {
		uint8_t copy[64] = {0};
		struct st_insn near, far;

		for (unsigned i = 1; i <= 40; i++)
			end[-(int)i] = (uint8_t)rand_r(&seed);
		for (size_t n = 1; n <= 40; n += n < 16 ? 1 : 8) {
			unsigned len = st_decode(end - n, n, &near);

			/* the same bytes with others behind decode alike, if they sufficed */
			memcpy(copy, end - n, n);
			if (len) {
				assert_int_equal(st_decode(copy, sizeof(copy), &far), len);
				assert_memory_equal(&near, &far, sizeof(near));
			} else if (st_decode(copy, sizeof(copy), &far) != 0 && far.len <= n) {
				fail_msg("%zu bytes hold an instruction of %u", n, far.len);
			}
		}
	}
	munmap(map, 2 * page);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_field),
	        cmocka_unit_test(cut_off),
	        cmocka_unit_test(no_instruction),
	        cmocka_unit_test(reads_no_further),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
