/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes of stubs and patches, and when they are out of reach. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probe/stub.h"

enum { AT = 0x1000, BIAS = 0x400000, ENTRY = AT + BIAS, STUB = 0x500040, SLOT = 0x500000 };
static const uint64_t HIGH = 0x555500000000;

static struct st_probe_site
site_with(const char *bytes, size_t n, bool ends)
{
	struct st_probe_site site = {.at = AT, .size = 64, .patched = 5, .ends = ends};
	site.displaced = (uint8_t)n;
	memset(site.bytes, 0x90, sizeof site.bytes);
	memcpy(site.bytes, bytes, n);
	return site;
}

static struct st_probe_where
place(uint64_t bias)
{
	return (struct st_probe_where){
	        .bias = BIAS + bias, .stub = STUB + bias, .slot = SLOT + bias, .index = 0x01020304};
}

enum { BEFORE = 16 }; /* bytes of a stub before what is displaced */

/* What a stub has for the displaced bytes and behind them. */
#define ASSERT_MOVED(displaced_, ends_, bias_, expected)                                           \
	do {                                                                                       \
		struct st_probe_site site_ = site_with(displaced_, sizeof(displaced_) - 1, ends_); \
		struct st_probe_where where_ = place(bias_);                                       \
		struct st_probe_stub stub_;                                                        \
		assert_int_equal(st_probe_stub(&site_, &where_, &stub_), ST_OK);                   \
		assert_int_equal(stub_.size, BEFORE + sizeof(expected) - 1);                       \
		assert_memory_equal(stub_.bytes + BEFORE, expected, sizeof(expected) - 1);         \
	} while (0)

static void
whole_stub(void **state)
{
	struct st_probe_site site = site_with("\x55\x48\x89\xe5\x53", 5, false);
	struct st_probe_where where = place(0);
	struct st_probe_stub stub;
	(void)state;
	assert_int_equal(st_probe_stub(&site, &where, &stub), ST_OK);
	static const char expected[] = "\x68\x04\x03\x02\x01"     /* push $0x1020304 */
	                               "\xff\x15\xb5\xff\xff\xff" /* call *-0x4b(%rip) */
	                               "\x48\x8d\x64\x24\x08"     /* lea 8(%rsp), %rsp */
	                               "\x55\x48\x89\xe5\x53"
	                               "\xe9\xab\x0f\xf0\xff"; /* jmp 0x401005 */
	assert_int_equal(stub.size, sizeof expected - 1);
	assert_memory_equal(stub.bytes, expected, stub.size);
	assert_int_equal(stub.patched, 5);
	assert_memory_equal(stub.patch, "\xe9\x3b\xf0\x0f\x00", 5); /* jmp 0x500040 */
	assert_int_equal(stub.insns, 3);
	assert_int_equal(stub.map[1].from, 1);
	assert_int_equal(stub.map[1].to, 17);
	assert_int_equal(stub.map[2].from, 4);
	assert_int_equal(stub.map[2].to, 20);
}

/* A handler that stands for the function gets its number and the address of what follows. */
static void
answered(void **state)
{
	struct st_probe_site site = site_with("\x55\x48\x89\xe5\x53", 5, false);
	struct st_probe_where where = place(0);
	struct st_probe_stub stub;
	(void)state;
	where.answers = true;
	assert_int_equal(st_probe_stub(&site, &where, &stub), ST_OK);
	static const char expected[] = "\x48\x8d\x0d\x0b\x00\x00\x00" /* lea 11(%rip), %rcx */
	                               "\xba\x04\x03\x02\x01"         /* mov $0x1020304, %edx */
	                               "\xff\x25\xae\xff\xff\xff"     /* jmp *-0x52(%rip) */
	                               "\x55\x48\x89\xe5\x53"
	                               "\xe9\xa9\x0f\xf0\xff"; /* jmp 0x401005 */
	assert_int_equal(stub.size, sizeof expected - 1);
	assert_memory_equal(stub.bytes, expected, stub.size);
	assert_int_equal(stub.map[0].to, ST_PROBE_STUB_REST);
}

static void
island(void **state)
{
	struct st_probe_site site = site_with("\x31\xc0\xc3", 3, true);
	struct st_probe_where where = place(0);
	struct st_probe_stub stub;
	(void)state;
	site.way = ST_PROBE_ISLAND;
	site.patched = 2;
	site.island = AT - 0x10;
	assert_int_equal(st_probe_stub(&site, &where, &stub), ST_OK);
	assert_int_equal(stub.patched, 2);
	assert_memory_equal(stub.patch, "\xeb\xee", 2);
	assert_memory_equal(stub.island, "\xe9\x4b\xf0\x0f\x00", 5);
	assert_int_equal(stub.size, BEFORE + 3);
}

