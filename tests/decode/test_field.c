/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operands that are fields of the current thread: whatever stands where in the cache, they name the
 * field, by rip, and with several threads through gs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rt/arch/x86_64/decode.h"
#include "rt/arch/x86_64/emit.h"
#include "wire/area.h"

static struct emit_target target;

static const uint32_t fields[] = {0, 8, 0xffff8, ST_THREAD_PRIVATE, 0x7ffffff8};
static const uint32_t places[] = {0, 0x1234567, 0xffffff0};
#define EACH(v, list) for (size_t v = 0; v < sizeof(list) / sizeof((list)[0]); v++)

/* The field that the instruction at the place names, as a processor sees it. */
static uint64_t
named(const uint8_t *code, uint32_t place, unsigned len)
{
	struct st_insn in;
	uint32_t disp;
	assert_int_equal(st_decode(code, 15, &in), len);
	assert_true(in.flags & ST_I_RIPREL);
	assert_int_equal(!(in.flags & ST_I_GSSEG), !target.threaded);
	assert_int_equal(!(in.flags & ST_I_ADDR32), !target.threaded);
	memcpy(&disp, code + in.disp_off, 4);
	uint64_t sum = target.area + place + len + (uint64_t)(int64_t)(int32_t)disp;
	uint64_t field = target.threaded ? (uint32_t)sum : sum - target.thread;
	assert_int_equal(field, emitted_field(&target, disp, place + len));
	return field;
}

static void
check_at(uint32_t place)
{
	EACH(f, fields)
	{
		uint8_t code[32] = {0};
		if (!target.threaded && fields[f] > 1u << 30)
			continue; /* out of reach: there is one such thread at most */
		for (unsigned reg = 0; reg < 16; reg++) {
			struct emit e = {code, place, &target};
			emit_save(&e, reg, fields[f]);
			assert_int_equal(e.off - place, emit_field_len(&target));
			assert_int_equal(named(code, place, emit_field_len(&target)), fields[f]);
		}
		struct emit e = {code, place, &target};
		emit_field_prefixes(&e); /* mov dword [field], -1 */
		e8(&e, 0xc7);
		emit_field_operand(&e, 0, fields[f], 4);
		e32(&e, 0xffffffff);
		assert_int_equal(named(code, place, e.off - place), fields[f]);
	}
}

static void
test_fields(void **state)
{
	(void)state;
	static const uint64_t regions[] = {0x10000000, 0x555500000000, 0x7ffff0123000};
	EACH(r, regions)
	{
		target.area = regions[r];
		target.thread = target.area + 0x10000000;
		EACH(p, places)
		{
			target.threaded = false;
			check_at(places[p]);
			target.threaded = true;
			check_at(places[p]);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_fields)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
