/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading the wire format of protocol buffers: as much of it as profiles need. */
#ifndef STROBE_IMPORT_MESSAGE_H
#define STROBE_IMPORT_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The rest of a message, or of a packed field. */
struct st_message {
	const unsigned char *at, *end;
	bool bad; /* it is none, or ends too early */
};

struct st_message_field {
	unsigned number;
	bool is_bytes;
	uint64_t value;          /* of a number */
	struct st_message bytes; /* of a message, a text or packed numbers */
};

/* The next number of a packed field, as bare bytes. */
uint64_t st_message_varint(struct st_message *m);
/* The next field; false: there is none, or the message is bad. Fixed-width numbers are skipped. */
bool st_message_next(struct st_message *m, struct st_message_field *f);
/* The numbers of a repeated field, packed or not: the next one of what has been taken from f. */
bool st_message_number(struct st_message_field *f, uint64_t *value);

#endif