static void
moved(void **state)
{
	(void)state;
	/* mov 0x10(%rip), %eax; cmpl $1, 0x10(%rip) */
	ASSERT_MOVED("\x8b\x05\x10\x00\x00\x00", false, 0,
	             "\x8b\x05\xc0\x0f\xf0\xff\xe9\xab\x0f\xf0\xff");
	ASSERT_MOVED("\x83\x3d\x10\x00\x00\x00\x01", false, 0,
	             "\x83\x3d\xc0\x0f\xf0\xff\x01\xe9\xab\x0f\xf0\xff");
	/* je .+0x12; nop; nop; nop */
	ASSERT_MOVED("\x74\x10\x0f\x1f\x00", false, 0,
	             "\x0f\x84\xbc\x0f\xf0\xff\x0f\x1f\x00\xe9\xa7\x0f\xf0\xff");
	/* jrcxz .+0x12; nop */
	ASSERT_MOVED("\xe3\x10\x0f\x1f\x00", false, 0,
	             "\xe3\x02\xeb\x05\xe9\xb9\x0f\xf0\xff\x0f\x1f\x00\xe9\xa4\x0f\xf0\xff");
	/* jecxz keeps its prefix */
	ASSERT_MOVED("\x67\xe3\x10\x66\x90", false, 0,
	             "\x67\xe3\x02\xeb\x05\xe9\xb9\x0f\xf0\xff\x66\x90\xe9\xa4\x0f\xf0\xff");
	/* jmp .+0x12, and 0xf at the entry's beginning: dec %edi; jnz entry; ret */
	ASSERT_MOVED("\xeb\x10", true, 0, "\xe9\xbd\x0f\xf0\xff");
	ASSERT_MOVED("\xff\xcf\x75\xfc\xc3", true, 0, "\xff\xcf\x0f\x85\xf8\xff\xff\xff\xc3");
	/* xbegin .+0x16 */
	ASSERT_MOVED("\xc7\xf8\x10\x00\x00\x00", false, 0,
	             "\xc7\xf8\xc0\x0f\xf0\xff\xe9\xab\x0f\xf0\xff");
}

static void
calls(void **state)
{
	(void)state;
	/* call .+0x105, near and high in memory */
	ASSERT_MOVED("\xe8\x00\x01\x00\x00", true, 0, "\x68\x05\x10\x40\x00\xe9\xab\x10\xf0\xff");
	ASSERT_MOVED("\xe8\x00\x01\x00\x00", true, HIGH,
	             "\x68\x05\x10\x40\x00\xc7\x44\x24\x04\x55\x55\x00\x00\xe9\xa3\x10\xf0\xff");
	/* call *0x10(%rip); *%rax; *%r12; *(%rsp); *0x78(%rsp); *0x10(%r12) */
	ASSERT_MOVED("\xff\x15\x10\x00\x00\x00", true, 0,
	             "\x68\x06\x10\x40\x00\xff\x25\xbb\x0f\xf0\xff");
	ASSERT_MOVED("\xff\xd0", true, 0, "\x68\x02\x10\x40\x00\xff\xe0");
	ASSERT_MOVED("\x41\xff\xd4", true, 0, "\x68\x03\x10\x40\x00\x41\xff\xe4");
	ASSERT_MOVED("\xff\x14\x24", true, 0, "\x68\x03\x10\x40\x00\xff\xa4\x24\x08\x00\x00\x00");
	ASSERT_MOVED("\xff\x54\x24\x78", true, 0,
	             "\x68\x04\x10\x40\x00\xff\xa4\x24\x80\x00\x00\x00");
	ASSERT_MOVED("\x41\xff\x54\x24\x10", true, 0, "\x68\x05\x10\x40\x00\x41\xff\x64\x24\x10");
}

static void
out_of_reach(void **state)
{
	struct st_probe_site site = site_with("\x8b\x05\x10\x00\x00\x80", 6, false);
	struct st_probe_site plain = site_with("\x0f\x1f\x44\x00\x00", 5, false);
	struct st_probe_where where = place(0), far = place(0);
	struct st_probe_stub stub;
	(void)state;
	/* What the instruction reads is 2 GiB below it, and the stub above it. */
	assert_int_equal(st_probe_stub(&site, &where, &stub), ST_FAILED);
	assert_int_equal(st_probe_stub(&plain, &where, &stub), ST_OK);
	far.slot += (1ull << 31) + 0x4b;
	assert_int_equal(st_probe_stub(&plain, &far, &stub), ST_FAILED);
	far = place(0);
	far.stub = far.slot = (1ull << 31) + ENTRY + 0x10;
	assert_int_equal(st_probe_stub(&plain, &far, &stub), ST_FAILED);
	far.stub = far.slot = (1ull << 31) + ENTRY - 0x100;
	assert_int_equal(st_probe_stub(&plain, &far, &stub), ST_OK);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(whole_stub),   cmocka_unit_test(island),
	        cmocka_unit_test(moved),        cmocka_unit_test(calls),
	        cmocka_unit_test(out_of_reach), cmocka_unit_test(answered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
