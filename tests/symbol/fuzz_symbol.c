/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads damaged copies of ELF files: fuzz_symbol ITERATIONS SEED FILE... The same arguments damage
 * in the same way. A copy may be refused, but what is accepted must keep the promises of symbol.h.
 */
#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "symbol/symbol.h"

struct input {
	const char *path;
	unsigned char *content;
	size_t size;
};

static uint64_t state;
static size_t refused, accepted, functions, lines;

static uint64_t
pick(uint64_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return below ? (state >> 20) % below : 0;
}

static void
die(const char *what, const char *path)
{
	fprintf(stderr, "fuzz_symbol: %s: %s\n", path, what);
	abort();
}

/* The bytes a mutation goes for: headers and small sections as often as the rest of the file. */
static void
pick_region(const struct input *in, size_t *start, size_t *size)
{
	const Elf64_Ehdr *header = (const void *)in->content;
	*start = 0;
	*size = in->size;
	switch (pick(4)) {
	case 0:
		*size = sizeof *header + header->e_phnum * sizeof(Elf64_Phdr);
		break;
	case 1:
		*start = header->e_shoff;
		*size = header->e_shnum * sizeof(Elf64_Shdr);
		break;
	case 2: {
		Elf64_Shdr section;
		memcpy(&section,
		       in->content + header->e_shoff + pick(header->e_shnum) * sizeof section,
		       sizeof section);
		if (section.sh_type != SHT_NOBITS) {
			*start = section.sh_offset;
			*size = section.sh_size;
		}
		break;
	}
	default:
		break;
	}
	if (!*size || *start > in->size || *size > in->size - *start) {
		*start = 0;
		*size = in->size;
	}
}

static void
damage(const struct input *in, unsigned char *copy)
{
	static const uint64_t values[] = {0,          1,          0x7f,       0x80,
	                                  0xff,       0xffff,     0x7fffffff, 0x80000000,
	                                  0xffffffff, UINT64_MAX, INT64_MAX,  0xffffffffffff0000};
	size_t start, size;
	pick_region(in, &start, &size);
	size_t at = start + pick(size), width = (size_t)1 << pick(4);
	if (width > in->size - at)
		width = 1;
	uint64_t value;
	switch (pick(4)) {
	case 0:
		copy[at] ^= (unsigned char)(1u << pick(8));
		break;
	case 1:
		copy[at] = (unsigned char)pick(256);
		break;
	case 2:
		value = values[pick(sizeof values / sizeof *values)];
		memcpy(copy + at, &value, width);
		break;
	default:
		memcpy(&value, in->content + pick(in->size - sizeof value), sizeof value);
		memcpy(copy + at, &value, width);
		break;
	}
}

static void
check_functions(struct st_image *image, const char *path)
{
	size_t n;
	uint64_t end = 0;
	unsigned char bytes[64];
	struct st_line line;
	const struct st_function *f = st_image_functions(image, &n);
	for (size_t i = 0; i < n; i++) {
		if (f[i].offset < end || !f[i].size || f[i].offset + f[i].size < f[i].offset)
			die("functions overlap", path);
		end = f[i].offset + f[i].size;
		if (!f[i].name || !f[i].raw_name || !*f[i].raw_name || f[i].source > ST_SYM_PLT)
			die("a function has no name", path);
		if (st_image_function(image, end - 1) != &f[i])
			die("a function cannot be found", path);
		st_image_bytes(image, f[i].offset, bytes, sizeof bytes);
		if (st_image_line(image, f[i].offset + f[i].size / 2, &line) == 0)
			lines++;
		else if (line.file || line.line)
			die("an unknown line is not zeroed", path);
		if (st_image_function_line(image, f[i].offset, &line) == 0)
			lines += line.file && *line.file;
		else if (line.file || line.line)
			die("an unknown line of a function is not zeroed", path);
		struct st_inlined chain[4];
		size_t depth = st_image_inlined(image, end - 1, chain, 4);
		for (size_t k = 0; k < depth && k < 4; k++)
			if (!chain[k].name || !*chain[k].name)
				die("an inlined function has no name", path);
	}
	functions += n;
}

static bool
check_symbol(const struct st_symbol *s, void *context)
{
	if (s->start >= s->end || !s->name || !s->plain || !s->raw_name || !*s->raw_name)
		die("a symbol is not whole", context);
	return true;
}

static void
read_image(const char *path, const char *name)
{
	struct st_error e = {0};
	struct st_image *image = st_image_open(path, &e);
	if (!image) {
		if (!e.text[0])
			die("refused without a word", name);
		refused++;
		return;
	}
	accepted++;
	if (!st_image_build_id(image)[0])
		die("no build-id", name);
	st_image_offset_of_file(image, pick(1 << 16));
	st_image_quality(image);
	check_functions(image, name);
	if (st_image_match(image, "*", check_symbol, (void *)name) != 0)
		die("no memory for names", name);
	st_image_close(image);
}

static void
iterate(const struct input *in, uint64_t number)
{
	char path[64];
	unsigned char *copy = malloc(in->size);
	int fd = memfd_create("damaged", MFD_CLOEXEC);
	size_t size = pick(16) ? in->size : pick(in->size);

	if (!copy || fd < 0)
		die("no memory", in->path);
	memcpy(copy, in->content, in->size);
	for (uint64_t i = 1 + pick(8); i; i--)
		damage(in, copy);
	if (write(fd, copy, size) != (ssize_t)size)
		die(strerror(errno), in->path);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	/* What makes it crash can be looked at again. */
	if (getenv("FUZZ_SAVE")) {
		FILE *saved = fopen(getenv("FUZZ_SAVE"), "w");
		fwrite(copy, 1, size, saved);
		fclose(saved);
	}
	time_t before = time(NULL);
	read_image(path, in->path);
	if (time(NULL) - before > 20) {
		fprintf(stderr, "iteration %lu\n", number);
		die("took longer than 20 seconds", in->path);
	}
	close(fd);
	free(copy);
}

static int
load(struct input *in, const char *path)
{
	FILE *file = fopen(path, "r");
	*in = (struct input){.path = path};
	if (!file || fseek(file, 0, SEEK_END) != 0)
		return -1;
	in->size = (size_t)ftell(file);
	in->content = malloc(in->size);
	rewind(file);
	size_t n = in->content ? fread(in->content, 1, in->size, file) : 0;
	fclose(file);
	return n == in->size && n > sizeof(Elf64_Ehdr) ? 0 : -1;
}

int
main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: %s ITERATIONS SEED FILE...\n", argv[0]);
		return 2;
	}
	uint64_t iterations = strtoull(argv[1], NULL, 10), seed = strtoull(argv[2], NULL, 10);
	setenv("STROBE_DEBUG_DIRECTORY", "/nonexistent", 1);
	for (int i = 3; i < argc; i++) {
		struct input in;
		if (load(&in, argv[i]) != 0) {
			fprintf(stderr, "fuzz_symbol: cannot read %s\n", argv[i]);
			return 1;
		}
		read_image(argv[i], argv[i]);
		for (uint64_t n = 0; n < iterations; n++) {
			state = (seed * 1000003 + n) * 2654435761u;
			iterate(&in, n);
		}
		free(in.content);
	}
	printf("%zu refused, %zu read with %zu functions, %zu with a line\n", refused, accepted,
	       functions, lines);
	/* Damage that is always refused, or leaves nothing to read, would test nothing. */
	return accepted > iterations && functions > accepted && lines > accepted ? 0 : 1;
}
