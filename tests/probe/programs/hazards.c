/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hazards NAME: what makes it hard to see calls and returns, one by one. Functions whose calls are
 * compared begin with t_; a second build of this file counts them itself (count.c). What is printed
 * does not depend on who watches.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

/* Not static: the program finds their names in its dynamic symbols. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define TRACED __attribute__((noinline, noipa))
#define UNTRACED __attribute__((noinline, noipa, no_instrument_function))

/* gcc makes loops of such functions where it does not have to count their calls. */
#define RECURSIVE TRACED __attribute__((optimize("no-optimize-sibling-calls")))

extern char **environ;
void run_exceptions(void);

TRACED long
t_leaf(long n)
{
	return n * 3 + 1;
}

RECURSIVE long
t_fib(long n)
{
	return n < 2 ? n : t_fib(n - 1) + t_fib(n - 2);
}

UNTRACED static void
run_recursion(void)
{
	printf("%ld\n", t_fib(20));
}

TRACED void *
t_thread(void *arg)
{
	long sum = 0;
	for (long i = 0; i < 1000; i++)
		sum += t_leaf(i);
	return (void *)(sum + (long)arg);
}

UNTRACED static void
run_threads(void)
{
	pthread_t threads[4];
	long sum = 0;
	for (long i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, t_thread, (void *)i))
			exit(1);
	for (int i = 0; i < 4; i++) {
		void *result;
		pthread_join(threads[i], &result);
		sum += (long)result;
	}
	printf("%ld\n", sum);
}

static jmp_buf away;

RECURSIVE long
t_deep(long n)
{
	if (n <= 0)
		longjmp(away, 1);
	return n > 1000 ? n : t_deep(n - 1) + 1;
}

UNTRACED static void
run_longjmp(void)
{
	volatile long sum = 0;
	for (volatile long i = 0; i < 100; i++) {
		if (!setjmp(away))
			sum += t_deep(i % 7);
		sum += t_leaf(i);
	}
	printf("%ld\n", sum);
}

TRACED long
t_tail_end(long n)
{
	return t_leaf(n) + 1;
}

TRACED long
t_tail(long n)
{
	return t_tail_end(n + 1);
}

UNTRACED static void
run_tails(void)
{
	long sum = 0;
	for (long i = 0; i < 500; i++)
		sum += t_tail(i);
	printf("%ld\n", sum);
}

static ucontext_t main_context, coroutine;

TRACED void
t_yield(void)
{
	swapcontext(&coroutine, &main_context);
}

TRACED void
t_coroutine(void)
{
	for (int i = 0; i < 50; i++)
		t_yield();
}

TRACED void
t_resume(void)
{
	swapcontext(&main_context, &coroutine);
}

UNTRACED static void
run_coroutines(void)
{
	static char stack[65536];
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = sizeof stack;
	coroutine.uc_link = &main_context;
	makecontext(&coroutine, t_coroutine, 0);
	for (int i = 0; i < 51; i++)
		t_resume();
	printf("%ld\n", t_leaf(1));
}

TRACED void *
t_forker(void *arg)
{
	for (int i = 0; i < 5; i++) {
		pid_t child = fork();
		if (child == 0)
			_exit((int)t_leaf(i));
		int status = 0;
		waitpid(child, &status, 0);
		*(long *)arg += WEXITSTATUS(status);
	}
	return NULL;
}

UNTRACED static void
run_forks(void)
{
	pthread_t threads[2];
	long sums[2] = {0};
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, t_forker, &sums[i]))
			exit(1);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%ld %ld\n", sums[0], sums[1]);
}

static volatile sig_atomic_t handled;

TRACED void
t_handler(int number)
{
	handled += number == SIGUSR1;
	t_leaf(number);
}

UNTRACED static void
run_signals(void)
{
	struct sigaction action = {.sa_handler = t_handler};
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 200; i++)
		raise(SIGUSR1);
	printf("%d\n", (int)handled);
}

TRACED long
t_before_exec(long n)
{
	return t_leaf(n);
}

UNTRACED static void
run_vfork(void)
{
	char *arguments[] = {"true", NULL};
	volatile long good = 0;
	for (volatile int i = 0; i < 10; i++) {
		pid_t child = vfork();
		if (child == 0) {
			t_before_exec(i);
			execv("/bin/true", arguments);
			_exit(1);
		}
		int status = 1;
		waitpid(child, &status, 0);
		good += status == 0;
		if (posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ) == 0)
			waitpid(child, &status, 0);
		good += status == 0 && t_leaf(i) > 0;
	}
	printf("%ld\n", good);
}

static void
undo(void *arg)
{
	++*(long *)arg;
}

TRACED void *
t_ends(void *arg)
{
	pthread_cleanup_push(undo, arg);
	t_leaf(1);
	pthread_exit(NULL);
	pthread_cleanup_pop(0);
	return NULL;
}

TRACED void *
t_waits(void *arg)
{
	pthread_cleanup_push(undo, arg);
	t_leaf(2);
	for (;;)
		pause();
	pthread_cleanup_pop(0);
	return NULL;
}

UNTRACED static void
run_ends(void)
{
	long undone = 0;
	for (int i = 0; i < 20; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, i % 2 ? t_ends : t_waits, &undone))
			exit(1);
		if (i % 2 == 0) {
			usleep(2000);
			pthread_cancel(thread);
		}
		pthread_join(thread, NULL);
	}
	printf("%ld\n", undone);
}

RECURSIVE int
t_levels(int n)
{
	void *frames[64];
	int found = n ? t_levels(n - 1) : backtrace(frames, 64);
	return found + (t_leaf(n) == 0);
}

UNTRACED static void
run_backtrace(void)
{
	int before = t_levels(0);
	printf("%d\n", t_levels(9) - before);
}

UNTRACED static void
run_libraries(void)
{
	double sum = 0;
	for (int i = 0; i < 3; i++) {
		void *library = dlopen("libm.so.6", RTLD_NOW);
		double (*root)(double) =
		        library ? (double (*)(double))dlsym(library, "cbrt") : NULL;
		sum += root ? root(27.0 + (double)t_leaf(0)) : 0;
		if (library)
			dlclose(library);
	}
	printf("%.6f\n", sum);
}

UNTRACED int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} hazards[] = {
	        {"recursion", run_recursion},
	        {"threads", run_threads},
	        {"longjmp", run_longjmp},
	        {"tails", run_tails},
	        {"coroutines", run_coroutines},
	        {"forks", run_forks},
	        {"signals", run_signals},
	        {"vfork", run_vfork},
	        {"ends", run_ends},
	        {"backtrace", run_backtrace},
	        {"libraries", run_libraries},
	        {"exceptions", run_exceptions},
	};
	for (size_t i = 0; argc > 1 && i < sizeof hazards / sizeof *hazards; i++)
		if (!strcmp(hazards[i].name, argv[1]))
			hazards[i].run();
	return 0;
}
