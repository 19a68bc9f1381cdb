# SPDX-License-Identifier: GPL-3.0-or-later
"""Shells, coreutils, busybox."""
from harness.case import case

BASH = r'''
cat > fib.sh <<'SH'
fib() { if (( $1 < 2 )); then echo $1; else echo $(( $(fib $(($1-1))) + $(fib $(($1-2))) )); fi; }
declare -A seen
for word in one two three two one; do seen[$word]=$(( ${seen[$word]:-0} + 1 )); done
for word in "${!seen[@]}"; do echo "$word ${seen[$word]}"; done | sort
[[ "key=value" =~ ^([a-z]+)=([a-z]+)$ ]] && echo "${BASH_REMATCH[2]} ${BASH_REMATCH[1]}"
trap 'echo caught' USR1; kill -USR1 $$
trap 'echo leaving $?' EXIT
text=; for ((i = 0; i < 20000; i++)); do text+=$((i % 7)); done; echo ${#text} ${text//3/x} | cksum
while read -r a b; do echo "$b-$a"; done < <(paste -d ' ' <(seq 5) <(seq 6 10))
printf '%s\n' {a..e}{1..3} | { mapfile -t rows; echo "${rows[@]:3:4}"; }
coproc cat; echo through >&"${COPROC[1]}"; read -r line <&"${COPROC[0]}"; echo "$line"
( exit 7 ) || echo "subshell $?"
fib 7
exit 3
SH
'''

case("bash", BASH + "under bash fib.sh", short=True)
case("bash-follow", BASH + "under-all bash fib.sh", children=30)
case("dash", r'''
cat > sum.sh <<'SH'
i=0; t=0
while [ $i -lt 60000 ]; do t=$(( (t * 31 + i) % 1000003 )); i=$((i+1)); done
echo $t; set -- a b c; shift; echo $# "$@"
for f in /etc/pass*wd; do echo ${f##*/}; done
case $(echo x | tr x y) in y) echo case;; esac
SH
under dash sum.sh''', short=True)

case("coreutils", r'''
under sort -k2 -S 2M --parallel=2 "$IN/text" | under md5sum
under sort -u "$IN/text" | under wc
tr -cs a-z '\n' < "$IN/text" | under sort | under uniq -c | under sort -rn | under head -n 50
under cut -d' ' -f3 "$IN/text" | under tail -n 20 | under nl | under tac | under rev
under sha256sum "$IN/text"; under b2sum "$IN/text"; under cksum "$IN/text"
under seq 1 7 300 | under paste -sd+ | under bc
under split -n 4 "$IN/text" part.; under cat part.* | under cmp - "$IN/text" && echo whole
under od -A x -t x1z "$IN/text" | under tail -n 3; under base64 -w 60 "$IN/text" | under base64 -d | under sum
under factor 18446744073709551557 1234567890123456789
under comm -12 <(sort -u "$IN/text" | head -n 900) <(sort -u "$IN/text" | tail -n +500 | head -n 900) | under wc -l
under join <(seq -w 1 2 2000) <(seq -w 1 3 2000) | under wc -l
under dd if="$IN/text" bs=4k count=20 status=none | under md5sum
under cp -a "$IN/text" copy; under mkdir -p a/b/c; under ln -s copy link; under mv copy a/b/c; under ls -1R
under stat -c '%s %F' a/b/c/copy; under touch -d 2001-01-01 stamp; under date -r stamp +%s; under date -d @86400 +%F
under test 3 -lt 4; echo $?; under false; echo $?; under timeout 5 sleep 0.01; echo $?; under expr 6 \* 7
under env -i A=1 B=2 env | sort; under basename /usr/lib/x.so .so; under readlink -f link; under du -b a/b/c/copy
under numfmt --to=iec 123456789; under shuf -i 1-50 --random-source="$IN/text" | under tr '\n' ' '; under yes no | under head -n 3
under find . -name 'part.*' -size +1k | under sort; under find a -type f -exec cksum {} +
under grep -c -E '[0-9]+\.[05]' "$IN/text"; under sed -n -E 's/^([a-z]+) .*<(.*)@.*$/\2 \1/p' "$IN/text" | under head -n 5
under awk '{ for (i = 1; i <= NF; i++) n[length($i)]++ } END { for (l = 1; l < 20; l++) print l, n[l] }' "$IN/text"
under diff <(head -n 200 "$IN/text") <(head -n 210 "$IN/text" | tail -n 200) | under cksum
under tar --sort=name --mtime=@0 --owner=0 --group=0 -cf out.tar part.aa a; under tar -tvf out.tar | under wc -l
''', packages="bc bsdextrautils", prepare='inputs text 1 > text', short=True)

case("coreutils-follow", r'''
under-all bash -c 'for i in 1 2 3 4 5; do
  sort -R --random-source="$IN/text" "$IN/text" | tr a-z b-za | sort | uniq -c | sort -rn | head -n 3
  find /usr/share/doc -maxdepth 1 -name "lib[abc]*" | xargs -n 20 basename -a | sort | cksum
done; echo "$(seq 1 200 | xargs -P 2 -n 1 echo | sort -n | cksum)"'
''', prepare='inputs text 1 > text')

case("busybox-static", r'''
cp "$(command -v busybox)" .
under ./busybox sha512sum "$IN/text" | cut -c 1-40
under ./busybox sort "$IN/text" | under ./busybox uniq -c | under ./busybox md5sum
under ./busybox awk '{ s += NF; for (i = 1; i <= NF; i++) c[substr($i, 1, 2)]++ } END { print s; for (k in c) print k, c[k] }' "$IN/text" | sort | cksum
under ./busybox gzip -c "$IN/text" > text.gz; under ./busybox gunzip -c text.gz | cmp - "$IN/text"
under ./busybox sed 's/a/b/g;/^c/d' "$IN/text" | under ./busybox tail -n 3
under ./busybox sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; echo $i; ls | wc -l'
under-all ./busybox sh -c 'for i in 1 2 3; do busybox expr $i + 1 | cat; done; sleep 0.01; echo $(echo nested)'
under ./busybox bzip2 -c "$IN/text" | under ./busybox bunzip2 -c | under ./busybox md5sum
rm busybox''', packages="busybox-static", prepare='inputs text 1 > text', short=True)
