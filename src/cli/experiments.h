/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of the commands that run a program many times; commands.h, which has the list of all
 * commands, includes them. */
#ifndef STROBE_CLI_EXPERIMENTS_H
#define STROBE_CLI_EXPERIMENTS_H

#include "fuzz/corpus.h"
#include "gate/findings.h"

/* Workers that make the runs of a command: cli/on.h. id, name: of the option for the noise of
 * nodes, since some commands have another --noise. */
#define ST_WORKER_OPTIONS(O, id, name)                                                             \
	O(on, 0, "on", "PLACE", true,                                                              \
	  "run with workers: local, local:N, slurm or slurm:PARTITION (default: none)")            \
	O(campaign, 0, "campaign", "FOLDER", true,                                                 \
	  "with --on: keep tasks and results in FOLDER (default: a temporary folder)")             \
	O(lease, 0, "lease", "TIME", true,                                                         \
	  "with --on: take over the run of a worker that reports nothing for TIME (default: 60s)") \
	O(id, 0, name, "PERCENT", true,                                                            \
	  "with --on: exclude nodes on which equal work differs by more (default: 5; 0: exclude "  \
	  "none)")

#define ST_ON_OPTIONS(O) ST_WORKER_OPTIONS(O, noise, "noise")

/* A command whose workers start the same command for each task: cli/on_tasks.h. */
#define ST_EXPERIMENT_ON_OPTIONS(O)                                                                \
	ST_WORKER_OPTIONS(O, node_noise, "node-noise")                                             \
	O(experiment, 0, "experiment", "RUN", false, "make one run of a campaign, for a worker")   \
	O(reference, 0, "reference", "FILE", false,                                                \
	  "with --experiment: read an earlier result from FILE")

