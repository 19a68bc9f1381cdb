/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files a program executes. */
#ifndef STROBE_TRACE_FILES_H
#define STROBE_TRACE_FILES_H

#include <stdbool.h>
#include <sys/types.h>

/* Does a dynamic linker load the program? */
bool st_trace_is_dynamic(const char *path);
/* Calls look for each file that the program will have mapped before its first instruction: itself,
 * its dynamic linker, and the libraries that that one lists. */
void st_trace_files_of_program(const char *path, void (*look)(void *arg, const char *path),
                               void *arg);
/* The same for the files that a process has mapped to execute. False: there is no such process. */
bool st_trace_files_of_process(pid_t pid, void (*look)(void *arg, const char *path), void *arg);

#endif
