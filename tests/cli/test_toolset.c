/* SPDX-License-Identifier: GPL-3.0-or-later */
/* -t NAME:option=value,... as it is understood, or refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "session/toolset.h"

/* A built-in tool with options, whatever the others have. */
static void
with_options(void **state)
{
	strobe_tool *t = st_tools[ST_TOOL_bbcount];
	(void)state;
	t->options[0] = (strobe_option){"size", "32k", "bytes of the cache"};
	t->options[1] = (strobe_option){"out", "", "a name"};
	t->options[2] = (strobe_option){NULL, NULL, NULL};
	t->limits[0] = (strobe_limit){"size", 1, 64 << 10};
}

static void
refused(const char *first, const char *spec, const char *why)
{
	struct st_toolset set = {0};
	struct st_error e = {0};
	if (first)
		assert_int_equal(st_toolset_add(&set, first, &e), 0);
	assert_int_equal(st_toolset_add(&set, spec, &e), -1);
	assert_string_equal(e.text, why);
	assert_int_equal(e.code, ST_EXIT_USAGE);
	st_toolset_free(&set);
}

static void
several(void **state)
{
	struct st_toolset set = {0};
	struct st_error e;
	static const char texts[] = "size=64k\0out=a=b\0";
	(void)state;
	with_options(NULL);
	assert_int_equal(st_toolset_add(&set, "hot", &e), 0);
	assert_int_equal(st_toolset_add(&set, "bbcount:size=64k,out=a=b", &e), 0);
	assert_int_equal(set.n, 2);
	assert_int_equal(set.tools[0].index, ST_TOOL_hot);
	assert_null(set.tools[0].options);
	assert_int_equal(set.tools[1].index, ST_TOOL_bbcount);
	assert_int_equal(set.tools[1].options_bytes, sizeof texts);
	assert_memory_equal(set.tools[1].options, texts, sizeof texts);
	assert_string_equal(set.text, "hot,bbcount:size=64k,out=a=b");
	assert_int_equal(set.options.n, 2);
	assert_int_equal(set.options.v[1].tool, 1);
	assert_string_equal(set.options.v[1].name, "out");
	assert_string_equal(set.options.v[1].value, "a=b");
	assert_int_equal(st_toolset_sample_hz(&set), st_tools[ST_TOOL_hot]->sample_hz);
	assert_true(st_toolset_keeps_blocks(&set));
	st_toolset_free(&set);
}

static void
without_value(void **state)
{
	struct st_toolset set = {0};
	struct st_error e;
	(void)state;
	with_options(NULL);
	assert_int_equal(st_toolset_add(&set, "bbcount:out", &e), 0);
	assert_memory_equal(set.tools[0].options, "out=1\0", 7);
	assert_false(st_toolset_keeps_blocks(&set));
	assert_int_equal(st_toolset_sample_hz(&set), 0);
	st_toolset_free(&set);
	assert_int_equal(st_toolset_add(&set, "bbcount:", &e), 0);
	assert_null(set.tools[0].options);
	st_toolset_free(&set);
}

static void
mistakes(void **state)
{
	(void)state;
	with_options(NULL);
	refused(NULL, "hto", "unknown tool 'hto'; did you mean 'hot'?");
	refused(NULL, "", "unknown tool ''; strobe tools lists them");
	refused(NULL, "null:x", "tool null has no options: leave out 'x'");
	refused(NULL, "bbcount:siz=1", "tool bbcount has no option 'siz'; did you mean 'size'?");
	refused(NULL, "bbcount:associativity=1",
	        "tool bbcount has no option 'associativity'; strobe tools bbcount lists its "
	        "options");
	refused(NULL, "bbcount:size=big",
	        "option size of tool bbcount takes a number, perhaps with k, M or G, not 'big'");
	for (size_t i = 0; i < 3; i++) {
		static const char *const values[] = {"0", "65537", "1M"};
		char spec[40], why[100];
		snprintf(spec, sizeof spec, "bbcount:size=%s", values[i]);
		snprintf(why, sizeof why,
		         "option size of tool bbcount takes a number from 1 to 64k, not '%s'",
		         values[i]);
		refused(NULL, spec, why);
	}
	refused(NULL, "calls:args=9",
	        "option args of tool calls takes a number from 0 to 5, not '9'");
	refused(NULL, "dcache:ways=0",
	        "option ways of tool dcache takes a number from 1 to 64k, not '0'");
	refused(NULL, "contexts:k=some",
	        "option k of tool contexts takes a number, perhaps with k, M or G, or inf, not "
	        "'some'");
	refused(NULL, "./a:b/c.tool",
	        "cannot read the tool ./a:b/c.tool: No such file or directory");
	refused(NULL, "./a:b/c.tool:out=d.tool",
	        "cannot read the tool ./a:b/c.tool: No such file or directory");
	refused(NULL, "c.tool:", "cannot read the tool c.tool: No such file or directory");
	refused(NULL, "./c:size=1", "cannot read the tool ./c: No such file or directory");
	refused("bbcount", "bbcount:size=1", "tool bbcount is given twice");
	refused("bbcount", "null", "tool null measures the engine without tools: run it alone");
	refused("null", "bbcount", "tool null measures the engine without tools: run it alone");
}

/* A number of sets that is no power of two cannot be simulated, and is not rounded in silence. */
static void
geometry(void **state)
{
	(void)state;
	static const char *const good[] = {"dcache",
	                                   "dcache:size=48k,ways=12,l2=2M",
	                                   "dcache:line=128",
	                                   "dcache:size=64,ways=1",
	                                   "dcache:line=1,size=8,l2=0",
	                                   "dcache:l2=0,l2ways=3"};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct st_toolset set = {0};
		struct st_error e;
		assert_int_equal(st_toolset_add(&set, good[i], &e), 0);
		st_toolset_free(&set);
	}
	refused(NULL, "dcache:line=48",
	        "option line of tool dcache takes a power of two, such as 64, not 48");
	refused(NULL, "dcache:ways=12",
	        "tool dcache: with ways=12 and line=64, size=32k is not a power of two of sets: "
	        "take size=24k or size=48k");
	refused(NULL, "dcache:l2=100000",
	        "tool dcache: with l2ways=16 and line=64, l2=100000 is not a power of two of sets: "
	        "take l2=64k or l2=128k");
	refused(NULL, "dcache:size=511",
	        "tool dcache: size=511 is less than one set of ways=8 lines of 64 bytes: take "
	        "size=512 or more");
	refused(NULL, "dcache:size=3M,size=32k",
	        "tool dcache: with ways=8 and line=64, size=3M is not a power of two of sets: "
	        "take size=2M or size=4M");
}

static void
numbers(void **state)
{
	(void)state;
	static const char *const good[] = {
	        "0", "08", "32k", "32K", "1m", "3G", "18446744073709551615"};
	static const char *const bad[] = {"",
	                                  "k",
	                                  "-1",
	                                  "+1",
	                                  " 1",
	                                  "1 ",
	                                  "1kk",

	                                  "1T",
	                                  "0x",
	                                  "18446744073709551616",
	                                  "18446744073709551615k"};
	uint64_t n;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		assert_true(st_tool_number(good[i], &n));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(st_tool_number(bad[i], &n));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(several),  cmocka_unit_test(without_value),
	        cmocka_unit_test(mistakes), cmocka_unit_test(geometry),
	        cmocka_unit_test(numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
