/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_SAMPLES_COLD_H
#define STROBE_SAMPLES_COLD_H

int one(int x);
int two(int x);
__attribute__((cold)) void seldom(const char *what, int x);

#endif
