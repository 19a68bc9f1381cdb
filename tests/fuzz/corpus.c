/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "corpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
by_mnemonic(const void *a, const void *b)
{
	const struct fz_form *x = a;
	const struct fz_form *y = b;

	if (x->mnemonic != y->mnemonic)
		return x->mnemonic < y->mnemonic ? -1 : 1;
	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return memcmp(x->bytes, y->bytes, x->len);
}

static int
index_mnemonics(struct fz_corpus *c)
{
	c->first = calloc(c->n + 1, sizeof *c->first);
	if (!c->first)
		return -1;
	for (size_t i = 0; i < c->n; i++)
		if (i == 0 || c->forms[i].mnemonic != c->forms[i - 1].mnemonic)
			c->first[c->nmnemonics++] = (uint32_t)i;
	c->first[c->nmnemonics] = (uint32_t)c->n;
	return 0;
}

static int
read_forms(struct fz_corpus *c, FILE *f)
{
	char magic[8];
	uint64_t n;

	if (fread(magic, 8, 1, f) != 1 || memcmp(magic, FZ_CORPUS_MAGIC, 8) != 0)
		return -1;
	if (fread(&n, sizeof n, 1, f) != 1 || n == 0 || n > 10000000)
		return -1;
	c->forms = calloc(n, sizeof *c->forms);
	if (!c->forms || fread(c->forms, sizeof *c->forms, n, f) != n)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (c->forms[i].len == 0 || c->forms[i].len > 15)
			return -1;
	c->n = n;
	return 0;
}

int
fz_corpus_load(struct fz_corpus *c, const char *path)
{
	FILE *f = fopen(path, "rb");

	memset(c, 0, sizeof *c);
	if (!f) {
		fprintf(stderr,
		        "insnfuzz: cannot open the corpus %s: %s; make one with minecorpus\n", path,
		        strerror(errno));
		return -1;
	}
	int rc = read_forms(c, f);
	fclose(f);
	if (rc == 0) {
		qsort(c->forms, c->n, sizeof *c->forms, by_mnemonic);
		rc = index_mnemonics(c);
	}
	if (rc != 0) {
		fprintf(stderr, "insnfuzz: %s is no corpus file; make one with minecorpus\n", path);
		fz_corpus_free(c);
	}
	return rc;
}

void
fz_corpus_free(struct fz_corpus *c)
{
	free(c->forms);
	free(c->first);
	memset(c, 0, sizeof *c);
}
