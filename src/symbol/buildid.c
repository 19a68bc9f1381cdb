/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The identity of an image: its build-id, or the checksum of its content. */
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "base/regular.h"
#include "symbol/internal.h"

char *
sym_build_id(Elf *elf)
{
	const void *bits;
	ssize_t n = dwelf_elf_gnu_build_id(elf, &bits);
	if (n <= 0 || n > 64)
		return NULL;
	const unsigned char *bytes = bits;
	char *text = malloc(2 * (size_t)n + 1);
	for (ssize_t i = 0; text && i < n; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return text;
}

st_status
sym_file_crc(const char *path, uint32_t *crc)
{
	unsigned char buffer[32 << 10];
	int fd = st_open_regular(path);
	if (fd < 0)
		return -1;
	uLong sum = crc32(0, NULL, 0);
	ssize_t n;
	while ((n = read(fd, buffer, sizeof buffer)) > 0)
		sum = crc32(sum, buffer, (uInt)n);
	close(fd);
	*crc = (uint32_t)sum;
	return n < 0 ? -1 : 0;
}
