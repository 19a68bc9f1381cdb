/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands of strobe and their options: the only lists of them. */
#ifndef STROBE_CLI_COMMANDS_H
#define STROBE_CLI_COMMANDS_H

#include "cli/options.h"
#include "qos/policy.h"
#include "wire/results.h"

/* C(identifier, "name", usage after the name, "what it does") */
#define ST_COMMANDS(C)                                                                             \
	C(run, "run", "[options] [--] PROGRAM [ARGUMENT...]",                                      \
	  "run a program and show what it did")                                                    \
	C(paths, "paths", "[options] [--] [PROGRAM [ARGUMENT...]]",                                \
	  "calling contexts of functions, paths of basic blocks")                                  \
	C(attach, "attach", "[options] PID",                                                       \
	  "take a running process under the engine for a while")                                   \
	C(show, "show", "[options] FILE", "show the profile of a run again, or more of it")        \
	C(diff, "diff", "[options] FILE FILE",                                                     \
	  "what differs between the calling contexts of two runs")                                 \
	C(report, "report", "[options] FILE...", "results as one page for a browser")              \
	C(covered, "covered", "[options] FILE...",                                                 \
	  "say which code runs with --unique-log have measured so far")                            \
	C(reconstruct, "reconstruct", "[options] FILE",                                            \
	  "the executed path, and what is certain of it where nothing was measured")               \
	C(tune, "tune", "[options] [--] [PROGRAM [ARGUMENT...]]",                                  \
	  "find out which time budget suits a program")                                            \
	C(doctor, "doctor", "[options]",                                                           \
	  "say what this machine allows, and how to mend what it does not")                        \
	C(tools, "tools", "[options] [TOOL]", "list the tools that run can use, or describe one")  \
	C(build_tool, "build-tool", "[options] FILE.c", "make a tool from a C file")               \
	C(help, "help", "[options] [COMMAND]", "explain a command")                                \
	C(version, "version", "[options]", "print the version")

/* The words of a list, "native|trace|...", without the bar before the first. */
#define ST_OPTION_WORD(id, name) "|" name
#define ST_OPTION_WORDS(list) (&(list(ST_OPTION_WORD))[1])

/*
 * O(identifier, letter, "long name", "ARGUMENT" or NULL, shown in --help, "what it does")
 *
 * An argument of a fixed set of words lists them, "db|json"; the placeholders that stand for more
 * than their text (FILE, TOOL, PID, ...) are in values.c. Completion and man pages follow.
 */
#define ST_OPTION_HELP(O) O(help, 'h', "help", NULL, true, "print this and exit")

/* What run and attach have in common: see measure.h. */
#define ST_RESULT_OPTIONS(O)                                                                       \
	O(tool, 't', "tool", "TOOL", true, "what to measure (default: hot); see strobe tools")     \
	O(output, 'o', "output", "FILE", true, "the result (default: strobe.PROGRAM.PID.db)")      \
	O(format, 0, "format", "db|json", true, "of the result (default: db)")
