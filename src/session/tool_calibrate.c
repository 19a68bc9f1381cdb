/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an action costs, measured: a loop of this program runs under the engine with a tool that
 * does the action at every store, and without. The loop times itself.
 */
#include "session/tool_calibrate.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "session/toolset.h"

/* The loop's process finds the descriptor for its answer here. */
static const char answer_to[] = "STROBE_CALIBRATE";

static const char source[] =
        "#include <strobe/tool.h>\n"
        "static void consume(strobe_thread *t, const strobe_rows *r) { (void)t; (void)r; }\n"
        "static void callee(strobe_thread *t, const uint64_t *v) { (void)t; (void)v; }\n"
        "STROBE_COUNTER(n, \"\");\n"
        "STROBE_STREAM(s, \"\", consume, STROBE_COLUMN(\"a\", STROBE_HEX));\n"
        "static void on_access(strobe_access *a)\n"
        "{\n"
        "	strobe_operand to = strobe_access_address(a);\n"
        "	if (!strobe_access_writes(a))\n"
        "		return;\n"
        "	switch (strobe_option_number(\"action\")) {\n"
        "	case 1: strobe_count(strobe_at(a), &n, 1); break;\n"
        "	case 2: strobe_count(strobe_when(strobe_at(a), to, STROBE_SHARES_BITS,\n"
        "	                                 strobe_constant(8)), &n, 1); break;\n"
        "	case 3: strobe_add(strobe_at(a), &n, to); break;\n"
        "	case 4: strobe_record(strobe_at(a), &s, to); break;\n"
        "	case 5: strobe_invoke(strobe_at(a), callee, to); break;\n"
        "	}\n"
        "}\n"
        "STROBE_TOOL(calibrate, .help = \"\", .access = on_access,\n"
        "            .options = {{\"action\", \"0\", \"\"}});\n";

enum { TURNS = 20000, STORES = 8, TRIES = 9 };

/* Eight stores, each in a basic block of its own. */
static void
loop(uint64_t *memory)
{
	for (long i = 0; i < TURNS; i++)
		__asm__ volatile(".set place, 0\n\t"
		                 ".rept 8\n\t"
		                 "movq %0, place(%0)\n\t"
		                 "jmp 1f\n"
		                 "1:\n\t"
		                 ".set place, place + 8\n\t"
		                 ".endr"
		                 :
		                 : "r"(memory)
		                 : "memory");
}

bool
st_calibrate_answer(void)
{
	const char *text = getenv(answer_to);
	uint64_t memory[STORES];
	double least = 1e18;
	if (!text)
		return false;
	for (int i = 0; i < TRIES; i++) {
		double begin = st_now_raw();
		loop(memory);
		double took = (st_now_raw() - begin) * 1e9;
		least = took < least ? took : least;
	}
	least /= TURNS * STORES;
	return write(atoi(text), &least, sizeof least) == sizeof least;
}

/* Nanoseconds for each store under the tool doing the action; -1: it cannot be measured. */
static double
tool_calibrate_measure(const char *tool, int action)
{
	static char *const program[] = {"/proc/self/exe", "build-tool", NULL};
	struct st_toolset set = {0};
	struct st_error e;
	struct st_run run;
	char which[16], number[16];
	double answer = -1;
	int ends[2];
	snprintf(which, sizeof which, "%d", action);
	const struct st_tool_setting setting = {"action", which};
	if (st_toolset_use(&set, tool, &setting, 1, &e) || pipe(ends) != 0) {
		st_toolset_free(&set);
		return -1;
	}
	snprintf(number, sizeof number, "%d", ends[1]);
	setenv(answer_to, number, 1);
	struct st_run_options options = {.argv = program, .tools = set.tools, .n_tools = set.n};
	int status = st_run_program(&options, &run, &e);
	unsetenv(answer_to);
	close(ends[1]);
	if (!status)
		st_run_free(&run);
	if (status || read(ends[0], &answer, sizeof answer) != sizeof answer)
		answer = -1;
	close(ends[0]);
	st_toolset_free(&set);
	return answer;
}

st_status
st_calibrate(const char *const *include, const bool wanted[ST_ACTIONS], double ns[ST_ACTIONS])
{
	char directory[] = "/tmp/strobe-cost-XXXXXX", code[64], tool[64];
	struct st_error e;
	if (!mkdtemp(directory))
		return -1;
	snprintf(code, sizeof code, "%s/cost.c", directory);
	snprintf(tool, sizeof tool, "%s/cost.tool", directory);
	FILE *out = fopen(code, "we");
	int status = out && fputs(source, out) >= 0 ? 0 : -1;
	if (out)
		status |= fclose(out);
	struct st_tool_build build = {code, tool, include};
	double nothing =
	        !status && !st_tool_compile(&build, &e) ? tool_calibrate_measure(tool, 0) : -1;
	for (int i = 0; i < ST_ACTIONS && nothing >= 0; i++) {
		ns[i] = wanted[i] ? tool_calibrate_measure(tool, i + 1) - nothing : 0;
		if (ns[i] < 0)
			ns[i] = 0;
	}
	unlink(tool);
	unlink(code);
	rmdir(directory);
	return nothing >= 0 ? 0 : -1;
}
