/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/ownstack.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

enum { ENOUGH = 2 << 20, OWN = 8 << 20 };

static struct call {
	int (*function)(int argc, char **argv);
	int argc, result;
	char **argv;
} call;

static void
do_call(void)
{
	call.result = call.function(call.argc, call.argv);
}

/* Threads get stacks of the size that the limit says, too. */
static void
give_threads_enough(void)
{
	pthread_attr_t a;
	if (pthread_attr_init(&a) != 0)
		return;
	if (pthread_attr_setstacksize(&a, OWN) == 0)
		pthread_setattr_default_np(&a);
	pthread_attr_destroy(&a);
}

int
st_on_own_stack(int (*function)(int argc, char **argv), int argc, char **argv)
{
	struct rlimit limit;
	ucontext_t here, there;
	bool small = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < ENOUGH;
	void *stack = small ? mmap(NULL, OWN, PROT_READ | PROT_WRITE,
	                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0)
	                    : MAP_FAILED;
	if (stack == MAP_FAILED || getcontext(&there) != 0)
		return function(argc, argv);
	give_threads_enough();
	call = (struct call){.function = function, .argc = argc, .argv = argv};
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = OWN;
	there.uc_link = &here;
	makecontext(&there, do_call, 0);
	swapcontext(&here, &there);
	munmap(stack, OWN);
	return call.result;
}