#define ST_MEASURE_OPTIONS(O)                                                                      \
	O(start_at, 0, "start-at", "FUNC", true, "measure from the first entry of a function on")  \
	O(stop_at, 0, "stop-at", "FUNC", true, "up to the entry of a function")                    \
	O(budget, 'b', "budget", "AMOUNT", true, "measuring may cost so much: 10%, 100ms")         \
	O(period, 'T', "period", "TIME", true, "for each so long of other CPU time (default: 1s)") \
	O(period_clock, 0, "period-clock", ST_OPTION_WORDS(ST_BUDGET_CLOCKS), true,                \
	  "what a period is measured in: CPU time, elapsed time (default: cpu)")                   \
	O(budget_policy, 0, "budget-policy", ST_OPTION_WORDS(ST_BUDGET_POLICIES), true,            \
	  "how to run when it is spent")                                                           \
	O(budget_share, 0, "budget-share", ST_OPTION_WORDS(ST_BUDGET_SHARES), true,                \
	  "whose it is: a thread's, a process', by priority, all processes'")                      \
	O(sampling, 0, "sampling", "window|bursts|adaptive", true,                                 \
	  "grant it at once, in N parts (bursts:N), to cold code first")                           \
	O(unique, 0, "unique", NULL, true, "measure each piece of code once")                      \
	O(unique_last, 0, "unique-last", "N", true, "again when N others have been measured")      \
	O(unique_log, 0, "unique-log", "FILE", true, "across the runs that share this log")        \
	O(qos, 0, "qos", "SOURCE", true,                                                           \
	  "the budget follows a metric: cmd:COMMAND, redis:PORT:..")                               \
	O(qos_min, 0, "qos-min", "N", true,                                                        \
	  "which must not be less than this, or the budget is 0")                                  \
	O(qos_max, 0, "qos-max", "N", true, "or, where lower is better, not more than this")       \
	O(qos_below, 0, "qos-below", "AMOUNT", true,                                               \
	  "the budget when that is missed, and the least (default: 0)")                            \
	O(qos_start, 0, "qos-start", "AMOUNT", true,                                               \
	  "the budget until it is known, for 10 s at most (default: 0)")                           \
	O(qos_policy, 0, "qos-policy", ST_OPTION_WORDS(ST_QOS_POLICIES), true,                     \
	  "how the budget follows from it")                                                        \
	O(delay, 0, "delay", "TIME", true, "measure from so long after the start on: 5s, 100ms")   \
	O(toggle, 0, "toggle", "SIGNAL", true, "begin and end when this signal comes to strobe")   \
	O(region, 0, "region", NULL, true, "between the program's calls of strobe/region.h")       \
	O(funcs, 0, "funcs", "PATTERN", true, "measure these functions only")                      \
	O(images, 0, "images", "PATTERN", true, "measure these programs and libraries only")       \
	O(threads, 0, "threads", "LIST", true, "measure these threads only: 0,3-5,worker*")        \
	O(sample_hz, 0, "sample-hz", "N", true, "samples per second of CPU time (0: none)")        \
	O(debuginfod, 0, "debuginfod", NULL, true, "get missing debug files from DEBUGINFOD_URLS") \
	O(quiet, 'q', "quiet", NULL, true, "print nothing but errors")                             \
	O(stress, 0, "stress", "MODES", false, "make rare paths of the engine common, for tests")

#define ST_TOP_OPTION(O) O(top, 'n', "top", "N", true, "rows of each table (default: 15; 0: all)")

#define ST_RUN_OPTIONS(O)                                                                          \
	ST_RESULT_OPTIONS(O)                                                                       \
	O(follow, 'f', "follow", NULL, true, "take the program's children along")                  \
	O(for, 0, "for", "TIME", true, "measure so long and no longer: 5s, 100ms")                 \
	ST_MEASURE_OPTIONS(O)                                                                      \
	ST_TOP_OPTION(O)                                                                           \
	ST_OPTION_HELP(O)

