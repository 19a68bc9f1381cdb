/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instruction families that engines are known to miss, each against a plain computation: BF16,
 * FP16, gathers and masked moves with suppressed faults, AES, SHA, carry-less products, GFNI, BMI,
 * ADX, MOVBE, CRC32, cmpxchg16b, MMX, movdir64b. What the CPU lacks is left out. The families found
 * are printed, so cpuid must answer as natively.
 */
/* strobe-test: */
#include "check.h"
#include <immintrin.h>
#include <math.h>
#include <sys/mman.h>

#define TARGET(features) __attribute__((noinline, target(features)))

static char *guarded; /* 4096 bytes in front of an inaccessible page */

TARGET("avx512bf16,avx512vl") static void bf16(void)
{
	float a[16], b[16], sum[16] = {0};

	for (int i = 0; i < 16; i++)
		a[i] = (float)i, b[i] = (float)(2 * i + 1);
	__m512bh x = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(b), _mm512_loadu_ps(a));
	__m512 r = _mm512_dpbf16_ps(_mm512_setzero_ps(), x, x);
	_mm512_storeu_ps(sum, r);
	for (int i = 0; i < 8; i++) {
		CHECK_EQ(sum[i], a[2 * i] * a[2 * i] + a[2 * i + 1] * a[2 * i + 1]);
		CHECK_EQ(sum[8 + i], b[2 * i] * b[2 * i] + b[2 * i + 1] * b[2 * i + 1]);
	}
}

TARGET("avx512fp16,avx512vl") static void fp16(void)
{
	_Float16 a[32], b[32], r[32];

	for (int i = 0; i < 32; i++)
		a[i] = (_Float16)i, b[i] = (_Float16)(i * 2);
	__m512h v = _mm512_fmadd_ph(_mm512_loadu_ph(a), _mm512_loadu_ph(b), _mm512_loadu_ph(b));
	_mm512_storeu_ph(r, _mm512_sqrt_ph(_mm512_mul_ph(v, v)));
	for (int i = 0; i < 11; i++)
		CHECK_EQ((int)(float)r[i], i * 2 * i + i * 2);
}

/* Masked-out elements of an inaccessible page must not fault. */
TARGET("avx512f,avx512bw,avx512vl") static void masked(void)
{
	unsigned char *edge = (unsigned char *)guarded + 4096 - 24, out[64];

	for (int i = 0; i < 24; i++)
		edge[i] = (unsigned char)(i + 1);
	__m512i v = _mm512_maskz_loadu_epi8(0xffffff, edge);
	_mm512_storeu_si512(out, v);
	for (int i = 0; i < 64; i++)
		CHECK_EQ(out[i], i < 24 ? i + 1 : 0);
	_mm512_mask_storeu_epi8(edge, 0x000f0f, _mm512_set1_epi8(9));
	CHECK_EQ(edge[0], 9);
	CHECK_EQ(edge[4], 5);
	CHECK_EQ(edge[11], 9);
	__m512i compressed = _mm512_maskz_compress_epi32(
	        0x8421, _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
	uint32_t words[16];
	_mm512_storeu_si512(words, compressed);
	CHECK(words[0] == 0 && words[1] == 5 && words[2] == 10 && words[3] == 15 && !words[4],
	      "vpcompressd");
}

TARGET("avx2") static void gathers(void)
{
	int table[64], out[8];

	for (int i = 0; i < 64; i++)
		table[i] = i * i;
	__m256i index = _mm256_setr_epi32(0, 9, 18, 27, 36, 45, 54, 63);
	_mm256_storeu_si256((__m256i *)out, _mm256_i32gather_epi32(table, index, 4));
	for (int i = 0; i < 8; i++)
		CHECK_EQ(out[i], 81 * i * i);
	/* Elements with a clear mask lie in the inaccessible page. */
	int *edge = (int *)(guarded + 4096 - 16);
	edge[0] = 10, edge[1] = 11, edge[2] = 12, edge[3] = 13;
	__m256i ascending = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
	__m256i half = _mm256_setr_epi32(-1, -1, -1, -1, 0, 0, 0, 0);
	__m256i r = _mm256_mask_i32gather_epi32(_mm256_set1_epi32(7), edge, ascending, half, 4);
	_mm256_storeu_si256((__m256i *)out, r);
	for (int i = 0; i < 8; i++)
		CHECK_EQ(out[i], i < 4 ? 10 + i : 7);
	_mm256_maskstore_epi32(edge, half, _mm256_add_epi32(r, r));
	CHECK(edge[0] == 20 && edge[3] == 26, "vpmaskmovd");
}

TARGET("aes,pclmul,sse4.1") static void crypto(void)
{
	__m128i key = _mm_set_epi64x(0x0f0e0d0c0b0a0908, 0x0706050403020100);
	__m128i text = _mm_set_epi64x(0x7766554433221100, 0x1122334455667788);
	__m128i there = _mm_aesenc_si128(text, key);
	/* Undo it: the inverse of MixColumns, then the last decryption round. */
	__m128i mixed = _mm_aesimc_si128(_mm_xor_si128(there, key));
	__m128i back = _mm_aesdeclast_si128(mixed, _mm_setzero_si128());
	CHECK_EQ(_mm_extract_epi64(back, 0), 0x1122334455667788);
	CHECK_EQ(_mm_extract_epi64(back, 1), 0x7766554433221100);
	__m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, 0x8000000000000003),
	                                       _mm_set_epi64x(0, 7), 0);
	CHECK_EQ(_mm_extract_epi64(product, 0), (0x8000000000000000ull) ^ 9);
	CHECK_EQ(_mm_extract_epi64(product, 1), 3);
}

