/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import/message.h"

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

uint64_t
st_message_varint(struct st_message *m)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 64 && m->at < m->end; shift += 7) {
		unsigned char byte = *m->at++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	m->bad = true;
	m->at = m->end;
	return 0;
}

static bool
skip_bytes(struct st_message *m, uint64_t n)
{
	m->bad |= n > (uint64_t)(m->end - m->at);
	m->at = m->bad ? m->end : m->at + n;
	return !m->bad;
}

bool
st_message_next(struct st_message *m, struct st_message_field *f)
{
	while (!m->bad && m->at < m->end) {
		uint64_t key = st_message_varint(m), n;
		*f = (struct st_message_field){.number = (unsigned)(key >> 3)};
		m->bad |= !(key >> 3) || key >> 3 > 1 << 29;
		switch (key & 7) {
		case WIRE_VARINT:
			f->value = st_message_varint(m);
			return !m->bad;
		case WIRE_BYTES:
			n = st_message_varint(m);
			f->is_bytes = true;
			f->bytes.at = m->at;
			if (!skip_bytes(m, n))
				return false;
			f->bytes.end = m->at;
			return true;
		case WIRE_64:
			skip_bytes(m, 8);
			break;
		case WIRE_32:
			skip_bytes(m, 4);
			break;
		default:
			m->bad = true;
		}
	}
	return false;
}

bool
st_message_number(struct st_message_field *f, uint64_t *value)
{
	if (!f->is_bytes) {
		f->is_bytes = true; /* once, then as an empty field */
		*value = f->value;
		f->bytes = (struct st_message){0};
		return true;
	}
	if (f->bytes.at >= f->bytes.end)
		return false;
	*value = st_message_varint(&f->bytes);
	return !f->bytes.bad;
}