#define ST_PATHS_OPTIONS(O)                                                                        \
	O(mode, 'm', "mode", "func|intra|inter", true,                                             \
	  "contexts of functions (default), of blocks inside them, across them")                   \
	O(k, 'k', "k", "N", true, "labels of context; inf: all of them (default)")                 \
	O(kccf, 0, "kccf", NULL, true, "the k-calling context forest, too: callers of each")       \
	O(join_threads, 0, "join-threads", NULL, true, "one forest for all threads")               \
	O(roll_recursion, 0, "roll-recursion", NULL, true,                                         \
	  "a function that calls itself stays in its context (default)")                           \
	O(unroll_recursion, 0, "unroll-recursion", NULL, true, "or gets a deeper one each time")   \
	O(roll_cycles, 0, "roll-cycles", NULL, true,                                               \
	  "one that is among its callers goes back to that context")                               \
	O(roll_loops, 0, "roll-loops", NULL, true, "the same for blocks; with it -k is inf")       \
	O(loops, 0, "loops", NULL, true,                                                           \
	  "entries and iterations of loops, in mode intra; rolls them")                            \
	O(pin_blocks, 0, "pin-blocks", NULL, true,                                                 \
	  "blocks as they were executed, overlapping; else they are cut at each entry")            \
	O(tail_calls, 0, "tail-calls", "callee|physical", true,                                    \
	  "who is jumped to stands under who jumped (default), or in its place")                   \
	O(functions, 0, "functions", NULL, true,                                                   \
	  "all functions that were executed, with absolute counts")                                \
	O(blocks, 0, "blocks", NULL, true, "all basic blocks, the same")                           \
	O(disasm, 0, "disasm", NULL, true, "with their instructions")                              \
	O(time, 0, "time", NULL, true, "of each context: its own, and with what it called")        \
	O(instructions, 0, "instructions", NULL, true, "the same in instructions")                 \
	O(under, 0, "under", "NAMES", true, "show contexts below these functions only")            \
	O(calls, 0, "calls", "NAMES", true, "show contexts that lead to a call of these only")     \
	O(max_memory, 0, "max-memory", "SIZE", true,                                               \
	  "of contexts in the program; then those that count least are pruned")                    \
	O(hot, 'n', "hot", "N", true, "rows of each table (default: 15; 0: all)")                  \
	O(top, 0, "top", NULL, true,                                                               \
	  "show the hottest functions and contexts while the program runs")                        \
	O(interval, 0, "interval", "TIME", true, "how often --top looks (default: 1s)")            \
	O(pid, 'p', "pid", "PID", true, "measure a running process, until Ctrl-C or --for")        \
	O(from, 0, "from", "FILE", true, "show the profile of an earlier run")                     \
	O(limit, 0, "limit", "SIZE", true,                                                         \
	  "of what is written: the hottest contexts (default: 256M; none)")                        \
	O(format, 0, "format", "db|text|xml|json|folded|speedscope|callgrind|pprof", true,         \
	  "of the result (default: by the name of FILE, else db)")                                 \
	O(output, 'o', "output", "FILE", true, "the result (default: strobe.PROGRAM.PID.db)")      \
	O(follow, 'f', "follow", NULL, true, "take the program's children along")                  \
	O(for, 0, "for", "TIME", true, "measure so long and no longer: 5s, 100ms")                 \
	ST_MEASURE_OPTIONS(O)                                                                      \
	ST_OPTION_HELP(O)

#define ST_ATTACH_OPTIONS(O)                                                                       \
	ST_RESULT_OPTIONS(O)                                                                       \
	O(for, 0, "for", "TIME", true, "how long: 10s, 500ms, 2m (default: until Ctrl-C)")         \
	ST_MEASURE_OPTIONS(O)                                                                      \
	ST_TOP_OPTION(O)                                                                           \
	ST_OPTION_HELP(O)

#define ST_SHOW_OPTIONS(O)                                                                         \
	O(sort, 's', "sort", "KEY", true,                                                          \
	  "time (default), total, instructions, calls or name; "                                   \
	  "with --table, a column")                                                                \
	O(top, 'n', "top", "N", true, "rows of each table (default: 40; 0: all)")                  \
	O(func, 'F', "func", "NAME", true, "source and disassembly of a function, with counts")    \
	O(lines, 0, "lines", NULL, true, "table of source lines")                                  \
	O(blocks, 0, "blocks", NULL, true, "table of basic blocks")                                \
	O(images, 0, "images", NULL, true, "table of images: the program, its libraries")          \
	O(threads, 0, "threads", NULL, true, "table of threads")                                   \
	O(stats, 0, "stats", NULL, true, "processes, and what the engine did")                     \
	O(debuginfod, 0, "debuginfod", NULL, true, "get missing debug files from DEBUGINFOD_URLS") \
	O(table, 't', "table", "NAME", true, "a table of the tool")                                \
	O(rows, 'r', "rows", "STREAM", true, "rows that the tool recorded, in their order")        \
	O(all, 0, "all", NULL, true, "all rows of each table; lcov: the system's sources, too")    \
	O(format, 0, "format", "text|json|csv|lcov", true,                                         \
	  "of what is printed (default: text); csv: of a table or rows")                           \
	O(output, 'o', "output", "FILE", true, "write there (default: -, standard output)")        \
	ST_OPTION_HELP(O)