#define ST_BLOW_OPTIONS(O)                                                                         \
	O(mode, 'm', "mode", "slow-down|speed-up|causal", true,                                    \
	  "slow down a function (default), all others, or speed it up virtually")                  \
	O(funcs, 'F', "funcs", "PATTERN", true,                                                    \
	  "put noise only into the functions that match PATTERN")                                  \
	O(all, 'a', "all", NULL, true, "put noise into functions of libraries, too")               \
	O(exclude, 'x', "exclude", "NAMES", true, "leave out these functions")                     \
	O(main, 0, "main", "NAME", true,                                                           \
	  "time functions, and give them noise, only while this function runs (default: always)")  \
	O(at, 0, "at", "LOCATION", true,                                                           \
	  "put noise at FILE:LINE, call:CALLER>CALLEE, block:FUNCTION or block:FUNCTION+OFFSET")   \
	O(by, 0, "by", "LIST", true,                                                               \
	  "with --mode causal, speed up any of function,context,line,block (default: function)")   \
	O(where, 0, "where", "before|after", true,                                                 \
	  "put noise before (default) or after the functions, or the calls of --at")               \
	O(called_threshold, 0, "called-threshold", "N", true,                                      \
	  "choose functions that are called at least N times (default: 2)")                        \
	O(min_func_time, 0, "min-func-time", "TIME", true,                                         \
	  "choose functions whose calls last at least this long on average (default: 1ms)")        \
	O(criteria, 0, "criteria", "LIST", true,                                                   \
	  "choose by any of calls,time,call-sites,complexity,io,locks (default: calls,time)")      \
	O(call_sites_threshold, 0, "call-sites-threshold", "N", true,                              \
	  "also choose functions that have at least N call sites (default: 2)")                    \
	O(io_functions, 0, "io-functions", NULL, true,                                             \
	  "also choose functions that do I/O, or lead to functions that do")                       \
	O(locks, 0, "locks", NULL, true, "also choose functions of locks, and their callers")      \
	O(complexity, 0, "complexity", "FILE", true,                                               \
	  "also choose functions whose cost grows with their input, by the models in FILE")        \
	O(probe_overhead, 0, "probe-overhead", "PERCENT", true,                                    \
	  "leave out functions until probes take at most PERCENT (default: 5; 0: no limit)")       \
	O(corpus, 0, "corpus", "FILE", true,                                                       \
	  "choose the functions that FILE names, mangled, demangled or by patterns")               \
	O(show_functions, 0, "show-functions", NULL, true,                                         \
	  "list all functions and the chosen ones, and exit")                                      \
	O(show_functions_w_time, 0, "show-functions-w-time", NULL, true,                           \
	  "list them with the mean time of a call, and exit")                                      \
	O(noise, 0, "noise", "LIST", true,                                                         \
	  "use this noise: nanosleep,usleep,sleep,yield,busy (default: nanosleep,yield,busy)")     \
	O(timed_noise_min, 0, "timed-noise-min", "TIME", true,                                     \
	  "set the shortest sleep (default: 1ms)")                                                 \
	O(timed_noise_max, 0, "timed-noise-max", "TIME", true,                                     \
	  "set the longest sleep (default: 1s)")                                                   \
	O(yield_noise_min, 0, "yield-noise-min", "N", true,                                        \
	  "yield at least N times (default: 1000)")                                                \
	O(yield_noise_max, 0, "yield-noise-max", "N", true,                                        \
	  "yield at most N times (default: 1000000)")                                              \
	O(busy_waiting_noise_min, 0, "busy-waiting-noise-min", "TIME", true,                       \
	  "set the shortest busy wait (default: 100us)")                                           \
	O(busy_waiting_noise_max, 0, "busy-waiting-noise-max", "TIME", true,                       \
	  "set the longest busy wait (default: 100ms)")                                            \
	O(above_max, 0, "above-max", NULL, true,                                                   \
	  "also use the first strength that exceeds the greatest one of its type")                 \
	O(noise_growth_index, 0, "noise-growth-index", "N", true,                                  \
	  "make each strength N times the one before (default: 2)")                                \
	O(max_slowdown, 0, "max-slowdown", "N", true,                                              \
	  "allow noise of at most N times the run time in a run (default: 2)")                     \
	O(full_analysis, 0, "full-analysis", NULL, true,                                           \
	  "try every strength of every kind in every chosen function")                             \
	O(sampling, 0, "sampling", "PERCENT", true,                                                \
	  "with --mode speed-up: vary noise in steps of PERCENT of a call's time (default: 10)")   \
	O(repeat, 'r', "repeat", "N", true,                                                        \
	  "with --mode causal or windows: try each speed-up or noise N times (default: 5)")        \
	O(progress, 0, "progress", "POINT", true,                                                  \
	  "measure calls of a function, a line, a static probe or a metric per second (or auto)")  \
	O(latency, 0, "latency", "BEGIN,END", true,                                                \
	  "with --mode causal: measure the time from entries of BEGIN to returns of END")          \
	O(pid, 'p', "pid", "PID", true,                                                            \
	  "make experiments in the running process PID, in windows of time")                       \
	O(window, 0, "window", "TIME", true,                                                       \
	  "make experiments of TIME in one process: PID, or one of PROGRAM (default: 250ms)")      \
	O(for, 0, "for", "TIME", true,                                                             \
	  "with --progress or --latency: end each run after this long")                            \
	O(hide_pauses, 0, "hide-pauses", NULL, true,                                               \
	  "with --mode causal: have the program's clocks stand still during its pauses")           \
	O(what_if, 0, "what-if", "LIST", true,                                                     \
	  "forecast the gain if several functions are faster: f=30%,g=50%")                        \
	O(pick, 0, "pick", "best|weighted", true,                                                  \
	  "choose the next function by its interval and effect (default), or at random")           \
	O(baseline_runs, 0, "baseline-runs", "N", true,                                            \
	  "begin with N runs without noise (default: 5)")                                          \
	O(native_runs, 0, "native-runs", "N", true,                                                \
	  "pair N runs without noise with runs without probes (default: 5; 0: none)")              \
	O(clock_runs, 0, "clock-runs", "N", true,                                                  \
	  "measure on-CPU and waiting time of functions in N runs (default: 3; 0: none)")          \
	O(iterations, 'i', "iterations", "N", true, "end after N experiments (default: no limit)") \
	O(timeout, 0, "timeout", "TIME", true,                                                     \
	  "end the campaign after this long (default: 1m; 0: no limit)")                           \
	O(limit, 0, "limit", "TIME", true,                                                         \
	  "end a run after this long (default: ten times the expected time plus 10s)")             \
	O(seed, 0, "seed", "N", true, "set the seed of the random choices (default: 1)")           \
	O(journal, 0, "journal", "FILE", true,                                                     \
	  "keep each run in FILE, and resume the campaign that FILE has")                          \
	O(state, 0, "state", "FILE", true,                                                         \
	  "write what is done and left, and the best functions, to FILE before each run")          \
	O(timeline, 0, "timeline", "NAME", true,                                                   \
	  "record the calls of the best experiment with function NAME (default: any; or none)")    \
	O(input, 0, "stdin", "FILE", true,                                                         \
	  "use FILE as the program's standard input (default: /dev/null)")                         \
	ST_EXPERIMENT_ON_OPTIONS(O)                                                                \
	O(from, 0, "from", "FILE", true, "show the result of an earlier campaign")                 \
	O(compare, 0, "compare", "FILE", true,                                                     \
	  "with --from: compare its ranking of functions with that of another campaign")           \
	O(again, 0, "again", "N", true,                                                            \
	  "with --from: make experiment N again, with the same noise, --repeat times (default: "   \
	  "1)")                                                                                    \
	O(threads, 0, "threads", NULL, true,                                                       \
	  "also print the calls of each function in each thread")                                  \
	O(sort, 's', "sort", "slope|fitness|share", true,                                          \
	  "sort functions by this (default: slope)")                                               \
	O(top, 'n', "top", "N", true, "print at most N functions (default: 50; 0: all)")           \
	O(full, 0, "full", NULL, true, "print names in full, and the stacks of faults")            \
	O(format, 0, "format", "db|text|json", true,                                               \
	  "write this format (default: by the ending of FILE, or db; with --from: text)")          \
	O(output, 'o', "output", "FILE", true,                                                     \
	  "write the result to FILE (default: strobe.PROGRAM.PID.db)")                             \
	O(quiet, 'q', "quiet", NULL, true, "print only errors")                                    \
	ST_OPTION_HELP(O)

