/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a probe costs on this machine now: an empty function of our own gets one, with the code that
 * runs in programs, and is called with it and without. Two costs are of interest: what lies between
 * the two time stamps of a call, which is not the function's own, and what the call costs in all,
 * which is not its callers' own.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "control/internal.h"
#include "control/probe.h"

enum { BATCHES = 31, CALLS = 1000, CODE = 4096, PROBED = 64, STUB = 128, PLAIN = 192, LOOP = 256 };

struct bench {
	unsigned char *image, *code;
	struct st_probe_context *context;
	struct st_probe_area *area; /* in area_memory, aligned for chunks */
	void *area_memory, *threads, *note;
	size_t image_bytes, area_bytes, threads_bytes;
	struct st_record_function *record; /* NULL: calls are not recorded */
};

static void *
zeros(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

/* An empty function with a probe, as src/probe/stub.h has it, one without, and a loop (rdi times,
 * rsi) that calls one. */
static void
write_code(struct bench *b)
{
	enum { ENTRY = 0, TRAMPOLINE = 1, READ = 4 };
	static const unsigned char stub[] = {0x68, 0, 0,    0,    0,    0xff, 0x15, 0,   0,
	                                     0,    0, 0x48, 0x8d, 0x64, 0x24, 8,    0xc3};
	static const unsigned char loop[] = {
	        0x53,             /* push rbx */
	        0x55,             /* push rbp */
	        0x50,             /* push rax */
	        0x48, 0x89, 0xfb, /* mov rbx, rdi */
	        0x48, 0x89, 0xf5, /* mov rbp, rsi */
	        0xff, 0xd5,       /* call rbp */
	        0x48, 0xff, 0xcb, /* dec rbx */
	        0x75, 0xf9,       /* jnz to the call */
	        0x58, 0x5d, 0x5b, /* pop rax, rbp, rbx */
	        0xc3,             /* ret */
	};
	int64_t at[READ + 1];
	const unsigned way = b->record ? READ : ENTRY;
	const int32_t to_stub = STUB - (PROBED + 5), to_slot = -(STUB + 11);
	memcpy(at, st_probe_blob, sizeof at);
	const uint64_t entry = (uint64_t)b->image + way * sizeof *at + (uint64_t)at[way];
	b->context->trampoline =
	        (uint64_t)b->image + TRAMPOLINE * sizeof *at + (uint64_t)at[TRAMPOLINE];
	memcpy(b->code, &entry, sizeof entry);
	b->code[PROBED] = 0xe9;
	memcpy(b->code + PROBED + 1, &to_stub, sizeof to_stub);
	memcpy(b->code + STUB, stub, sizeof stub);
	memcpy(b->code + STUB + 7, &to_slot, sizeof to_slot);
	b->code[PLAIN] = 0xc3;
	memcpy(b->code + LOOP, loop, sizeof loop);
}

/* Prepares the recording of calls, without operations that read data. */
static void
begin_recording(struct bench *b)
{
	const uint64_t at = b->area->used, rows = (at + sizeof *b->record + 7) & ~(uint64_t)7;
	b->record = (void *)((char *)b->area + at);
	b->record->keep = CALLS;
	b->record->rows = (uint32_t)(rows / 8);
	b->record->row_words = sizeof(struct st_record_row) / 8;
	b->area->used = rows + CALLS * sizeof(struct st_record_row);
	b->area->actions[0] = (struct st_probe_action){ST_PROBE_RECORD, (uint32_t)(at / 8)};
}

static bool
make_bench(const struct st_probing *p, struct bench *b)
{
	const size_t blob = st_probe_blob_bytes(), text = (blob + 4095) & ~(size_t)4095;
	b->image_bytes = text + ((sizeof *b->context + 8191) & ~(size_t)4095);
	b->area_bytes = ST_PROBE_CHUNKS_END + ST_PROBE_CHUNK_STRIDE + (16 << 20);
	b->threads_bytes = 2 * sizeof(struct st_probe_thread);
	b->image = zeros(b->image_bytes);
	b->code = zeros(CODE);
	b->area_memory = zeros(b->area_bytes);
	b->threads = zeros(b->threads_bytes);
	b->note = zeros(4096);
	if (!b->image || !b->code || !b->area_memory || !b->threads || !b->note)
		return false;
	b->area = (struct st_probe_area *)(((uintptr_t)b->area_memory + ST_PROBE_CHUNK_STRIDE - 1) &
	                                   ~(uintptr_t)(ST_PROBE_CHUNK_STRIDE - 1));
	memcpy(b->image, st_probe_blob, blob);
	b->context = (struct st_probe_context *)(b->image + text);
	b->context->area = (uint64_t)b->area;
	b->context->note = (uint64_t)b->note;
	b->context->threads = (uint64_t)b->threads;
	b->context->room_for_threads = 2;
	b->context->area_bytes = b->area_bytes - ST_PROBE_CHUNK_STRIDE;
	b->context->most_depth = UINT32_MAX;
	b->context->uses_cpu = p->uses_cpu;
	*(uint64_t *)b->note = p->uses_cpu ? ST_PROBE_LOOK : ST_PROBE_AS_USUAL;
	b->area->used = ST_PROBE_CHUNKS_END;
	b->context->chunks = p->records ? (uint64_t)b->area + ST_PROBE_CHUNKS_AT : 0;
	b->area->actions[0].kind = ST_PROBE_TIME;
	if (p->records_calls)
		begin_recording(b);
	/* The pages are made first, so that their faults are not measured. */
	enum { CALIBRATION_CHUNKS = 24 };
	if (p->records)
		memset((char *)b->area + ST_PROBE_CHUNKS_AT, 0,
		       CALIBRATION_CHUNKS * ST_PROBE_CHUNK_STRIDE);
	write_code(b);
	return !mprotect(b->image, text, PROT_READ | PROT_EXEC) &&
	       !mprotect(b->code, CODE, PROT_READ | PROT_EXEC);
}

static void
free_bench(struct bench *b)
{
	if (b->image)
		munmap(b->image, b->image_bytes);
	if (b->code)
		munmap(b->code, CODE);
	if (b->area_memory)
		munmap(b->area_memory, b->area_bytes);
	if (b->threads)
		munmap(b->threads, b->threads_bytes);
	if (b->note)
		munmap(b->note, 4096);
}

static uint64_t
bench_clock(const struct bench *b)
{
	struct timespec t;
	if (!b->context->uses_cpu)
		return __builtin_ia32_rdtsc();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Ticks of a batch of calls. */
static uint64_t
call_batch(const struct bench *b, unsigned function)
{
	void (*loop)(uint64_t times, const void *function) =
	        (void (*)(uint64_t, const void *))(uintptr_t)(b->code + LOOP);
	if (b->record)
		b->record->calls = b->record->keep == CALLS ? 0 : UINT32_MAX;
	const uint64_t begin = bench_clock(b);
	loop(CALLS, b->code + function);
	return bench_clock(b) - begin;
}

static const struct st_probe_cell *
cell_of_bench(const struct bench *b)
{
	const uint32_t *cells =
	        (const uint32_t *)((const uint64_t *)b->area + b->area->records[0].cells);
	return (const struct st_probe_cell *)((const uint64_t *)b->area + cells[0] / 2);
}

static int
tick_order(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Of the quickest eighth of the batches the slowest: what disturbs the machine only adds, and to
 * take off too much is worse than too little. And how far the middle half of them spreads. */
static uint32_t
settle_on(double *v, double *error)
{
	qsort(v, BATCHES, sizeof *v, tick_order);
	const double middle = v[BATCHES / 8];
	if (error)
		*error = (v[BATCHES * 3 / 4] - v[BATCHES / 4]) / 2;
	return middle > 0 ? (uint32_t)(middle * 256 + 0.5) : 0;
}

/* Cost of probes that has been charged to the loop so far, 1/256 ticks. */
static uint64_t
charged_to_loop(const struct bench *b)
{
	return b->record ? ((const struct st_probe_thread *)b->threads)->frames[0].spent : 0;
}

static void
measure_cost(struct st_probing *p, const struct bench *b)
{
	double within[BATCHES], all[BATCHES], error;
	uint64_t before = 0;
	call_batch(b, PROBED); /* makes the thread and the cell */
	call_batch(b, PLAIN);
	for (int i = 0; i < BATCHES; i++) {
		const struct st_probe_cell *c = cell_of_bench(b);
		const uint64_t charged = charged_to_loop(b);
		before = c->inclusive;
		const double probed = (double)call_batch(b, PROBED),
		             plain = (double)call_batch(b, PLAIN);
		const double known = (double)(charged_to_loop(b) - charged) / 256;
		all[i] = (probed - plain - known) / CALLS;
		within[i] = (double)(c->inclusive - before) / CALLS;
	}
	p->cost = settle_on(all, &error);
	p->cost_within = settle_on(within, NULL);
	p->cost_error = error;
}

/* Measures how much slower a call is after its data was read by a system call, which disturbs
 * caches and branch prediction. */
static void
measure_reading(struct st_probing *p, const struct bench *b)
{
	double within[BATCHES];
	b->record->ops[0] =
	        (struct st_record_op){.kind = ST_RECORD_CONSTANT, .extra = (uintptr_t)b->area};
	b->record->ops[1] = (struct st_record_op){.kind = ST_RECORD_LOAD, .width = 8};
	b->record->n_ops = 2;
	call_batch(b, PROBED);
	for (int i = 0; i < BATCHES; i++) {
		const struct st_probe_cell *c = cell_of_bench(b);
		const uint64_t before = c->inclusive;
		call_batch(b, PROBED);
		within[i] = (double)(c->inclusive - before) / CALLS;
	}
	const uint32_t all = settle_on(within, NULL);
	p->cost_reading = all > p->cost_within ? all - p->cost_within : 0;
	b->record->n_ops = 0;
}

/* Measures the CPU time of an empty call that is left after the runtime has subtracted what it
 * knows of. The middle half of the calls is what does not depend on interrupts. */
static void
measure_clock(struct st_probing *p, const struct bench *b)
{
	double left[CALLS];
	size_t n = 0;
	b->record->metrics = 1u << ST_RECORD_CPU;
	call_batch(b, PROBED);
	for (size_t i = 0; i < CALLS; i++) {
		const struct st_record_row *row =
		        (const void *)((const uint64_t *)b->area + b->record->rows +
		                       i * b->record->row_words);
		if (row->state == ST_RECORD_DONE)
			left[n++] = (double)row->metrics[ST_RECORD_CPU];
	}
	b->record->metrics = 0;
	if (!n)
		return;
	qsort(left, n, sizeof *left, tick_order);
	p->cost_clock_left = left[n / 2];
	p->cost_clock_error = (left[n * 3 / 4] - left[n / 4]) / 2;
	p->cost_clock =
	        left[n / 2] + (double)((const struct st_probe_thread *)b->threads)->clock.cost;
}

/* Measures the cost of calls that are only counted: just the first is timed, or none is kept. */
static void
measure_counting(struct st_probing *p, const struct bench *b)
{
	double all[BATCHES];
	if (b->record)
		b->record->keep = 0;
	if (!b->record) {
		b->area->actions[0].amount = UINT32_MAX;
		b->context->samples = 1;
		((uint32_t *)b->area + b->area->records[0].cells * 2)[0] &= ~1u;
	}
	call_batch(b, PROBED);
	for (int i = 0; i < BATCHES; i++) {
		const double probed = (double)call_batch(b, PROBED),
		             plain = (double)call_batch(b, PLAIN);
		all[i] = (probed - plain) / CALLS;
	}
	p->cost_counted = settle_on(all, NULL);
}

void
st_probing_calibrate(struct st_probing *p)
{
	struct bench b = {0};
	if (make_bench(p, &b))
		measure_cost(p, &b);
	if (p->cost && p->records_calls)
		measure_reading(p, &b);
	if (p->cost && p->records_calls && p->reads_clock)
		measure_clock(p, &b);
	if (p->cost && (p->samples || p->records_calls))
		measure_counting(p, &b);
	free_bench(&b);
}