#define ST_DIFF_OPTIONS(O)                                                                         \
	O(metric, 0, "metric", "METRIC", true,                                                     \
	  "count, time, total-time, instructions, total-instructions")                             \
	O(shares, 0, "shares", NULL, true, "compare shares of each run's whole")                   \
	O(kccf, 0, "kccf", NULL, true, "the k-calling context forests: callers of each")           \
	O(by_thread, 0, "by-thread", NULL, true, "each thread with the one of its number")         \
	O(under, 0, "under", "NAMES", true, "show contexts below these functions only")            \
	O(calls, 0, "calls", "NAMES", true, "show contexts that lead to a call of these only")     \
	O(hot, 0, "hot", "N", true, "contexts that differ most (default: 15; 0: all)")             \
	O(format, 0, "format", "text|json", true, "of what is printed (default: text)")            \
	ST_OPTION_HELP(O)

#define ST_REPORT_OPTIONS(O)                                                                       \
	O(output, 'o', "output", "FILE", true,                                                     \
	  "the page (default: strobe.html; -: standard output)")                                   \
	O(top, 'n', "top", "N", true, "rows of each table, the hottest (default: 10000; 0: all)")  \
	O(no_source, 0, "no-source", NULL, true, "leave out the text of source files")             \
	O(all_sources, 0, "all-sources", NULL, true,                                               \
	  "include the text of files that other users may not read")                               \
	O(debuginfod, 0, "debuginfod", NULL, true, "get missing debug files from DEBUGINFOD_URLS") \
	ST_OPTION_HELP(O)

#define ST_COVERED_OPTIONS(O)                                                                      \
	O(against, 'a', "against", "FILE", true, "compare with the log of a run that saw all")     \
	O(functions, 'F', "functions", NULL, true, "table of functions")                           \
	O(missing, 'm', "missing", NULL, true, "table of blocks that are still missing")           \
	O(top, 'n', "top", "N", true, "rows of each table (default: 40; 0: all)")                  \
	O(format, 0, "format", "text|json", true, "of what is printed (default: text)")            \
	ST_OPTION_HELP(O)

#define ST_RECONSTRUCT_OPTIONS(O)                                                                  \
	O(gaps, 'g', "gaps", NULL, true, "only the gaps between two windows")                      \
	O(blocks, 'B', "blocks", NULL, true, "a line for each basic block")                        \
	O(returning, 0, "returning", NULL, true, "calls always come back: no longjmp, exceptions") \
	O(top, 'n', "top", "N", true, "lines of each window (default: 40; 0: all)")                \
	O(format, 0, "format", "text|json", true, "of what is printed (default: text)")            \
	ST_OPTION_HELP(O)

