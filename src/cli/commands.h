/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands of strobe and their options: the only lists of them. */
#ifndef STROBE_CLI_COMMANDS_H
#define STROBE_CLI_COMMANDS_H

#include "base/status.h"
#include "cli/experiments.h"
#include "cli/options.h"
#include "import/import.h"
#include "qos/policy.h"
#include "wire/results/header.h"

/* C(identifier, "name", usage after the name, "what it does") */
#define ST_COMMANDS(C)                                                                             \
	C(run, "run", "[options] [--] PROGRAM [ARGUMENT...]",                                      \
	  "run a program and show what it did")                                                    \
	C(paths, "paths", "[options] [--] [PROGRAM [ARGUMENT...]]",                                \
	  "show calling contexts of functions, or paths of basic blocks")                          \
	C(trace, "trace", "[options] [--] [PROGRAM [ARGUMENT...]]", "time the calls of functions") \
	C(mem, "mem", "[options] [--] [PROGRAM [ARGUMENT...]]",                                    \
	  "count the memory that a program allocates, by calling context")                         \
	C(annotate, "annotate", "[options] FILE... | -o FILE -- PROGRAM [ARGUMENT...]",            \
	  "model the cost of a call as a function of the program's data")                          \
	C(blow, "blow", "[options] [--] [PROGRAM [ARGUMENT...]]",                                  \
	  "show which functions a program's run time depends on, by making them slower")           \
	C(predict, "predict", "[options] [FILE] FUNCTION METRIC [NAME=VALUE...]",                  \
	  "predict the cost of a call from an annotation")                                         \
	C(attach, "attach", "[options] PID", "measure a running process for a while")              \
	C(show, "show", "[options] [FILE|PROFILE|REV]",                                            \
	  "print the result of an earlier run: tables, source, call stacks")                       \
	C(diff, "diff", "[options] PROFILE PROFILE", "show the differences between two profiles")  \
	C(check, "check", "[options] [BASE] [TARGET]",                                             \
	  "find changes of cost from one version of a program to another")                         \
	C(model, "model", "[options] [PROFILE...]",                                                \
	  "find how a quantity follows from another: a constant, n, n log n, ...")                 \
	C(plot, "plot", "[options] KIND [PROFILE...]",                                             \
	  "draw profiles as a picture: history, scatter, flame, bars, flow, heat, cost, ...")      \
	C(report, "report", "[options] [FILE...]", "write results as one page for a browser")      \
	C(init, "init", "[options]", "make the store of profiles of a project")                    \
	C(add, "add", "[options] FILE...", "store profiles, tied to a version of the project")     \
	C(status, "status", "[options]",                                                           \
	  "show the stored profiles of this version, and those that are not stored")               \
	C(log, "log", "[options] [REV]",                                                           \
	  "show the versions of a project with the number of their profiles")                      \
	C(rm, "rm", "[options] PROFILE...", "remove profiles from the store")                      \
	C(config, "config", "[options] [KEY [VALUE]]", "print or change settings")                 \
	C(fsck, "fsck", "[options]", "check that the store is undamaged")                          \
	C(gc, "gc", "[options]", "remove contents that no stored profile needs")                   \
	C(import, "import", "[options] FILE|FOLDER",                                               \
	  "convert a file of another tool to a profile")                                           \
	C(export, "export", "[options] [FILE|PROFILE|REV]",                                        \
	  "write a profile in the format of another tool")                                         \
	C(hooks, "hooks", "[options] install|remove",                                              \
	  "install hooks of git that store and compare profiles at each commit and push")          \
	C(covered, "covered", "[options] FILE...",                                                 \
	  "show how much code the runs with --unique-log have measured so far")                    \
	C(reconstruct, "reconstruct", "[options] FILE",                                            \
	  "print the executed path, and what is certain about its gaps")                           \
	C(time, "time", "[options] [--] PROGRAM [ARGUMENT...]",                                    \
	  "run a program repeatedly without instrumentation, and show its time and memory")        \
	C(gate, "gate", "[options] --base SIDE [--target SIDE] [--] [ARGUMENT...]",                \
	  "decide whether a build of a program is slower than another one")                        \
	C(bisect, "bisect", "[options] GOOD BAD [-- PROGRAM [ARGUMENT...]]",                       \
	  "find the commit that made a program slower")                                            \
	C(job, "job", "[options] init|run", "measure what the job file of a project describes")    \
	C(campaign, "campaign", "[options] status|resume|cancel|worker FOLDER",                    \
	  "show, resume or cancel the campaign of a command with --on")                            \
	C(backfill, "backfill", "[options] REV|REV..REV",                                          \
	  "measure earlier versions of a project with its job file")                               \
	C(tune, "tune", "[options] [--] [PROGRAM [ARGUMENT...]]",                                  \
	  "find the time budget that suits a program")                                             \
	C(fuzz, "fuzz", "[options] [--] PROGRAM [ARGUMENT...]",                                    \
	  "find inputs that make a program work more than their size explains")                    \
	C(doctor, "doctor", "[options]",                                                           \
	  "check whether Strobe can work here, and say how to fix what hinders it")                \
	C(tools, "tools", "[options] [TOOL]", "list the tools that run can use, or describe one")  \
	C(build_tool, "build-tool", "[options] FILE.c", "compile a C file into a tool")            \
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
#define ST_OPTION_HELP(O)                                                                          \
	O(help, 'h', "help", NULL, true, "print a summary of the options and exit")

/* Options common to run and attach: see measure.h. */
#define ST_RESULT_OPTIONS(O)                                                                       \
	O(tool, 't', "tool", "TOOL", true,                                                         \
	  "measure with this tool (default: hot); strobe tools lists them")                        \
	O(output, 'o', "output", "FILE", true,                                                     \
	  "write the result to FILE (default: strobe.PROGRAM.PID.db)")                             \
	O(format, 0, "format", "db|json", true, "write a database or JSON (default: db)")
