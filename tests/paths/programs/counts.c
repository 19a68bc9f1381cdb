/* SPDX-License-Identifier: GPL-3.0-or-later */
/* counts A B N: f_a A times, f_b B times, which call f_leaf twice and once; f_down N levels deep,
 * the last of which calls f_leaf. In a second thread f_a once. */
#include "hazard.h"

#include <pthread.h>

NOIPA static void
f_leaf(void)
{
	DONE;
}

NOIPA static void
f_a(void)
{
	f_leaf();
	f_leaf();
	DONE;
}

NOIPA static void
f_b(void)
{
	f_leaf();
	DONE;
}

NOIPA static void
f_down(long levels)
{
	if (levels > 1)
		f_down(levels - 1);
	else
		f_leaf();
	DONE;
}

static void *
f_thread(void *arg)
{
	f_a();
	return arg;
}

int
main(int argc, char **argv)
{
	long n[3] = {0};
	pthread_t th;
	for (int i = 0; i < 3 && i + 1 < argc; i++)
		n[i] = atol(argv[i + 1]);
	for (long i = 0; i < n[0]; i++)
		f_a();
	for (long i = 0; i < n[1]; i++)
		f_b();
	if (n[2])
		f_down(n[2]);
	if (pthread_create(&th, NULL, f_thread, NULL))
		return 1;
	pthread_join(th, NULL);
	return 0;
}