TARGET("sha,sse4.1") static void sha(void)
{
	__m128i key = _mm_set_epi64x(0x0f0e0d0c0b0a0908, 0x0706050403020100);
	__m128i text = _mm_set_epi64x(0x7766554433221100, 0x1122334455667788);
	__m128i w = _mm_sha256msg1_epu32(text, key);
	uint32_t x0 = 0x55667788, x1 = 0x11223344;
	uint32_t s0 = (x1 >> 7 | x1 << 25) ^ (x1 >> 18 | x1 << 14) ^ x1 >> 3;
	CHECK_EQ((uint32_t)_mm_extract_epi32(w, 0), x0 + s0);
}

TARGET("gfni,sse2") static void galois(void)
{
	__m128i r = _mm_gf2p8mul_epi8(_mm_set1_epi8(0x57), _mm_set1_epi8((char)0x83));
	CHECK_EQ((uint8_t)_mm_cvtsi128_si32(r), 0xc1); /* the example of FIPS 197 */
}

TARGET("bmi,bmi2,lzcnt,popcnt,movbe,adx,sse4.2") static void scalars(void)
{
	volatile uint64_t a = 0x123456789abcdef0, b = 0xff00ff00ff00ff00;
	uint64_t mask = b, sum[2] = {0, 0};
	unsigned long long low = ~0ull;
	unsigned char carry;

	CHECK_EQ(_pext_u64(a, mask), 0x12569ade);
	CHECK_EQ(_pdep_u64(0x12569ade, mask), 0x120056009a00de00);
	CHECK_EQ(_lzcnt_u64(a), 3);
	CHECK_EQ(_tzcnt_u64(a), 4);
	CHECK_EQ(_mm_popcnt_u64(b), 32);
	CHECK_EQ(_bzhi_u64(a, 12), 0xef0);
	CHECK_EQ(_andn_u64(b, a), a & ~b);
	CHECK_EQ(_blsr_u64(a), a & (a - 1));
	CHECK_EQ(_mm_crc32_u64(0xffffffff, 0), 0x73d74d75);
	uint64_t swapped, memory = a;
	__asm__ volatile("movbe %1, %0" : "=r"(swapped) : "m"(memory));
	CHECK_EQ(swapped, 0xf0debc9a78563412);
	carry = _addcarryx_u64(0, low, 1, (unsigned long long *)&sum[0]);
	carry = _addcarryx_u64(carry, low, 5, (unsigned long long *)&sum[1]);
	CHECK(carry == 1 && sum[0] == 0 && sum[1] == 5, "adcx");
	uint64_t hi, lo, rdx = 0xfffffffffffffff1;
	__asm__("mulx %2, %0, %1" : "=r"(lo), "=r"(hi) : "r"(a), "d"(rdx));
	CHECK(lo == a * rdx && hi == (uint64_t)((unsigned __int128)a * rdx >> 64), "mulx");
}

static void
old(void)
{
	uint64_t pair[2] __attribute__((aligned(16))) = {5, 6}, out;
	unsigned char equal;

	__asm__ volatile("lock cmpxchg16b %0\nsete %1"
	                 : "+m"(pair), "=q"(equal)
	                 : "a"(5ul), "d"(6ul), "b"(7ul), "c"(8ul)
	                 : "cc");
	CHECK(equal && pair[0] == 7 && pair[1] == 8, "cmpxchg16b");
	__asm__ volatile("movq %1, %%mm3\npaddw %%mm3, %%mm3\nmovq %%mm3, %0\nemms"
	                 : "=r"(out)
	                 : "r"(0x0001000200030004)
	                 : "mm3");
	CHECK_EQ(out, 0x0002000400060008);
	static unsigned char table[256];
	for (int i = 0; i < 256; i++)
		table[i] = (unsigned char)(255 - i);
	__asm__ volatile("xlatb" : "=a"(out) : "b"(table), "0"(0x1110ul));
	CHECK_EQ(out, 0x11ef);
	uint64_t bits[4] = {0};
	__asm__ volatile("btsq %1, %0" : "+m"(bits) : "r"(200ul) : "cc", "memory");
	CHECK_EQ(bits[3], 1ull << 8);
	uint32_t left = 0x12345678;
	__asm__("shld $12, %1, %0" : "+r"(left) : "r"(0xabcdef01) : "cc");
	CHECK_EQ(left, 0x45678abc);
}

static void
fallback_free(void) /* reads of the machine that must be alive, whatever they say */
{
	uint64_t low, high, again;
	uint32_t aux;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	__asm__ volatile("rdtscp" : "=a"(again), "=d"(aux)::"rcx");
	CHECK((high << 32 | low) < ((uint64_t)aux << 32 | again), "the clock went back");
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	CHECK(low & 2, "xgetbv says %#lx", low);
}

#define TRY(feature, test)                                                                         \
	do {                                                                                       \
		if (__builtin_cpu_supports(feature)) {                                             \
			for (int i_ = 0; i_ < 100; i_++)                                           \
				test();                                                            \
			printf("%s ", #test);                                                      \
		}                                                                                  \
	} while (0)

int
main(void)
{
	guarded = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(guarded != MAP_FAILED && !mprotect(guarded + 4096, 4096, PROT_NONE), "mmap");
	__builtin_cpu_init();
	old();
	fallback_free();
	TRY("bmi2", scalars);
	TRY("avx2", gathers);
	TRY("aes", crypto);
	TRY("gfni", galois);
	TRY("avx512bw", masked);
	TRY("avx512bf16", bf16);
	unsigned a, b, c, d;
	__asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "0"(7), "2"(0));
	if (b & 1u << 29) {
		sha();
		printf("sha ");
	}
	if (d & 1u << 23 && __builtin_cpu_supports("avx512bw")) {
		fp16();
		printf("fp16 ");
	}
	puts("compute as they should");
	return 0;
}