#define ST_MEASURE_OPTIONS(O)                                                                      \
	O(start_at, 0, "start-at", "FUNC", true,                                                   \
	  "start measuring whenever this function is entered")                                     \
	O(stop_at, 0, "stop-at", "FUNC", true, "stop measuring whenever this function is entered") \
	O(budget, 'b', "budget", "AMOUNT", true,                                                   \
	  "limit the cost of measuring in each period: 10%, 100ms")                                \
	O(period, 'T', "period", "TIME", true, "set the length of a period (default: 1s)")         \
	O(period_clock, 0, "period-clock", ST_OPTION_WORDS(ST_BUDGET_CLOCKS), true,                \
	  "count periods in CPU time or in elapsed time (default: cpu)")                           \
	O(budget_policy, 0, "budget-policy", ST_OPTION_WORDS(ST_BUDGET_POLICIES), true,            \
	  "set how a thread runs after its budget is spent (default: native)")                     \
	O(budget_share, 0, "budget-share", ST_OPTION_WORDS(ST_BUDGET_SHARES), true,                \
	  "give each thread a budget, or let threads share one (default: thread)")                 \
	O(sampling, 0, "sampling", "window|bursts|adaptive", true,                                 \
	  "grant the budget at once, in parts, or to rare code first (default: window)")           \
	O(unique, 0, "unique", NULL, true,                                                         \
	  "measure each instruction only the first time it is executed")                           \
	O(unique_last, 0, "unique-last", "N", true,                                                \
	  "measure a piece of code again only after N other pieces")                               \
	O(unique_log, 0, "unique-log", "FILE", true,                                               \
	  "collect in FILE what several runs have measured")                                       \
	O(qos, 0, "qos", "SOURCE", true,                                                           \
	  "adjust the budget to a metric from SOURCE: redis:PORT:FIELD, cmd:COMMAND")              \
	O(qos_min, 0, "qos-min", "N", true, "lower the budget when the metric is less than N")     \
	O(qos_max, 0, "qos-max", "N", true, "lower the budget when the metric is more than N")     \
	O(qos_below, 0, "qos-below", "AMOUNT", true,                                               \
	  "allow this budget while --qos-min or --qos-max is missed (default: 0)")                 \
	O(qos_start, 0, "qos-start", "AMOUNT", true,                                               \
	  "allow this budget until the metric is known (default: 0)")                              \
	O(qos_policy, 0, "qos-policy", ST_OPTION_WORDS(ST_QOS_POLICIES), true,                     \
	  "set how the budget follows from the metric (default: hold)")                            \
	O(delay, 0, "delay", "TIME", true, "wait this long before measuring: 5s, 100ms")           \
	O(toggle, 0, "toggle", "SIGNAL", true,                                                     \
	  "start or stop measuring each time this signal is sent to strobe")                       \
	O(region, 0, "region", NULL, true, "measure what the program marks with strobe/region.h")  \
	O(funcs, 0, "funcs", "PATTERN", true, "measure only the functions that match PATTERN")     \
	O(images, 0, "images", "PATTERN", true,                                                    \
	  "measure only the programs and libraries that match PATTERN")                            \
	O(threads, 0, "threads", "LIST", true, "measure only these threads: 0,3-5,worker*")        \
	O(sample_hz, 0, "sample-hz", "N", true,                                                    \
	  "take N samples per second of CPU time (default: 250 for hot; 0: none)")                 \
	O(debuginfod, 0, "debuginfod", NULL, true,                                                 \
	  "download missing debug files from DEBUGINFOD_URLS")                                     \
	O(quiet, 'q', "quiet", NULL, true, "print only errors")                                    \
	O(stress, 0, "stress", "MODES", false, "make rare paths of the engine common, for tests")

#define ST_TOP_OPTION(O)                                                                           \
	O(top, 'n', "top", "N", true, "print at most N rows of each table (default: 15; 0: all)")

#define ST_RUN_OPTIONS(O)                                                                          \
	ST_RESULT_OPTIONS(O)                                                                       \
	O(follow, 'f', "follow", NULL, true, "measure child processes, too")                       \
	O(for, 0, "for", "TIME", true, "stop measuring after this long: 5s, 100ms")                \
	ST_MEASURE_OPTIONS(O)                                                                      \
	ST_TOP_OPTION(O)                                                                           \
	ST_OPTION_HELP(O)

#define ST_PATHS_OPTIONS(O)                                                                        \
	O(mode, 'm', "mode", "func|intra|inter", true,                                             \
	  "count functions (default), blocks of each function, or blocks of the thread")           \
	O(k, 'k', "k", "N", true,                                                                  \
	  "keep N callers (default: inf, all) or earlier blocks (no default) in a context")        \
	O(kccf, 0, "kccf", NULL, true,                                                             \
	  "also print each function with its callers (the k-calling context forest)")              \
	O(join_threads, 0, "join-threads", NULL, true,                                             \
	  "add up the contexts of all threads (the default for tables)")                           \
	O(per_thread, 0, "per-thread", NULL, true, "print each thread's contexts apart")           \
	O(roll_recursion, 0, "roll-recursion", NULL, true,                                         \
	  "count all levels of direct recursion in one context (default)")                         \
	O(unroll_recursion, 0, "unroll-recursion", NULL, true,                                     \
	  "give each level of recursion its own context")                                          \
	O(roll_cycles, 0, "roll-cycles", NULL, true,                                               \
	  "when a function is already among its callers, return to its earlier context")           \
	O(roll_loops, 0, "roll-loops", NULL, true,                                                 \
	  "merge the repetitions of a loop into one path; implies -k inf")                         \
	O(loops, 0, "loops", NULL, true,                                                           \
	  "count entries and iterations of loops; needs --mode intra")                             \
	O(pin_blocks, 0, "pin-blocks", NULL, true,                                                 \
	  "do not cut overlapping blocks at jump targets")                                         \
	O(tail_calls, 0, "tail-calls", "callee|physical", true,                                    \
	  "let the callee of a tail call appear below its caller (default), or replace it")        \
	O(functions, 0, "functions", NULL, true,                                                   \
	  "list all functions that were executed, with their counts")                              \
	O(blocks, 0, "blocks", NULL, true,                                                         \
	  "list all basic blocks that were executed, with their counts")                           \
	O(disasm, 0, "disasm", NULL, true,                                                         \
	  "add instructions to the lists of --functions and --blocks")                             \
	O(no_suppress, 0, "no-suppress", NULL, true,                                               \
	  "with --unique-log, also record calls below contexts that seem complete")                \
	O(time, 0, "time", NULL, true,                                                             \
	  "measure the time of each context, alone and with its callees")                          \
	O(instructions, 0, "instructions", NULL, true,                                             \
	  "count the instructions of each context, alone and with its callees")                    \
	O(under, 0, "under", "NAMES", true, "show only the contexts below these functions")        \
	O(calls, 0, "calls", "NAMES", true,                                                        \
	  "show only the contexts that lead to a call of these functions")                         \
	O(max_memory, 0, "max-memory", "SIZE", true,                                               \
	  "use at most SIZE of memory for contexts, then remove the rarest (default: 2G)")         \
	O(hot, 'n', "hot", "N", true, "print at most N rows of each table (default: 15; 0: all)")  \
	O(top, 0, "top", NULL, true, "show a live view of the hottest functions and contexts")     \
	O(interval, 0, "interval", "TIME", true, "set how often --top is updated (default: 1s)")   \
	O(pid, 'p', "pid", "PID", true, "measure a running process, until Ctrl-C or --for")        \
	O(from, 0, "from", "FILE", true, "show the result of an earlier run")                      \
	O(metric, 0, "metric", "wall|on-cpu|waiting|samples", true,                                \
	  "with --from, for a result of -t hot:wall: show this part of the time (default: wall)")  \
	O(limit, 0, "limit", "SIZE", true,                                                         \
	  "write at most SIZE, the hottest contexts (default: 256M; none: no limit)")              \
	O(format, 0, "format", "db|text|xml|json|folded|speedscope|callgrind|pprof", true,         \
	  "write this format (default: by the ending of FILE, or db; with --from: text)")          \
	O(output, 'o', "output", "FILE", true,                                                     \
	  "write the result to FILE (default: strobe.PROGRAM.PID.db)")                             \
	O(follow, 'f', "follow", NULL, true, "measure child processes, too")                       \
	O(for, 0, "for", "TIME", true, "stop measuring after this long: 5s, 100ms")                \
	ST_MEASURE_OPTIONS(O)                                                                      \
	ST_OPTION_HELP(O)

