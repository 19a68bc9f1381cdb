/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "code.h"

#include <string.h>

void
fz_code_start(struct fz_code *c, uint64_t base)
{
	c->len = 0;
	c->base = base;
	c->nlabels = 0;
	c->nfixups = 0;
	c->full = false;
}

void
fz_put(struct fz_code *c, const void *bytes, size_t n)
{
	if (n > FZ_CODE_CAP - c->len) {
		c->full = true;
		return;
	}
	memcpy(c->bytes + c->len, bytes, n);
	c->len += (uint32_t)n;
}

void
fz_put8(struct fz_code *c, unsigned v)
{
	uint8_t b = (uint8_t)v;

	fz_put(c, &b, 1);
}

void
fz_put32(struct fz_code *c, uint32_t v)
{
	fz_put(c, &v, 4);
}

void
fz_put64(struct fz_code *c, uint64_t v)
{
	fz_put(c, &v, 8);
}

uint64_t
fz_here(const struct fz_code *c)
{
	return c->base + c->len;
}

unsigned
fz_label(struct fz_code *c)
{
	if (c->nlabels == FZ_MAX_LABELS) {
		c->full = true;
		return 0;
	}
	c->labels[c->nlabels] = -1;
	return c->nlabels++;
}

void
fz_bind(struct fz_code *c, unsigned label)
{
	c->labels[label] = (int32_t)c->len;
}

static void
add_fixup(struct fz_code *c, struct fz_fixup f)
{
	if (c->nfixups == FZ_MAX_FIXUPS)
		c->full = true;
	else
		c->fixups[c->nfixups++] = f;
}

void
fz_ref(struct fz_code *c, enum fz_fixup_kind kind, unsigned label, int addend)
{
	static const uint8_t size[] = {
	        [FZ_REL8] = 1, [FZ_REL32] = 4, [FZ_ABS64] = 8, [FZ_ABS32] = 4};
	static const uint8_t zero[8];

	add_fixup(c, (struct fz_fixup){.at = (uint16_t)c->len,
	                               .label = (uint16_t)label,
	                               .addend = (int16_t)addend,
	                               .kind = (uint8_t)kind});
	fz_put(c, zero, size[kind]);
}

void
fz_ref_ctrl(struct fz_code *c, unsigned slot, unsigned label)
{
	add_fixup(c, (struct fz_fixup){
	                     .at = (uint16_t)slot, .label = (uint16_t)label, .kind = FZ_CTRL});
}

void
fz_mov_imm(struct fz_code *c, unsigned r, uint64_t v, unsigned variant)
{
	if (v <= UINT32_MAX && variant % 2 == 0) {
		if (r >= 8)
			fz_put8(c, 0x41);
		fz_put8(c, 0xb8 | (r & 7));
		fz_put32(c, (uint32_t)v);
	} else if ((int64_t)v == (int32_t)v && variant % 4 == 1) {
		FZ_PUT(c, (uint8_t)(0x48 | r >> 3), 0xc7, (uint8_t)(0xc0 | (r & 7)));
		fz_put32(c, (uint32_t)v);
	} else if ((int64_t)(v - fz_here(c) - 7) == (int32_t)(v - fz_here(c) - 7) &&
	           variant % 4 == 2) {
		FZ_PUT(c, (uint8_t)(0x48 | r >> 3 << 2), 0x8d);
		fz_rip(c, r, v, 0);
	} else {
		FZ_PUT(c, (uint8_t)(0x48 | r >> 3), (uint8_t)(0xb8 | (r & 7)));
		fz_put64(c, v);
	}
}

void
fz_mov_label(struct fz_code *c, unsigned r, unsigned label, bool lea)
{
	if (lea) {
		FZ_PUT(c, (uint8_t)(0x48 | r >> 3 << 2), 0x8d, (uint8_t)(5 | (r & 7) << 3));
		fz_ref(c, FZ_REL32, label, 0);
	} else {
		FZ_PUT(c, (uint8_t)(0x48 | r >> 3), (uint8_t)(0xb8 | (r & 7)));
		fz_ref(c, FZ_ABS64, label, 0);
	}
}

void
fz_rr(struct fz_code *c, unsigned op, unsigned r, unsigned rm)
{
	FZ_PUT(c, (uint8_t)(0x48 | r >> 3 << 2 | rm >> 3), (uint8_t)op,
	       (uint8_t)(0xc0 | (r & 7) << 3 | (rm & 7)));
}

void
fz_rm(struct fz_code *c, unsigned op, unsigned r, unsigned base, int32_t disp)
{
	FZ_PUT(c, (uint8_t)(0x48 | r >> 3 << 2 | base >> 3), (uint8_t)op,
	       (uint8_t)(0x80 | (r & 7) << 3 | (base & 7)));
	if ((base & 7) == RSP)
		fz_put8(c, 0x24);
	fz_put32(c, (uint32_t)disp);
}

void
fz_rip(struct fz_code *c, unsigned reg, uint64_t target, unsigned tail)
{
	fz_put8(c, 5 | (reg & 7) << 3);
	fz_put32(c, (uint32_t)(target - (fz_here(c) + 4 + tail)));
}

void
fz_jmp(struct fz_code *c, unsigned label, bool near)
{
	fz_put8(c, near ? 0xe9 : 0xeb);
	fz_ref(c, near ? FZ_REL32 : FZ_REL8, label, 0);
}

void
fz_jcc(struct fz_code *c, unsigned cond, unsigned label, bool near)
{
	if (near)
		FZ_PUT(c, 0x0f, (uint8_t)(0x80 | cond));
	else
		fz_put8(c, 0x70 | cond);
	fz_ref(c, near ? FZ_REL32 : FZ_REL8, label, 0);
}

void
fz_call(struct fz_code *c, unsigned label)
{
	fz_put8(c, 0xe8);
	fz_ref(c, FZ_REL32, label, 0);
}

static bool
resolve(struct fz_code *c, const struct fz_fixup *f, uint64_t *ctrl)
{
	int32_t to = c->labels[f->label];

	if (to < 0)
		return false;
	uint64_t address = c->base + (uint64_t)to + (uint64_t)(int64_t)f->addend;
	int32_t rel = to + f->addend - f->at;
	uint32_t v32;

	switch ((enum fz_fixup_kind)f->kind) {
	case FZ_REL8:
		c->bytes[f->at] = (uint8_t)(rel - 1);
		return rel - 1 >= -128 && rel - 1 <= 127;
	case FZ_REL32:
		v32 = (uint32_t)(rel - 4);
		memcpy(c->bytes + f->at, &v32, 4);
		return true;
	case FZ_ABS64:
		memcpy(c->bytes + f->at, &address, 8);
		return true;
	case FZ_ABS32:
		v32 = (uint32_t)address;
		memcpy(c->bytes + f->at, &v32, 4);
		return address <= INT32_MAX;
	case FZ_CTRL:
		ctrl[f->at] = address;
		return true;
	}
	return false;
}

bool
fz_code_finish(struct fz_code *c, uint64_t *ctrl)
{
	if (c->full)
		return false;
	for (unsigned i = 0; i < c->nfixups; i++)
		if (!resolve(c, &c->fixups[i], ctrl))
			return false;
	return true;
}
