/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results: statistics of the engine. */
#ifndef STROBE_WIRE_RESULTS_STATS_H
#define STROBE_WIRE_RESULTS_STATS_H

/* Statistics of the engine: one list, every reader expands it. ST_STAT(name, "what it means") */
#define ST_STATS(ST_STAT)                                                                          \
	ST_STAT(blocks, "blocks translated")                                                       \
	ST_STAT(insns, "instructions translated")                                                  \
	ST_STAT(app_bytes, "program bytes translated")                                             \
	ST_STAT(cache_hot, "bytes of code cache used, hot part")                                   \
	ST_STAT(cache_cold, "bytes of code cache used, warm and cold parts")                       \
	ST_STAT(table_bytes, "bytes of the runtime's tables, without the lookup table")            \
	ST_STAT(dispatches, "returns to the dispatcher")                                           \
	ST_STAT(links, "exits linked")                                                             \
	ST_STAT(lookup_misses, "indirect branches that missed the lookup table")                   \
	ST_STAT(target_passes, "links passed by branches that were new to their target")           \
	ST_STAT(syscalls, "system calls seen")                                                     \
	ST_STAT(signals, "signals delivered to the program")                                       \
	ST_STAT(flushes, "flushes of the whole cache")                                             \
	ST_STAT(invalidations,                                                                     \
	        "blocks dropped: their code changed, or is sampled less or more often")            \
	ST_STAT(smc_faults, "writes to translated code")                                           \
	ST_STAT(translate_ticks, "TSC ticks spent translating, from every eighth translation")     \
	ST_STAT(native_threads, "threads handed to native execution")                              \
	ST_STAT(gates, "system calls of native threads that were given a way without a signal")    \
	ST_STAT(traps, "times that native threads came back for code that had not been measured")  \
	ST_STAT(unwinds, "stacks unwound, of threads that were measured again")                    \
	ST_STAT(unwinds_lost, "of them not to where the thread began")                             \
	ST_STAT(children, "child processes that ran natively, because --follow was not given")     \
	ST_STAT(by_event, "threads that perf events interrupted for their samples")                \
	ST_STAT(by_timer, "threads that timers of their CPU clock interrupted for their samples")

enum st_stat {
#define ST_STAT(name, text) ST_STAT_##name,
	ST_STATS(ST_STAT)
#undef ST_STAT
	        ST_STAT_COUNT
};

#endif