#define ST_TRACE_OPTIONS(O)                                                                        \
	O(user, 'u', "user", NULL, true, "trace the functions of the program itself (default)")    \
	O(all, 'a', "all", NULL, true, "trace the functions of libraries, too")                    \
	O(preset, 0, "preset", "quick|thorough", true,                                             \
	  "quick: --user --every 16; thorough: --all; options that you give override these")       \
	O(engine, 'e', "engine", "auto|probe|jit|ebpf", true,                                      \
	  "time the calls by this (default: auto: probe, or jit or ebpf if an option needs it)")   \
	O(cpu, 0, "cpu", NULL, true,                                                               \
	  "time calls by the CPU time of their thread (about 1 us a call)")                        \
	O(usdt, 0, "usdt", "PROBES", true,                                                         \
	  "trace static probes (USDT): PROVIDER:NAME, or PROVIDER:BEGIN#END")                      \
	O(list_usdt, 0, "list-usdt", NULL, true,                                                   \
	  "list the static probes of a program, or of a process (--pid)")                          \
	O(exclude, 'x', "exclude", "NAMES", true, "do not trace these functions")                  \
	O(changed_since, 0, "changed-since", "FILE", true,                                         \
	  "trace only functions whose code differs from another build (or a profile of it)")       \
	O(reduce_by, 0, "reduce-by", "FILE", true,                                                 \
	  "leave out functions that an earlier trace shows to be called too often")                \
	O(shape, 0, "shape", "top-down|bottom-up|match", true,                                     \
	  "with --reduce-by: leave out functions by their level in its call graph instead")        \
	O(skip_constant, 0, "skip-constant", NULL, true,                                           \
	  "leave out functions whose code has neither a loop nor a call")                          \
	O(main, 'm', "main", "NAME", true, "trace only while this function runs in some thread")   \
	O(every, 0, "every", "[FUNC=]N", true,                                                     \
	  "time one of N calls of each function, or of FUNC, count all (default: 1)")              \
	O(windows, 0, "windows", "ON/PERIOD", true,                                                \
	  "time calls only for ON of each PERIOD, count all: 10ms/100ms")                          \
	O(depth, 0, "depth", "N", true, "trace only calls nested at most N deep (default: all)")   \
	O(per_thread, 0, "per-thread", NULL, true, "print each thread's functions apart")          \
	O(events, 0, "events", NULL, true, "record each entry and each return, too")               \
	O(dry_run, 0, "dry-run", NULL, true,                                                       \
	  "print the functions that would be traced, run nothing")                                 \
	O(refused, 0, "refused", NULL, true, "print all functions that could not be traced")       \
	O(pid, 'p', "pid", "PID", true, "trace a running process, until Ctrl-C or --for")          \
	O(remove, 0, "remove", NULL, true,                                                         \
	  "with --pid: remove the probes that a killed strobe has left in the process")            \
	O(from, 0, "from", "FILE", true, "show the result of an earlier run")                      \
	O(from_raw, 0, "from-raw", "FILE", true,                                                   \
	  "read entries and returns from a raw file; -: standard input")                           \
	O(unit, 0, "unit", "ns|us", true,                                                          \
	  "set the unit of times in the raw file (default: its #unit line, or ns)")                \
	O(format, 0, "format", "db|text|json|callgrind|timeline|raw|folded|speedscope|pprof",      \
	  true, "write this format (default: by the ending of FILE, or db; with --from: text)")    \
	O(output, 'o', "output", "FILE", true,                                                     \
	  "write the result to FILE (default: strobe.PROGRAM.PID.db)")                             \
	O(follow, 'f', "follow", NULL, true, "trace child processes, too")                         \
	O(for, 0, "for", "TIME", true, "stop tracing after this long: 5s, 100ms")                  \
	ST_MEASURE_OPTIONS(O)                                                                      \
	O(hot, 'n', "hot", "N", true, "print at most N rows of each table (default: 15; 0: all)")  \
	O(top, 0, "top", NULL, true, "show a live view of the functions with the most time")       \
	O(interval, 0, "interval", "TIME", true, "set how often --top is updated (default: 1s)")   \
	ST_OPTION_HELP(O)

#define ST_MEM_OPTIONS(O)                                                                          \
	O(metric, 0, "metric", "peak|live|total|calls", true,                                      \
	  "order by live bytes at the peak (default), never freed, allocated, or by calls")        \
	O(callers, 'c', "callers", NULL, true, "print the callers of each row, too")               \
	O(interval, 0, "interval", "TIME", true,                                                   \
	  "take a snapshot this often: 10ms (default: 1ms, and longer in long runs)")              \
	O(from, 0, "from", "FILE", true, "show the result of an earlier run")                      \
	O(format, 0, "format", "db|text|json|folded|speedscope|callgrind|pprof", true,             \
	  "write this format (default: by the ending of FILE, or db; with --from: text)")          \
	O(output, 'o', "output", "FILE", true,                                                     \
	  "write the result to FILE (default: strobe.PROGRAM.PID.db)")                             \
	O(quiet, 'q', "quiet", NULL, true, "print only errors")                                    \
	ST_TOP_OPTION(O)                                                                           \
	ST_OPTION_HELP(O)

