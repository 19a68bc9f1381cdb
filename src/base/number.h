/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers as people read them: with commas, and with the noun in the right form. All texts for
 * people write numbers of things in this way; formats that programs read have no commas. */
#ifndef STROBE_BASE_NUMBER_H
#define STROBE_BASE_NUMBER_H

#include <stdint.h>

enum { ST_NUMBER_SIZE = 32 };
/* 1234567 as "1,234,567". Returns buffer. */
const char *st_number(char buffer[ST_NUMBER_SIZE], uint64_t value);

/* Bytes as "999 bytes", "1.5 KiB", "256 MiB": powers of 1024. Returns buffer. */
const char *st_size(char buffer[ST_NUMBER_SIZE], uint64_t bytes);
/* Nanoseconds as "250 ns", "1.5 us", "12.3 ms", "1.240 s", "3 min 2 s". Returns buffer. */
const char *st_duration(char buffer[ST_NUMBER_SIZE], int64_t ns);

/* A number and what it counts: "1 window was", "1,234 windows were". Each call has its own text, so
 * that a sentence can have several. */
struct st_count {
	char text[96];
};
struct st_count st_counted(uint64_t n, const char *one, const char *many);
/* For printf: the text lives as long as the expression that it is in. */
#define ST_COUNT(n, one, many) (st_counted(n, one, many).text)

/* The same of a number alone: "1,234". */
struct st_grouped {
	char text[ST_NUMBER_SIZE];
};
struct st_grouped st_grouped(uint64_t n);
#define ST_NUMBER(n) (st_grouped(n).text)

#endif
