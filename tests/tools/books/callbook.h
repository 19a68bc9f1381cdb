/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls and returns, written down by the hooks of -finstrument-functions. */
#ifndef STROBE_TESTS_CALLBOOK_H
#define STROBE_TESTS_CALLBOOK_H

#ifdef __cplusplus
extern "C" {
#endif

/* Where the books go when the program ends: for each thread its id and the number of its notes,
 * then those. */
void book_file(const char *path);
/* The function's first two arguments. */
void book_arguments(unsigned long a, unsigned long b);
/* An exception is about to be thrown, has been caught; longjmp has come back to the caller. */
void book_thrown(void);
void book_caught(void);
void book_landed(void);
/* The hooks themselves. */
void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

#ifdef __cplusplus
}
#endif

#endif
