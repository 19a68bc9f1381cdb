/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names and columns of the tables in which a profile keeps a campaign; put.c writes them, read.c
 * reads them. */
#ifndef STROBE_BLOW_TABLES_H
#define STROBE_BLOW_TABLES_H

enum {
	FUNCTION_AT,
	FUNCTION_NAME,
	FUNCTION_RAW,
	FUNCTION_IMAGE,
	FUNCTION_OFFSET,
	FUNCTION_CHOSEN,
	FUNCTION_WHY,
	FUNCTION_CALLS,
	FUNCTION_NS,
	FUNCTION_COLUMNS
};
enum { IS_PROGRESS = 2 }; /* in FUNCTION_CHOSEN, plus the kind less one; otherwise 0 or 1 */
enum {
	RUN_AT,
	RUN_FUNCTION,
	RUN_TYPE,
	RUN_STRENGTH,
	RUN_FAULT,
	RUN_EXIT,
	RUN_OUTPUT,
	RUN_TOTAL,
	RUN_CPU,
	RUN_COLUMNS
};
enum {
	SAMPLE_RUN,
	SAMPLE_FUNCTION,
	SAMPLE_THREAD,
	SAMPLE_CALLS,
	SAMPLE_NS,
	SAMPLE_NOISES,
	SAMPLE_NOISE,
	SAMPLE_COLUMNS
};

/* The traits and call sites of functions, and the criteria that they meet. Results of older
 * versions have no such table. */
enum { CODE_AT, CODE_MET, CODE_TRAITS, CODE_SITES, CODE_COLUMNS };
#define ST_BLOW_TABLE_CODE "code"

/* The functions of contexts; results without contexts have no such table. */
enum { CONTEXT_AT, CONTEXT_CALLEE, CONTEXT_CALLER, CONTEXT_CALLS, CONTEXT_COLUMNS };
#define ST_BLOW_TABLE_CONTEXTS "contexts"

/* The spans of a speed-up. */
enum { SPAN_RUN, SPAN_THREAD, SPAN_NS, SPAN_COLUMNS };
#define ST_BLOW_TABLE_SPANS "threads"

/* What has created the threads. Results of older versions have no such table. */
enum {
	CREATED_THREAD,
	CREATED_CREATOR,
	CREATED_NTH,
	CREATED_IMAGE,
	CREATED_FUNCTION,
	CREATED_OFFSET,
	CREATED_CALL_IMAGE,
	CREATED_CALL_FUNCTION,
	CREATED_CALL_OFFSET,
	CREATED_THREADS, /* 1 */
	CREATED_COLUMNS
};
#define ST_BLOW_TABLE_CREATED "created"

/* Runs without probes. */
enum { PLAIN_AT, PLAIN_TOTAL, PLAIN_CPU, PLAIN_COLUMNS };
#define ST_BLOW_TABLE_PLAIN "plain"

/* Runs without noise that read both clocks. */
enum { CLOCKED_RUN, CLOCKED_FUNCTION, CLOCKED_OPEN, CLOCKED_NS, CLOCKED_CPU, CLOCKED_COLUMNS };
#define ST_BLOW_TABLE_CLOCKED "clocks"

/* Lines of the notes of runs; the number of a line counts through all runs. */
enum { NOTE_AT, NOTE_RUN, NOTE_KIND, NOTE_TEXT, NOTE_LINES, NOTE_COLUMNS };

/* The experiment that was repeated and recorded, and the slices of its calls: timeline.h. */
enum {
	RECORDED_FUNCTION,
	RECORDED_TYPE,
	RECORDED_STRENGTH,
	RECORDED_INDICATOR, /* a number as text */
	RECORDED_FAULT,
	RECORDED_WIDTH,
	RECORDED_TOO_DEEP,
	RECORDED_LOST,
	RECORDED_TOTAL,
	RECORDED_CALLS,
	RECORDED_COLUMNS
};
enum {
	SLICE_AT,
	SLICE_THREAD,
	SLICE_TID,
	SLICE_LEVEL,
	SLICE_BEGIN,
	SLICE_FUNCTION,
	SLICE_IMAGE,
	SLICE_KIND,
	SLICE_NS,
	SLICE_CALLS,
	SLICE_COLUMNS
};
#define ST_BLOW_TABLE_RECORDED "recorded"
#define ST_BLOW_TABLE_TIMELINE "timeline"

#define ST_BLOW_TABLE_NOTES "notes"
#define ST_BLOW_TABLE_FUNCTIONS "functions"
#define ST_BLOW_TABLE_RUNS "runs"
#define ST_BLOW_TABLE_SAMPLES "samples"

#endif