#define ST_ANNOTATE_OPTIONS(O)                                                                     \
	O(features, 0, "features", NULL, true,                                                     \
	  "print the features of PROGRAM's functions, without running it")                         \
	O(func, 'F', "func", "NAMES", true,                                                        \
	  "choose functions by names and patterns: 'parse_*', @FILE (default: all)")               \
	O(image, 'I', "image", "NAMES", true, "choose functions of these images only")             \
	O(output, 'o', "output", "FILE", true,                                                     \
	  "write the records of a run, or the annotations, to FILE")                               \
	O(metrics, 'm', "metrics", "LIST", true,                                                   \
	  "measure (default: time), or analyse (default: all), these metrics: time,cpu,..")        \
	O(branches, 0, "branches", NULL, true,                                                     \
	  "record the outcomes of the functions' branches, and count instructions")                \
	O(keep, 'k', "keep", "N", true,                                                            \
	  "keep at most N calls of each function, chosen at random (default: 10000)")              \
	O(pid, 'p', "pid", "PID", true, "record a running process, until Ctrl-C or --for")         \
	O(for, 0, "for", "TIME", true,                                                             \
	  "stop recording after TIME: 10s, 2m (default: at the program's end or Ctrl-C)")          \
	O(follow, 'f', "follow", NULL, true, "record child processes, too")                        \
	O(twice, 0, "twice", NULL, true,                                                           \
	  "read the features and metrics twice, to test whether recording changes the costs")      \
	O(seed, 0, "seed", "N", true, "set the seed of random choices (default: 0)")               \
	O(quiet, 'q', "quiet", NULL, true, "print only errors")                                    \
	O(depth, 0, "depth", "N", true,                                                            \
	  "record features that at most N pointers lead to (default: 3; at most 8)")               \
	O(max_features, 0, "max-features", "N", true,                                              \
	  "record at most N features of a function (default: 64; at most 128)")                    \
	O(machine, 0, "machine", NULL, true,                                                       \
	  "also record the state of the machine as features: threads, load, memory, clock")        \
	O(without, 0, "without", "FEATURES", true,                                                 \
	  "leave features out of the models, by names and patterns: 'stats_*', @FILE")             \
	O(where, 0, "where", "CONDITION", true,                                                    \
	  "analyse only records for which CONDITION holds: 'cpu > 0 && n > 10'")                   \
	O(class, 0, "class", "CLASSES", true,                                                      \
	  "try these classes of models (default: constant,linear,nlogn,quadratic)")                \
	O(min_r2, 0, "min-r2", "SHARE", true,                                                      \
	  "accept a model that explains this SHARE of the variance (default: 0.9)")                \
	O(contracts, 0, "contracts", "FILE", true,                                                 \
	  "check the records against the bounds in FILE: 'time(sort) <= 9ns*n*log(n) @p95'")       \
	O(function, 0, "function", "NAME", true,                                                   \
	  "name the function of a file of columns (default: the name of the file)")                \
	O(check, 0, "check", NULL, true,                                                           \
	  "check whether calls cost more than the annotations of the project predict")             \
	O(kept, 0, "kept", "FILE", true,                                                           \
	  "with --check: compare with the annotations in FILE (default: the project's)")           \
	O(margin, 0, "margin", "PERCENT", true,                                                    \
	  "with --check: accept costs that are up to PERCENT higher (default: 5)")                 \
	O(alarm, 0, "alarm", "PERCENT", true,                                                      \
	  "with --check: limit the probability of a false alarm to PERCENT (default: 1)")          \
	O(explain, 0, "explain", "FUNCTION", true,                                                 \
	  "show which callees carry the growth of FUNCTION's cost (recorded with -m callees)")     \
	O(inputs, 'i', "inputs", "PATH", true,                                                     \
	  "record PROGRAM once with each file of PATH, a file or folder, as @@ or as stdin")       \
	O(input, 0, "input", "FILE", false, "record PROGRAM with this input only")                 \
	ST_ON_OPTIONS(O)                                                                           \
	O(save, 0, "save", NULL, true,                                                             \
	  "also keep the annotations in the project: .strobe/annotations/IMAGE.ann")               \
	O(format, 0, "format", "text|json|markdown|c", true, "print this format (default: text)")  \
	ST_OPTION_HELP(O)

#define ST_PREDICT_OPTIONS(O)                                                                      \
	O(level, 0, "level", "PERCENT", true,                                                      \
	  "set the probability of the interval, 1 to 99.9999 (default: 95)")                       \
	O(format, 0, "format", "text|json", true, "print text or JSON (default: text)")            \
	ST_OPTION_HELP(O)

#define ST_ATTACH_OPTIONS(O)                                                                       \
	ST_RESULT_OPTIONS(O)                                                                       \
	O(for, 0, "for", "TIME", true, "detach after this long: 10s, 2m (default: at Ctrl-C)")     \
	ST_MEASURE_OPTIONS(O)                                                                      \
	ST_TOP_OPTION(O)                                                                           \
	ST_OPTION_HELP(O)