#define ST_FUZZ_WORD(id, name) "|" name
#define ST_FUZZ_OPTIONS(O)                                                                         \
	O(seeds, 's', "seeds", "PATH", true,                                                       \
	  "start from this file, or from all files of this folder (required)")                     \
	O(as, 0, "as", "stdin|file|argument", true,                                                \
	  "pass the input in this way (default: file if an argument is @@, or stdin)")             \
	O(time, 't', "time", "TIME", true, "end the search after this time (default: 60s)")        \
	O(executions, 0, "executions", "N", true,                                                  \
	  "end the search after N executions (default: no limit)")                                 \
	O(jobs, 'j', "jobs", "N", true,                                                            \
	  "run N executions at the same time, at most 32 (default: the number of CPUs)")           \
	O(judge, 0, "judge", "TIME", true,                                                         \
	  "spend at most this time on judging the inputs that were found (default: 60s)")          \
	O(hang, 0, "hang", "TIME", true,                                                           \
	  "end an execution after this time, and report it as a hang (default: 10s)")              \
	O(coverage, 0, "coverage", "sum|paths", true,                                              \
	  "compare inputs by their total work, or by the work on each path (default: sum)")        \
	O(fresh, 0, "fresh", NULL, true,                                                           \
	  "start a new process for each execution (default: copy a started process)")              \
	O(size, 'N', "size", "BYTES", true,                                                        \
	  "make inputs of at most BYTES (default: 1,000,000 more than the largest seed)")          \
	O(size_ratio, 0, "size-ratio", "N", true,                                                  \
	  "make inputs of at most N times the largest seed (default: as --size)")                  \
	O(rate, 0, "rate", "N", true,                                                              \
	  "call inputs interesting whose work is above N times the seeds' (default: 1.5)")         \
	O(rules, 0, "rules", "LIST", true,                                                         \
	  "change inputs by these rules (default: those for the type of the first seed)")          \
	O(regex, 0, "regex", "RULE", true,                                                         \
	  "also change inputs by this rule: EXPRESSION=>REPLACEMENT")                              \
	O(dictionary, 0, "dictionary", "FILE", true,                                               \
	  "also insert the tokens in FILE, a dictionary of AFL++ or libFuzzer")                    \
	O(strategy, 0, "strategy", &(ST_FUZZ_STRATEGIES(ST_FUZZ_WORD))[1], true,                   \
	  "choose how many inputs a rule makes from a parent (default: mixed)")                    \
	O(seed, 0, "seed", "N", true, "set the seed of the random choices (default: 1)")           \
	O(resume, 0, "resume", NULL, true, "continue the campaign in the folder of --output")      \
	ST_EXPERIMENT_ON_OPTIONS(O)                                                                \
	O(exit_code, 0, "exit-code", NULL, true, "exit with 1 if there is a finding")              \
	O(format, 0, "format", "text|json", true, "print text or JSON (default: text)")            \
	O(output, 'o', "output", "FOLDER", true,                                                   \
	  "keep inputs and findings in FOLDER (default: strobe.PROGRAM.PID.fuzz)")                 \
	O(quiet, 'q', "quiet", NULL, true, "print only errors")                                    \
	ST_OPTION_HELP(O)

