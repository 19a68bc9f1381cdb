/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ebpf/attach.h"

#include <errno.h>
#include <string.h>

enum { KERNELS_ENOTSUPP = 524 }; /* which is not for user space, and yet comes here */

/* Would the same probes fail again if there were fewer of them? */
static bool
is_general(int error)
{
	return error == EPERM || error == EACCES || error == ENOMEM || error == EMFILE ||
	       error == ENFILE || error == ENOENT || error == ESRCH || error == EBADF;
}

static int
put_range(const struct st_ebpf_attempt *a, size_t first, size_t n)
{
	int error = a->put(a->arg, first, n);
	if (!error || is_general(error))
		return error;
	if (n == 1) {
		a->refuse(a->arg, first, error);
		return 0;
	}
	error = put_range(a, first, n / 2);
	return error ? error : put_range(a, first + n / 2, n - n / 2);
}

int
st_ebpf_put_all(const struct st_ebpf_attempt *a, size_t n)
{
	/* The kernel's limit for one list is 2^20. */
	enum { MOST = 1 << 19 };
	int error = 0;
	for (size_t first = 0; first < n && !error; first += MOST)
		error = put_range(a, first, n - first < MOST ? n - first : MOST);
	return error;
}

const char *
st_ebpf_refusal(int error)
{
	if (error == KERNELS_ENOTSUPP || error == EOPNOTSUPP || error == ENOEXEC)
		return "the kernel cannot probe its first instruction";
	if (error == EINVAL)
		return "the kernel takes no probe at its place in the file";
	return strerrordesc_np(error) ? strerrordesc_np(error) : "the kernel refuses the probe";
}

bool
st_ebpf_is_stepped(const uint8_t *code, size_t n)
{
	if (n && code[0] == 0x66) /* of a nop */
		code++, n--;
	if (n < 2)
		return true;
	const uint8_t first = code[0], second = code[1];
	if (first == 0x0f)
		return second != 0x1f && !(second >= 0x80 && second <= 0x8f); /* nop, jcc */
	if (first == 0x41)
		return !(second >= 0x50 && second <= 0x57); /* push of a high register */
	return !((first >= 0x50 && first <= 0x57) || (first >= 0x70 && first <= 0x7f) ||
	         first == 0x90 || first == 0xe8 || first == 0xe9 || first == 0xeb);
}

bool
st_ebpf_is_refused(const uint8_t *code, size_t n)
{
	while (n && (code[0] == 0x66 || code[0] == 0xf2 || code[0] == 0xf3)) /* other prefixes */
		code++, n--;
	return n && (code[0] == 0xf0 || code[0] == 0xc4 || code[0] == 0xc5 || code[0] == 0x62);
}
