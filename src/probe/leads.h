/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where jumps of an image lead, and which bytes between its functions are padding: what has to be
 * known before bytes of code are replaced. All code of the image is decoded for it once.
 *
 * Direct jumps and calls are known for certain. Of indirect ones it is assumed that they may lead
 * wherever an address is taken of: by a rip-relative lea or an immediate in code, by a word or a
 * relocation in data, and by entries of what looks like a jump table of offsets (an array that a
 * lea in the same function points to). Exceptions lead to the landing pads of the exception tables.
 * Too much is assumed rather than too little.
 *
 * The runtime's decoder does it, as everything in this folder: it names the fields that moving an
 * instruction changes, is proven against Zydis on the code of installed packages, and takes a
 * quarter of its time. No answer depends on more than it knows.
 */
#ifndef STROBE_PROBE_LEADS_H
#define STROBE_PROBE_LEADS_H

#include "symbol/symbol.h"

struct probe_leads;

/* The ranges are st_image_code_ranges's; they must outlive the result. NULL: no memory. */
struct probe_leads *probe_leads_new(struct st_image *image, const struct st_code_range *ranges,
                                    size_t n);
void probe_leads_free(struct probe_leads *l);

/* May something jump to one of the addresses [from, to)? */
bool probe_leads_into(const struct probe_leads *l, uint64_t from, uint64_t to);
/* Is it called, or its address taken: is it more than where jumps lead? */
bool probe_leads_called(const struct probe_leads *l, uint64_t entry);
/* Does a jump of the function that begins there lead back to its entry? */
bool probe_leads_back(const struct probe_leads *l, uint64_t entry);
/* Is [from, to) padding that nobody has taken: between functions, or in one behind a return or a
 * jump? */
bool probe_leads_padding(const struct probe_leads *l, uint64_t from, uint64_t to);
/* From now on the padding is in use. */
void probe_leads_take(struct probe_leads *l, uint64_t from, uint64_t to);
/* Are all landing pads known? */
bool probe_leads_knows_pads(const struct probe_leads *l);

/* The bytes that a probe overwrites or moves belong to it: none of another one may be there. */
void probe_leads_claim(struct probe_leads *l, uint64_t from, uint64_t to);
bool probe_leads_claimed(const struct probe_leads *l, uint64_t from, uint64_t to);

#endif