#define ST_GATE_WORD(id, name, ...) "|" name
#define ST_GATE_OPTIONS(O)                                                                         \
	O(base, 'b', "base", "SIDE", true, "compare with this version or command")                 \
	O(target, 't', "target", "SIDE", true, "judge this version or command (default: HEAD)")    \
	O(metric, 'm', "metric", &(ST_GATE_METRICS(ST_GATE_WORD))[1], true,                        \
	  "compare CPU time or elapsed time (default: cpu)")                                       \
	O(limit, 'l', "limit", "PERCENT", true,                                                    \
	  "let changes of time by less than PERCENT pass (default: 2)")                            \
	O(counts, 'c', "counts", "N", true,                                                        \
	  "count N runs of each side with the engine (default: 2; 0: none)")                       \
	O(pairs, 'p', "pairs", "N", true,                                                          \
	  "run at most N pairs (default: 60; 0: do not measure time)")                             \
	O(functions, 0, "functions", "N", true,                                                    \
	  "trace at most N pairs for the times of functions (default: 0: none)")                   \
	O(for, 0, "for", "TIME", true, "begin no pair after this time (default: 10m)")             \
	O(alarm, 0, "alarm", "PERCENT", true,                                                      \
	  "limit the probability of a false alarm to PERCENT (default: 1)")                        \
	O(miss, 0, "miss", "PERCENT", true,                                                        \
	  "limit the probability to pass a change of --limit to PERCENT (default: 5)")             \
	O(duet, 0, "duet", &(ST_GATE_DUETS(ST_GATE_WORD))[1], true,                                \
	  "run pairs at once on one CPU (default for cpu), in turn (for wall), or on other CPUs")  \
	O(cpu, 0, "cpu", "LIST", true,                                                             \
	  "run each pair on one of these CPUs; all: on all CPUs (default: any one)")               \
	O(seed, 0, "seed", "N", true, "set the seed of the order of runs (default: a random one)") \
	O(calibrate, 0, "calibrate", NULL, true,                                                   \
	  "measure the false alarms of the base against itself, and keep the limit")               \
	O(gates, 0, "gates", "N", true,                                                            \
	  "with --calibrate: run N gates of each benchmark (default: 20)")                         \
	O(rules, 0, "rules", "FILE", true,                                                         \
	  "read limits and exceptions from FILE (default: .strobe/gate.yaml)")                     \
	ST_ON_OPTIONS(O)                                                                           \
	O(times, 0, "times", "FILE", false, "read the times of pairs from FILE, for tests")        \
	O(format, 'f', "format", &(ST_GATE_FORMATS(ST_GATE_WORD))[1], true,                        \
	  "print the result in this format (default: text)")                                       \
	O(output, 'o', "output", "FILE", true,                                                     \
	  "also write the result to FILE: .md, .xml (JUnit), .sarif, .json, .txt")                 \
	O(quiet, 'q', "quiet", NULL, true, "print only errors")                                    \
	ST_OPTION_HELP(O)

#define ST_BISECT_OPTIONS(O)                                                                       \
	O(counts, 'c', "counts", "N", true,                                                        \
	  "count N runs of the two ends with the engine (default: 2; 0: none)")                    \
	O(pairs, 'p', "pairs", "N", true,                                                          \
	  "run at most N pairs of each commit (default: 60; 0: do not measure time)")              \
	O(format, 'f', "format", "text|json", true, "print text or JSON (default: text)")          \
	O(quiet, 'q', "quiet", NULL, true, "print only errors")                                    \
	ST_OPTION_HELP(O)

#endif
