/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a look at a forest of so many nodes costs: bench_look NODES. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "control/internal.h"
#include "live/view.h"

enum { LABELS = 5000 };

static struct st_results_header *
make_results(void)
{
	struct st_results_header h = {0};
	st_results_layout(&h);
	void *p = mmap(NULL, h.layout.file_size, PROT_READ | PROT_WRITE,
	               MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		abort();
	*(struct st_results_header *)p = h;
	return p;
}

static strobe_node *
nodes_of(struct st_results_header *h)
{
	return (strobe_node *)((char *)h + h->layout.off_nodes);
}

/* A tree whose nodes are below one of the 50 made before, as a program's mostly are. */
static void
grow_forest(struct st_results_header *h, uint32_t n)
{
	uint64_t *labels = (uint64_t *)((char *)h + h->layout.off_labels);
	strobe_node *nodes = nodes_of(h);
	for (uint32_t i = 1; i <= LABELS; i++)
		labels[i] = 0x10000 + 16 * i;
	for (uint32_t i = 2; i < n + 2; i++)
		nodes[i] = (strobe_node){
		        .label = 1 + (uint32_t)random() % LABELS,
		        .parent = i < 100 ? 1 : i - 1 - (uint32_t)random() % 50,
		        .count = (uint64_t)random(),
		};
	h->contexts.n_labels = LABELS + 1;
	h->contexts.n_nodes = n + 2;
}

static double
used(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int
main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)atoi(argv[1]) : 1000000;
	struct st_results_header *h = make_results();
	struct st_process process = {.results = h, .results_size = h->layout.file_size};
	struct st_live_look look = {
	        .command = "paths", .what = "", .width = 80, .height = 40, .interval = 1};
	struct st_live l;
	FILE *out = fopen("/dev/null", "w");
	grow_forest(h, n);
	st_live_init(&l, ST_LIVE_ACTIVATIONS, false);
	for (int times = 0; times < 4 && out; times++) {
		double begin = used();
		st_live_look(&l, &process, 1);
		double middle = used();
		st_live_view(&l, &look, out);
		printf("%u nodes: look %.1f ms, view %.1f ms of CPU time\n", n, middle - begin,
		       used() - middle);
		for (uint32_t i = 2; i < n + 2; i += 3)
			nodes_of(h)[i].count += i;
	}
	if (out)
		fclose(out);
	st_live_free(&l);
	return 0;
}
