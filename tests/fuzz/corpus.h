/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The corpus: one example, as raw bytes, of each instruction form found in the programs of this
 * machine. */
#ifndef FUZZ_CORPUS_H
#define FUZZ_CORPUS_H

#include <stddef.h>
#include <stdint.h>

#define FZ_CORPUS_MAGIC "SFZCORP1"

/* One instruction form; also its layout in the file, after the magic and a uint64_t count of forms.
 */
struct fz_form {
	uint64_t count;    /* how often the form was seen */
	uint16_t mnemonic; /* ZydisMnemonic of the Zydis that wrote the file */
	uint8_t len;
	uint8_t bytes[15];
	uint8_t pad[6];
};

struct fz_corpus {
	struct fz_form *forms; /* sorted by mnemonic */
	size_t n;
	uint32_t *first; /* first[k] .. first[k+1]: the forms of the k-th mnemonic present */
	size_t nmnemonics;
};

/* Loads a corpus file. Returns 0, or -1 with a sentence on stderr. */
int fz_corpus_load(struct fz_corpus *c, const char *path);
void fz_corpus_free(struct fz_corpus *c);

#endif
