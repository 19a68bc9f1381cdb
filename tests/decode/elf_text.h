/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_TESTS_DECODE_ELF_TEXT_H
#define STROBE_TESTS_DECODE_ELF_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Calls fn with the contents of each executable section of an x86-64 ELF file. Returns false, with
 * a message on stderr, if the file cannot be read or is no such file or has no such section.
 */
bool elf_each_text(const char *path,
                   void (*fn)(const char *path, const uint8_t *p, size_t n, void *arg), void *arg);

#endif