#define ST_SHOW_OPTIONS(O)                                                                         \
	O(interactive, 'i', "interactive", NULL, true,                                             \
	  "browse the profile in the terminal: functions, calls, source, tables")                  \
	O(sort, 's', "sort", "KEY", true,                                                          \
	  "sort by time (default), total, waiting, total-waiting, instructions, calls, name, or "  \
	  "a column")                                                                              \
	O(top, 'n', "top", "N", true, "print at most N rows of each table (default: 40; 0: all)")  \
	O(func, 'F', "func", "NAME", true,                                                         \
	  "print source and disassembly of a function, with counts")                               \
	O(lines, 0, "lines", NULL, true, "print a table of source lines")                          \
	O(blocks, 0, "blocks", NULL, true, "print a table of basic blocks")                        \
	O(images, 0, "images", NULL, true,                                                         \
	  "print a table of images: the program and its libraries")                                \
	O(threads, 0, "threads", NULL, true, "print a table of threads")                           \
	O(process, 'p', "process", "PROCESS", true,                                                \
	  "show only the process with this ID, or the processes of a program, by name")            \
	O(hide_loader, 0, "hide-loader", NULL, true,                                               \
	  "leave out start-up in ld.so: its functions, and the stacks that begin in it")           \
	O(stacks, 0, "stacks", NULL, true,                                                         \
	  "print the call stacks of samples or allocations as a tree")                             \
	O(stats, 0, "stats", NULL, true, "print tables of processes and of what the engine did")   \
	O(debuginfod, 0, "debuginfod", NULL, true,                                                 \
	  "download missing debug files from DEBUGINFOD_URLS")                                     \
	O(table, 't', "table", "NAME", true,                                                       \
	  "print this table: one of a tool, or functions, images, threads, series, ...")           \
	O(columns, 'c', "columns", "LIST", true,                                                   \
	  "with --table: print these columns, in this order: caller,count")                        \
	O(where, 'W', "where", "CONDITION", true,                                                  \
	  "with --table: print only rows that fit: 'count>=100', 'caller~sort_*'")                 \
	O(rows, 'r', "rows", "STREAM", true,                                                       \
	  "print the rows that the tool recorded, in their order")                                 \
	O(all, 0, "all", NULL, true,                                                               \
	  "print all rows of each table; with lcov, include system sources")                       \
	O(format, 0, "format", "text|json|csv|markdown|latex|lcov", true,                          \
	  "print this format (default: text); some need --table or --rows")                        \
	O(output, 'o', "output", "FILE", true, "write to FILE (default: -, standard output)")      \
	O(extract, 0, "extract", "FILE", true, "copy a stored profile to FILE, and print nothing") \
	ST_OPTION_HELP(O)

#define ST_DIFF_OPTIONS(O)                                                                         \
	O(metric, 0, "metric", "METRIC", true,                                                     \
	  "compare this metric (default: the first that both have; all of measurements)")          \
	O(by, 0, "by", "function|line|context", true,                                              \
	  "compare functions, source lines or calling contexts (default: by the kind of profile)") \
	O(table, 't', "table", "NAME", true, "compare this table of a tool, by its keys")          \
	O(shares, 0, "shares", NULL, true, "compare shares of each run's total")                   \
	O(kccf, 0, "kccf", NULL, true,                                                             \
	  "compare functions with their callers (k-calling context forests)")                      \
	O(by_thread, 0, "by-thread", NULL, true,                                                   \
	  "compare the first thread with the first, and so on, not the sums of all threads")       \
	O(under, 0, "under", "NAMES", true, "show only the contexts below these functions")        \
	O(calls, 0, "calls", "NAMES", true,                                                        \
	  "show only the contexts that lead to a call of these functions")                         \
	O(hot, 0, "hot", "N", true, "print the N rows that differ most (default: 15; 0: all)")     \
	O(columns, 'c', "columns", "LIST", true,                                                   \
	  "print these columns of the table: change,location")                                     \
	O(where, 'W', "where", "CONDITION", true,                                                  \
	  "print only rows that fit: 'change>=100', 'location~sort_*'")                            \
	O(sort, 's', "sort", "COLUMN", true, "sort by this column (default: size of the change)")  \
	O(format, 0, "format", "text|json|csv|markdown|latex", true,                               \
	  "print this format (default: text)")                                                     \
	O(output, 'o', "output", "FILE", true, "write to FILE (default: -, standard output)")      \
	ST_OPTION_HELP(O)

#define ST_MODEL_OPTIONS(O)                                                                        \
	O(of, 0, "of", "NAME", true, "model only this function or location, or shell pattern")     \
	O(csv, 0, "csv", "FILE", true,                                                             \
	  "read points from columns of a text file, not from a profile")                           \
	O(x, 'x', "x", "NAME", true,                                                               \
	  "take this feature or column as x (default: size, or the first)")                        \
	O(y, 'y', "y", "NAME", true,                                                               \
	  "take this metric or column as y (default: all, or the second)")                         \
	O(kind, 'k', "kind", "KINDS", true, "fit only these kinds (default: all)")                 \
	O(way, 'w', "way", "full|iterative|initial-guess|interval|bisection", true,                \
	  "set which points each model is made of (default: full, all)")                           \
	O(parts, 0, "parts", "N", true, "divide the points into N parts (default: 3)")             \
	O(seed, 0, "seed", "N", true, "set the seed of the random order of points (default: 1)")   \
	O(smooth, 's', "smooth", "MODEL", true,                                                    \
	  "add a model without a formula: regressogram, moving, kernel, loess")                    \
	O(noise, 0, "noise", "auto|additive|proportional", true,                                   \
	  "set how y scatters: alike, or in proportion to y (default: auto)")                      \
	O(at, 0, "at", "LIST", true, "predict y at these x, with bands")                           \
	O(level, 0, "level", "PERCENT", true, "set the level of all intervals (default: 95)")      \
	O(save, 0, "save", NULL, true, "also keep the models in the file of the profile")          \
	O(kept, 0, "kept", NULL, true, "print the models that the profile keeps; fit none")        \
	O(format, 0, "format", "text|json", true, "print text or JSON (default: text)")            \
	ST_OPTION_HELP(O)

/* K(identifier, "name") */
#define ST_PLOT_KINDS(K)                                                                           \
	K(HISTORY, "history")                                                                      \
	K(SCATTER, "scatter")                                                                      \
	K(FLAME, "flame")                                                                          \
	K(BARS, "bars")                                                                            \
	K(FLOW, "flow")                                                                            \
	K(HEAT, "heat")                                                                            \
	K(COST, "cost")                                                                            \
	K(RESIDUALS, "residuals")                                                                  \
	K(PASSED, "passed")                                                                        \
	K(CAUSAL, "causal")                                                                        \
	K(TIMELINE, "timeline")                                                                    \
	K(WAITS, "waits")                                                                          \
	K(CALLGRAPH, "callgraph")

