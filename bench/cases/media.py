# SPDX-License-Identifier: GPL-3.0-or-later
"""Video: hand-written AVX code in several threads."""
from harness.case import case

case("x264", r'''
under x264 --quiet --threads 2 --preset fast --crf 28 -o out.264 --demuxer y4m "$IN/clip.y4m"
under x264 --quiet --threads 1 --preset slow --frames 6 --qp 30 -o slow.264 --demuxer y4m "$IN/clip.y4m"''',
     packages="x264 ffmpeg", prepare="ffmpeg -v error -f lavfi -i testsrc2=size=320x240:rate=25:duration=2 -pix_fmt yuv420p clip.y4m")
case("ffmpeg", r'''
under ffmpeg -v error -nostdin -i "$IN/clip.y4m" -vf 'scale=160:120,hue=s=0.5,unsharp' -threads 2 -f framemd5 -
under ffmpeg -v error -nostdin -f lavfi -i 'sine=frequency=440:duration=1' -af 'aresample=22050,volume=0.5' -f md5 -
under ffmpeg -v error -nostdin -i "$IN/clip.y4m" -c:v mpeg4 -threads 2 -flags +bitexact -fflags +bitexact -f avi out.avi
under ffmpeg -v error -nostdin -i out.avi -f md5 -; under ffprobe -v error -show_entries stream=codec_name,width,nb_frames -of csv out.avi''',
     packages="ffmpeg", prepare="ffmpeg -v error -f lavfi -i testsrc2=size=320x240:rate=25:duration=2 -pix_fmt yuv420p clip.y4m")
