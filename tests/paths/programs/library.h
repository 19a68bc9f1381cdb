/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_TESTS_PATHS_LIBRARY_H
#define STROBE_TESTS_PATHS_LIBRARY_H

void f_inner(int n);
void f_library(void (*back)(int), int n);

#endif