#define ST_PLOT_OPTIONS(O)                                                                         \
	O(output, 'o', "output", "FILE", true,                                                     \
	  "write the picture to FILE (default: KIND.svg; -: standard output)")                     \
	O(of, 0, "of", "NAME", true, "draw only what has this name or matches this pattern")       \
	O(metric, 0, "metric", "METRIC", true, "draw this metric (default: the first)")            \
	O(up_to, 0, "up-to", "X", true,                                                            \
	  "causal: leave out points whose x is greater than X (default: draw all)")                \
	O(x, 'x', "x", "NAME", true,                                                               \
	  "scatter, cost: take this feature as x (default: size, or the strongest)")               \
	O(csv, 0, "csv", "FILE", true, "scatter: read points from columns of a text file")         \
	O(no_model, 0, "no-model", NULL, true, "scatter, cost: draw no curve")                     \
	O(log, 0, "log", NULL, true, "scatter, cost: make both axes logarithmic")                  \
	O(kept, 0, "kept", "FILE", true,                                                           \
	  "cost, residuals, passed: draw the annotations in FILE (default: those of the records)") \
	O(inverted, 0, "inverted", NULL, true, "flame: draw callers below their callees")          \
	O(shares, 0, "shares", NULL, true, "flame: compare shares of each profile's total")        \
	O(rev, 'r', "rev", "REV", true,                                                            \
	  "history: end at this version (default: HEAD); scatter: draw its profiles")              \
	O(per, 0, "per", "NAME", true,                                                             \
	  "bars, flow, heat: draw over this feature (default: size, or the first)")                \
	O(by, 0, "by", "function|address", true,                                                   \
	  "bars, flow, heat: show memory by function or by address (default: function)")           \
	O(func, 0, "func", "sum|mean|median|min|max|count", true,                                  \
	  "bars, flow, heat: combine all values at one x (default: sum; flow: mean)")              \
	O(stacked, 0, "stacked", NULL, true, "flow: stack the lines as areas")                     \
	O(grouped, 0, "grouped", NULL, true, "bars: draw locations beside each other")             \
	O(accumulate, 0, "accumulate", NULL, true,                                                 \
	  "bars, flow, heat: draw at each x the sum of all values up to it")                       \
	O(top, 'n', "top", "N", true,                                                              \
	  "draw N locations (default: 9; bars: 12; --by address: 32; callgraph: 60), history: N "  \
	  "versions (default: 40); 0: all")                                                        \
	O(least, 0, "least", "PERCENT", true,                                                      \
	  "callgraph: draw functions with at least this share of the total (default: 1%)")         \
	O(levels, 0, "levels", "N", true,                                                          \
	  "callgraph: draw functions at most N calls away from --of (default: 2; 0: all)")         \
	O(title, 0, "title", "TEXT", true, "write this title above the picture")                   \
	ST_OPTION_HELP(O)

#define ST_CHECK_OPTIONS(O)                                                                        \
	O(method, 'm', "method", "METHODS", true,                                                  \
	  "compare by these methods, with commas between (default: distribution)")                 \
	O(rules, 0, "rules", "FILE", true,                                                         \
	  "choose the methods by the rules of FILE (default: .strobe/check.yaml)")                 \
	O(models, 0, "models", "parametric|smooth", true,                                          \
	  "integral: use models with a formula, or without one (default: parametric)")             \
	O(x, 'x', "x", "NAME", true,                                                               \
	  "use this feature as the x of models (default: size, or the first)")                     \
	O(metric, 0, "metric", "NAME", true, "compare only this metric (default: all)")            \
	O(of, 0, "of", "NAME", true, "compare only this function or location, or shell pattern")   \
	O(smallest, 0, "smallest", "PERCENT", true,                                                \
	  "report changes of at least PERCENT of the program (default: 2)")                        \
	O(alpha, 0, "alpha", "PERCENT", true,                                                      \
	  "let at most PERCENT of the reported changes be false (default: 5)")                     \
	O(cutoff, 0, "cutoff", "PERCENT", true,                                                    \
	  "leave out changes by less than PERCENT of the program (default: 0)")                    \
	O(top, 'n', "top", "N", true, "print the N largest changes (default: 20; 0: all)")         \
	O(all, 'a', "all", NULL, true, "list also the locations without a change")                 \
	O(any_machine, 0, "any-machine", NULL, true,                                               \
	  "compare with profiles of other machines, too")                                          \
	O(exit_code, 0, "exit-code", NULL, true,                                                   \
	  "exit with 1 if something costs more, with 3 if all is Unknown")                         \
	O(format, 0, "format", "text|markdown|json", true,                                         \
	  "print text, Markdown or JSON (default: text)")                                          \
	ST_OPTION_HELP(O)

#define ST_REPORT_OPTIONS(O)                                                                       \
	O(output, 'o', "output", "FILE", true,                                                     \
	  "write the page to FILE (default: strobe.html; -: standard output)")                     \
	O(top, 'n', "top", "N", true,                                                              \
	  "include at most N rows of each table (default: 10000; 0: all)")                         \
	O(history, 0, "history", "NAME", true,                                                     \
	  "include the history of this function or series from the store; repeatable")             \
	O(rev, 'r', "rev", "REV", true,                                                            \
	  "with --history: end at this version (default: the one that is checked out)")            \
	O(versions, 0, "versions", "N", true,                                                      \
	  "with --history: include the last N versions (default: 40; 0: all)")                     \
	O(no_source, 0, "no-source", NULL, true, "leave out the text of source files")             \
	O(all_sources, 0, "all-sources", NULL, true,                                               \
	  "include the text of files that other users may not read")                               \
	O(debuginfod, 0, "debuginfod", NULL, true,                                                 \
	  "download missing debug files from DEBUGINFOD_URLS")                                     \
	ST_OPTION_HELP(O)

#define ST_INIT_OPTIONS(O)                                                                         \
	O(quiet, 'q', "quiet", NULL, true, "print only errors")                                    \
	ST_OPTION_HELP(O)

#define ST_ADD_OPTIONS(O)                                                                          \
	O(rev, 'r', "rev", "REV", true,                                                            \
	  "store them as profiles of this version (default: the one that is checked out)")         \
	O(workload, 'w', "workload", "NAME", true,                                                 \
	  "name the input: only profiles of equal workloads are compared")                         \
	O(format, 0, "format", "text|json", true, "print text or JSON (default: text)")            \
	O(quiet, 'q', "quiet", NULL, true, "print only errors")                                    \
	ST_OPTION_HELP(O)

#define ST_STATUS_OPTIONS(O)                                                                       \
	O(against, 0, "against", "REV", true,                                                      \
	  "compare with this version (default: the nearest ancestor that is comparable)")          \
	O(any_machine, 0, "any-machine", NULL, true,                                               \
	  "compare profiles of different machines, too")                                           \
	O(exit_code, 0, "exit-code", NULL, true, "exit with 1 when something costs more")          \
	O(format, 0, "format", "text|json", true, "print text or JSON (default: text)")            \
	ST_OPTION_HELP(O)

