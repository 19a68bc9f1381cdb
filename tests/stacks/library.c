/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "library.h"

static volatile uint64_t result;

void
spin(uint64_t times)
{
	uint64_t x = times;
	for (uint64_t i = 0; i < times; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	result = x;
}

void
without_frame_pointer(uint64_t times, void (*work)(uint64_t))
{
	volatile char room[3000];
	room[0] = 0;
	work(times);
	room[1] = room[0];
}
