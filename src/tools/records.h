/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of the tool `records`, as the controller reads them. */
#ifndef STROBE_TOOLS_RECORDS_H
#define STROBE_TOOLS_RECORDS_H

#include <stdint.h>

/* The parts of a record, the first column of a row. Behind it the number of the function in the
 * controller and that of the call. */
enum records_part {
	RECORDS_PART_VALUES,  /* the first value's number; bits: absent; RECORDS_VALUES of them */
	RECORDS_PART_OUTCOME, /* of a branch: its address, the next instruction's, where it leads if
	                         it is not an indirect jump; outcome; how often; records_order */
	RECORDS_PART_END,     /* the call's row; ticks; instructions; thread; blocks; system calls.
	                         Its last part */
	RECORDS_PART_TOTALS,  /* not of a call: calls; calls to be kept; of those, calls that have
	                         returned */
};

enum records_order {
	RECORDS_IN_ORDER,    /* the outcomes of a branch follow each other as they were */
	RECORDS_IN_NO_ORDER, /* the other ones: how often each was */
	RECORDS_NOT_KNOWN,   /* the other ones of an indirect jump: how many */
};

enum {
	RECORDS_VALUES = 5,
	RECORDS_RUNS = 8,            /* outcomes of a branch in a call that are kept in order */
	RECORDS_MOST_BRANCHES = 512, /* of a function */
};

#endif