#define ST_LOG_OPTIONS(O)                                                                          \
	O(of, 0, "of", "NAME", true,                                                               \
	  "print the values of a function, location or metric (or pattern) by version")            \
	O(changes, 0, "changes", "NAME", true,                                                     \
	  "find the versions at which a function, location or metric changed")                     \
	O(top, 'n', "top", "N", true, "print at most N versions (default: 40; 0: all)")            \
	O(profiles, 'p', "profiles", NULL, true, "print only versions that have profiles")         \
	O(all, 0, "all", NULL, true,                                                               \
	  "print the whole history, and stored versions that are not in it")                       \
	O(format, 0, "format", "text|json", true, "print text or JSON (default: text)")            \
	ST_OPTION_HELP(O)

#define ST_RM_OPTIONS(O)                                                                           \
	O(quiet, 'q', "quiet", NULL, true, "print only errors")                                    \
	ST_OPTION_HELP(O)

#define ST_CONFIG_OPTIONS(O)                                                                       \
	O(shared, 0, "shared", NULL, true, "change the settings for all projects of the user")     \
	O(unset, 0, "unset", NULL, true, "remove a key from the settings")                         \
	O(all, 0, "all", NULL, true, "print the values of a key in all places, by precedence")     \
	O(keys, 0, "keys", NULL, true, "list the keys and what they do")                           \
	O(format, 0, "format", "text|json", true, "print text or JSON (default: text)")            \
	ST_OPTION_HELP(O)

#define ST_FSCK_OPTIONS(O)                                                                         \
	O(repair, 0, "repair", NULL, true,                                                         \
	  "replace a damaged store by one of all profiles that can be read")                       \
	O(format, 0, "format", "text|json", true, "print text or JSON (default: text)")            \
	ST_OPTION_HELP(O)

#define ST_GC_OPTIONS(O)                                                                           \
	O(quiet, 'q', "quiet", NULL, true, "print only errors")                                    \
	ST_OPTION_HELP(O)

#define ST_HOOKS_OPTIONS(O)                                                                        \
	O(quiet, 'q', "quiet", NULL, true, "print only errors")                                    \
	ST_OPTION_HELP(O)

#define ST_COVERED_OPTIONS(O)                                                                      \
	O(against, 'a', "against", "FILE", true,                                                   \
	  "compare with the log of a run that measured everything")                                \
	O(functions, 'F', "functions", NULL, true, "print a table of functions")                   \
	O(missing, 'm', "missing", NULL, true,                                                     \
	  "print a table of the blocks that are still missing; needs --against")                   \
	O(top, 'n', "top", "N", true, "print at most N rows of each table (default: 40; 0: all)")  \
	O(format, 0, "format", "text|json", true, "print text or JSON (default: text)")            \
	ST_OPTION_HELP(O)

#define ST_RECONSTRUCT_OPTIONS(O)                                                                  \
	O(gaps, 'g', "gaps", NULL, true, "print only the gaps between windows")                    \
	O(blocks, 'B', "blocks", NULL, true, "print a line for each basic block")                  \
	O(returning, 0, "returning", NULL, true,                                                   \
	  "assume that every call returns: no longjmp, no exceptions")                             \
	O(top, 'n', "top", "N", true,                                                              \
	  "print at most N lines of each window (default: 40; 0: all)")                            \
	O(format, 0, "format", "text|json", true, "print text or JSON (default: text)")            \
	ST_OPTION_HELP(O)

#define ST_TUNE_OPTIONS(O)                                                                         \
	O(tool, 't', "tool", "TOOL", true, "measure with this tool (default: branches)")           \
	O(budgets, 'b', "budgets", "LIST", true,                                                   \
	  "try these budgets, as shares of a period (default: 2%,25%)")                            \
	O(periods, 'T', "periods", "LIST", true,                                                   \
	  "try these periods of CPU time (default: 0.25s,4s)")                                     \
	O(budget_policy, 0, "budget-policy", ST_OPTION_WORDS(ST_BUDGET_POLICIES), true,            \
	  "set how a thread runs after its budget is spent (default: native)")                     \
	O(repeat, 'r', "repeat", "N", true, "run each combination N times (default: 10)")          \
	O(seed, 0, "seed", "N", true, "set the seed for the random order of runs (default: 1)")    \
	O(program_file, 'p', "program-file", "FILE", true,                                         \
	  "study the programs in FILE, too, one command on each line")                             \
	O(follow, 'f', "follow", NULL, true, "measure child processes, too")                       \
	O(input, 0, "stdin", "FILE", true, "give the program this input (default: /dev/null)")     \
	O(streams, 0, "stdout", "FILE", true,                                                      \
	  "write the program's output and errors to FILE (default: /dev/null)")                    \
	O(max, 0, "max", NULL, true,                                                               \
	  "search for the largest budget that keeps the threshold of --qos")                       \
	O(max_threshold, 0, "max-threshold", NULL, true,                                           \
	  "search for the best threshold of --qos that can be kept")                               \
	O(qos, 0, "qos", "SOURCE", true,                                                           \
	  "read from SOURCE how well the program serves; see strobe run")                          \
	O(qos_min, 0, "qos-min", "N", true, "require the metric to be N or more")                  \
	O(qos_max, 0, "qos-max", "N", true,                                                        \
	  "require the metric to be N or less, where lower is better")                             \
	O(qos_policy, 0, "qos-policy", "hold|function", true,                                      \
	  "set how the budget follows from the metric (default: hold)")                            \
	O(for, 0, "for", "TIME", true, "end each run after this long: 30s")                        \
	ST_EXPERIMENT_ON_OPTIONS(O)                                                                \
	O(from, 0, "from", "FILE", true, "analyse the result of an earlier study again")           \
	O(anova, 0, "anova", NULL, true,                                                           \
	  "print the analyses of variance and the hypotheses of a study, too")                     \
	O(format, 0, "format", "text|json", true, "print text or JSON (default: text)")            \
	O(output, 'o', "output", "FILE", true,                                                     \
	  "write the result as JSON (default: strobe.PROGRAM.PID.tune.json)")                      \
	O(quiet, 'q', "quiet", NULL, true, "do not show progress")                                 \
	ST_OPTION_HELP(O)