#define ST_TUNE_OPTIONS(O)                                                                         \
	O(tool, 't', "tool", "TOOL", true, "what to measure (default: branches)")                  \
	O(budgets, 'b', "budgets", "LIST", true, "shares of each period (default: 2%,25%)")        \
	O(periods, 'T', "periods", "LIST", true, "of CPU time (default: 0.25s,4s)")                \
	O(budget_policy, 0, "budget-policy", ST_OPTION_WORDS(ST_BUDGET_POLICIES), true,            \
	  "how to run when it is spent")                                                           \
	O(repeat, 'r', "repeat", "N", true, "how often each combination runs (default: 10)")       \
	O(seed, 0, "seed", "N", true, "of the random order of the runs (default: 1)")              \
	O(program_file, 'p', "program-file", "FILE", true,                                         \
	  "more programs, a command on each line")                                                 \
	O(follow, 'f', "follow", NULL, true, "take the programs' children along")                  \
	O(input, 0, "stdin", "FILE", true, "the program's input (default: /dev/null)")             \
	O(streams, 0, "stdout", "FILE", true, "and its output, also errors (default: /dev/null)")  \
	O(max, 0, "max", NULL, true, "find the largest budget under which --qos is kept")          \
	O(max_threshold, 0, "max-threshold", NULL, true, "find the best threshold that is kept")   \
	O(qos, 0, "qos", "SOURCE", true, "how well the program serves; see strobe run")            \
	O(qos_min, 0, "qos-min", "N", true, "which must not be less than this")                    \
	O(qos_max, 0, "qos-max", "N", true, "or, where lower is better, not more than this")       \
	O(qos_policy, 0, "qos-policy", "hold|function", true, "how the budget follows from it")    \
	O(for, 0, "for", "TIME", true, "end the program after so long: 30s")                       \
	O(from, 0, "from", "FILE", true, "analyse the result of an earlier study again")           \
	O(format, 0, "format", "text|json", true, "of what is printed (default: text)")            \
	O(output, 'o', "output", "FILE", true,                                                     \
	  "the result, as JSON (default: strobe.PROGRAM.PID.tune.json)")                           \
	O(quiet, 'q', "quiet", NULL, true, "do not tell how far it has come")                      \
	ST_OPTION_HELP(O)

#define ST_DOCTOR_OPTIONS(O)                                                                       \
	O(format, 0, "format", "text|json", true, "of what is printed (default: text)")            \
	ST_OPTION_HELP(O)

#define ST_TOOLS_OPTIONS(O)                                                                        \
	O(format, 0, "format", "text|json", true, "of what is printed (default: text)")            \
	ST_OPTION_HELP(O)

#define ST_BUILD_TOOL_OPTIONS(O)                                                                   \
	O(output, 'o', "output", "FILE", true,                                                     \
	  "the tool (default: FILE.tool in the current directory)")                                \
	O(include, 'I', "include", "DIRECTORY", true, "look there for headers too")                \
	O(quiet, 'q', "quiet", NULL, true, "print nothing but errors") ST_OPTION_HELP(O)

#define ST_HELP_OPTIONS(O)                                                                         \
	O(completion, 0, "completion", "SHELL", true, "print completions for bash, zsh or fish")   \
	ST_OPTION_HELP(O)

#define ST_VERSION_OPTIONS(O) ST_OPTION_HELP(O)

struct st_command {
	const char *name, *usage, *help;
	const struct st_option *options;
	size_t n_options;
	int (*main)(char *const *argv); /* argv after the command's name; returns the exit code */
};

#define C(id, name, usage, help) int st_##id##_main(char *const *argv);
ST_COMMANDS(C)
#undef C

extern const struct st_command st_commands[];
extern const size_t st_n_commands;

/* The command of that name, or NULL. */
const struct st_command *st_command_find(const char *name);
/* The one most like it, or NULL when none is. */
const char *st_command_nearest(const char *name);
/* Its help, with every option if all is set. */
void st_command_help(FILE *out, const struct st_command *command, bool all);
/* Starts the parsing of a command's options. */
struct st_options st_command_options(const char *name, char *const *argv);

/* Prints the error as strobe does, "strobe: SENTENCE", and returns its exit code. */
int st_complain(const struct st_error *e);
/* Says that --format (of the command) has no such value. Returns -1. */
int st_bad_format(const char *value, const char *values, struct st_error *e);

#endif
