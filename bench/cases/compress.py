# SPDX-License-Identifier: GPL-3.0-or-later
"""Compressors: loops, tables, threads."""
from harness.case import case

TEXT = "inputs text 6 > text; cp \"$(command -v bash)\" binary"

case("gzip", r'''
under gzip -9 -n -c "$IN/text" > text.gz; under gzip -1 -n -c "$IN/binary" > binary.gz
under gzip -t text.gz; under gzip -dc text.gz | md5sum; under gzip -l text.gz
head -c 1000 text.gz > cut.gz; under gzip -dc cut.gz > cut; echo $?''', prepare=TEXT, short=True)
case("bzip2", r'''
under bzip2 -9 -k -c "$IN/text" > text.bz2; under bzip2 -dc text.bz2 | md5sum
under bzip2 -c "$IN/binary" > binary.bz2; under bunzip2 -t binary.bz2; echo $?''', packages="bzip2", prepare=TEXT, short=True)
case("xz", r'''
under xz -6 -T1 -c "$IN/text" > text.xz; under xz -dc text.xz | md5sum
under xz -1 --x86 --lzma2 -c "$IN/binary" > binary.xz; under xz -t binary.xz; under xz --robot -l text.xz | tail -n 1''',
     packages="xz-utils", prepare="inputs text 2 > text; cp \"$(command -v bash)\" binary", short=True)
case("xz-threads", r'''
under xz -2 -T2 --block-size=500KiB -c "$IN/text" > text.xz; under xz -T2 -dc text.xz | md5sum''',
     packages="xz-utils", prepare=TEXT)
case("zstd", r'''
under zstd -q -12 -c "$IN/text" > text.zst; under zstd -q -dc text.zst | md5sum
under zstd -q -T2 -3 -c "$IN/text" > threads.zst; under zstd -q -t threads.zst; echo $?
under zstd -q --train -o dictionary --maxdict=20000 "$IN"/piece.*; under zstd -q -D dictionary -c "$IN/piece.000" > piece.zst
under zstd -q -D dictionary -dc piece.zst | md5sum''', packages="zstd",
     prepare=TEXT + "; split -a 3 -d -n 400 text piece.", short=True)