#define ST_TIME_OPTIONS(O)                                                                         \
	O(repeat, 'r', "repeat", "N", true, "measure N runs (default: 10)")                        \
	O(warmups, 'w', "warmups", "N", true, "run the program N times first (default: 3)")        \
	O(cpu, 0, "cpu", "LIST", true, "run the program on these CPUs only: 0,2-4")                \
	O(prepare, 0, "prepare", "SHELLCOMMAND", true,                                             \
	  "run this command before each run; its time is not counted")                             \
	O(workload, 0, "workload", "NAME", true, "record NAME as the workload")                    \
	O(size, 0, "size", "N", true, "record N as the size of the workload")                      \
	O(input, 0, "stdin", "FILE", true, "give the program this input (default: /dev/null)")     \
	O(streams, 0, "stdout", "FILE", true,                                                      \
	  "write the program's output and errors to FILE (default: /dev/null)")                    \
	O(format, 0, "format", "text|json", true, "print text or JSON (default: text)")            \
	O(output, 'o', "output", "FILE", true,                                                     \
	  "write the result to FILE (default: strobe.PROGRAM.PID.db)")                             \
	O(quiet, 'q', "quiet", NULL, true, "print only errors")                                    \
	ST_OPTION_HELP(O)

#define ST_JOB_OPTIONS(O)                                                                          \
	O(file, 0, "file", "FILE", true, "read this job file (default: .strobe/job.yaml)")         \
	O(rev, 'r', "rev", "REV", true,                                                            \
	  "build and measure this version, or those of A..B (default: what is checked out)")       \
	O(restart, 0, "restart", NULL, true, "begin again instead of resuming an interrupted job") \
	O(on, 0, "on", "PLACE", true,                                                              \
	  "run with workers: local, local:N, slurm or slurm:PARTITION (default: one by one)")      \
	O(lease, 0, "lease", "TIME", true,                                                         \
	  "with --on: take over the run of a worker that reports nothing for TIME (default: 60s)") \
	O(noise, 0, "noise", "PERCENT", true,                                                      \
	  "with --on: exclude nodes on which equal work differs by more (default: 5; 0: exclude "  \
	  "none)")                                                                                 \
	O(format, 0, "format", "text|json", true, "print text or JSON (default: text)")            \
	O(quiet, 'q', "quiet", NULL, true, "print only errors")                                    \
	ST_OPTION_HELP(O)

#define ST_CAMPAIGN_OPTIONS(O)                                                                     \
	O(cpu, 0, "cpu", "CPU", false, "run the worker on this CPU (strobe starts workers so)")    \
	O(format, 0, "format", "text|json", true, "print text or JSON (default: text)")            \
	O(quiet, 'q', "quiet", NULL, true, "print only errors")                                    \
	ST_OPTION_HELP(O)

#define ST_BACKFILL_OPTIONS(O)                                                                     \
	O(file, 0, "file", "FILE", true, "read this job file (default: .strobe/job.yaml)")         \
	O(all, 0, "all", NULL, true, "measure versions that have profiles already, too")           \
	O(restart, 0, "restart", NULL, true, "begin again instead of resuming an interrupted job") \
	O(format, 0, "format", "text|json", true, "print text or JSON (default: text)")            \
	O(quiet, 'q', "quiet", NULL, true, "print only errors")                                    \
	ST_OPTION_HELP(O)

#define ST_IMPORT_WORD(id, name, help) "|" name
#define ST_IMPORT_OPTIONS(O)                                                                       \
	O(from, 0, "from", &(ST_IMPORT_FORMATS(ST_IMPORT_WORD))[1], true,                          \
	  "read this format (default: detected from the contents)")                                \
	O(output, 'o', "output", "FILE", true,                                                     \
	  "write the profile to FILE (default: the name of the file read, with .db added)")        \
	O(quiet, 'q', "quiet", NULL, true, "print only errors")                                    \
	ST_OPTION_HELP(O)

/* F(identifier, "name", who writes it, the function if it is a writer of measurements) */
#define ST_EXPORT_FORMATS(F)                                                                       \
	F(perun, "perun", MEASUREMENTS, st_export_perun)                                           \
	F(perun_store, "perun-store", HISTORY, NULL)                                               \
	F(csv, "csv", MEASUREMENTS, st_export_measurements_csv)                                    \
	F(json, "json", SHOW, NULL)                                                                \
	F(lcov, "lcov", SHOW, NULL)                                                                \
	F(folded, "folded", STACKS, st_export_lock_stacks)                                         \
	F(speedscope, "speedscope", STACKS, NULL)                                                  \
	F(callgrind, "callgrind", STACKS, export_callgrind)                                        \
	F(pprof, "pprof", STACKS, NULL)                                                            \
	F(timeline, "timeline", EVENTS, NULL)
#define ST_EXPORT_WORD(id, name, writer, function) "|" name
#define ST_EXPORT_OPTIONS(O)                                                                       \
	O(to, 0, "to", &(ST_EXPORT_FORMATS(ST_EXPORT_WORD))[1], true,                              \
	  "write this format (default: by the ending of FILE)")                                    \
	O(output, 'o', "output", "FILE", true,                                                     \
	  "write to FILE; perun-store: create this folder (default: -, standard output)")          \
	O(metric, 0, "metric", "wall|on-cpu|waiting|samples", true,                                \
	  "for a result of strobe run -t hot:wall: write this part of the time (default: wall)")   \
	ST_OPTION_HELP(O)

#define ST_DOCTOR_OPTIONS(O)                                                                       \
	O(for_benchmarks, 0, "for-benchmarks", NULL, true,                                         \
	  "measure what makes times differ from run to run")                                       \
	O(format, 0, "format", "text|json", true, "print text or JSON (default: text)")            \
	ST_OPTION_HELP(O)

#define ST_TOOLS_OPTIONS(O)                                                                        \
	O(format, 0, "format", "text|json", true, "print text or JSON (default: text)")            \
	ST_OPTION_HELP(O)

#define ST_BUILD_TOOL_OPTIONS(O)                                                                   \
	O(output, 'o', "output", "FILE", true,                                                     \
	  "write the tool to FILE (default: FILE.tool in the current directory)")                  \
	O(include, 'I', "include", "DIRECTORY", true, "look for headers in DIRECTORY, too")        \
	O(quiet, 'q', "quiet", NULL, true, "print only errors")                                    \
	ST_OPTION_HELP(O)

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
/* The same for a command that ends with the exit code of the program it runs: ST_EXIT_USAGE becomes
 * ST_EXIT_FAILED, as in timeout(1) and env(1), because 2 is a common exit code of programs. */
int st_complain_running(const struct st_error *e);
/* Says that --format (of the command) has no such value. Returns -1. */
st_status st_bad_format(const char *value, const char *values, struct st_error *e);

#endif
