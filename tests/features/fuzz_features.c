/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds features in damaged copies of programs: fuzz_features ITERATIONS SEED FILE... The same
 * arguments cause the same damage. Whatever the debug information contains, the operations must be
 * a program that the runtime can execute.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "features/find.h"

static uint64_t state;
static size_t refused, found, features;

static uint64_t
pick(uint64_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return below ? (state >> 20) % below : 0;
}

static void
die(const char *what, const char *path)
{
	fprintf(stderr, "fuzz_features: %s: %s\n", path, what);
	abort();
}

struct input {
	const char *path;
	unsigned char *content;
	size_t size;
};

static void
read_input(struct input *in, const char *path)
{
	struct stat st;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		die("cannot read it", path);
	*in = (struct input){path, malloc((size_t)st.st_size), (size_t)st.st_size};
	if (!in->content || read(fd, in->content, in->size) != (ssize_t)in->size)
		die("cannot read it", path);
	close(fd);
}

/* Picks a section, mostly one with debug information. */
static bool
pick_section(const struct input *in, size_t *start, size_t *size)
{
	const Elf64_Ehdr *h = (const void *)in->content;
	const Elf64_Shdr *sections = (const void *)(in->content + h->e_shoff);
	const char *names = (const char *)in->content + sections[h->e_shstrndx].sh_offset;
	const Elf64_Shdr *s = &sections[pick(h->e_shnum)];
	if (s->sh_type == SHT_NOBITS || !s->sh_size)
		return false;
	if (strncmp(names + s->sh_name, ".debug_", 7) && pick(16))
		return false;
	*start = s->sh_offset;
	*size = s->sh_size;
	return true;
}

static void
damage(const struct input *in, unsigned char *copy)
{
	static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
	size_t start, size;
	memcpy(copy, in->content, in->size);
	for (uint64_t n = 1 + pick(6); n > 0; n--) {
		while (!pick_section(in, &start, &size))
			;
		const size_t at = start + pick(size);
		copy[at] = pick(2) ? values[pick(sizeof values)] : (uint8_t)pick(256);
	}
}

static void
check_ops(const struct st_feature_table *t, const char *path)
{
	if (t->ops.n > ST_RECORD_MOST_OPS || t->features.n > ST_FEATURE_MOST)
		die("there are more features than can be", path);
	size_t kept = 0;
	for (size_t i = 0; i < t->ops.n; i++) {
		const struct st_record_op *op = &t->ops.v[i];
		kept += op->kept;
		const bool uses = op->kind >= ST_RECORD_LOAD && op->kind < ST_RECORD_MACHINE;
		const bool uses_two = op->kind == ST_RECORD_DIFFERENCE || op->kind == ST_RECORD_ADD;
		if (uses && (op->base >= i || (uses_two && op->other >= i)))
			die("an operation uses one that comes after it", path);
		if ((op->kind == ST_RECORD_LOAD || op->kind == ST_RECORD_SUM) &&
		    (op->width < 1 || op->width > 8))
			die("an operation reads no number", path);
		if (op->kind == ST_RECORD_BITS && (op->width < 1 || op->width > 64))
			die("an operation takes no bits", path);
	}
	if (kept != t->features.n)
		die("a value is kept that is not a feature's", path);
	for (size_t i = 0; i < t->features.n; i++) {
		const struct st_feature *f = &t->features.v[i];
		if (!f->name[0] || !f->path[0] || !f->type_name || f->op >= t->ops.n ||
		    !t->ops.v[f->op].kept)
			die("a feature is not complete", path);
		for (size_t j = 0; j < i; j++)
			if (!strcmp(f->name, t->features.v[j].name))
				die("two features have one name", path);
	}
}

static void
look_at(const char *path, const char *original)
{
	struct st_error e;
	size_t n = 0;
	struct st_image *image = st_image_open(path, &e);
	const struct st_function *f = image ? st_image_functions(image, &n) : NULL;
	const struct st_feature_limits limits = {1 + (unsigned)pick(ST_FEATURE_DEEPEST),
	                                         1 + (unsigned)pick(ST_FEATURE_MOST), pick(2)};
	refused += !image;
	for (size_t i = 0; f && i < n; i++) {
		struct st_feature_table t;
		if (!st_features_find(&t, image, f[i].offset, &limits, &e)) {
			found++;
			features += t.features.n;
			check_ops(&t, original);
		}
		st_features_free(&t);
	}
	if (image)
		st_image_close(image);
}

int
main(int argc, char **argv)
{
	const unsigned long iterations = argc > 3 ? strtoul(argv[1], NULL, 10) : 0;
	char path[64];
	state = argc > 3 ? strtoull(argv[2], NULL, 10) : 0;
	const int fd = memfd_create("damaged", MFD_CLOEXEC);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	for (int i = 3; i < argc; i++) {
		struct input in;
		read_input(&in, argv[i]);
		unsigned char *copy = malloc(in.size);
		look_at(argv[i], argv[i]);
		for (unsigned long n = 0; copy && n < iterations; n++) {
			damage(&in, copy);
			if (ftruncate(fd, 0) != 0 ||
			    pwrite(fd, copy, in.size, 0) != (ssize_t)in.size)
				die("cannot write its copy", argv[i]);
			look_at(path, argv[i]);
		}
		free(copy);
		free(in.content);
	}
	if (argc < 4 || !found || !features)
		die("found nothing", argc > 3 ? argv[3] : "no file");
	printf("%zu files refused, %zu functions, %zu features\n", refused, found, features);
	return 0;
}
