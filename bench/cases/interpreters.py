# SPDX-License-Identifier: GPL-3.0-or-later
"""Interpreters and just-in-time compilers."""
from harness.case import case

case("perl", r'''
cat > words.pl <<'PL'
use strict; use warnings; use Digest::SHA qw(sha1_hex); use List::Util qw(sum max first); use POSIX qw(floor);
my %n; open my $f, '<', $ARGV[0] or die; while (<$f>) { $n{lc $1}++ while /([a-z]{4,})/g } close $f;
my @top = (sort { $n{$b} <=> $n{$a} || $a cmp $b } keys %n)[0..14]; print "$_ $n{$_}\n" for @top;
sub ack { my ($m, $n) = @_; no warnings 'recursion'; $m == 0 ? $n + 1 : $n == 0 ? ack($m - 1, 1) : ack($m - 1, ack($m, $n - 1)) }
print ack(2, 60), " ", sha1_hex(join ',', map { $_ * 3 } 1..20000), "\n";
my $t = join '', map { chr(97 + $_ * 7 % 26) } 1..50000; (my $u = $t) =~ s/([aeiou])(.)/$2$1/g; print length($u), substr($u, 0, 40), "\n";
local $SIG{ALRM} = sub { die "alarm\n" }; eval { alarm 1; 1 while 1 }; print "got $@";
local $@; eval { my $x = 1 / ($ARGV[1] // 0) }; print $@ =~ /division/ ? "division\n" : "none\n";
my $pid = fork; if (!$pid) { exit 9 } waitpid $pid, 0; print $? >> 8, "\n"; print `echo from a shell`;
printf "%s\n", join ' ', map { sprintf '%.6f', sin($_) * exp($_ / 9) } 1..6; my @a = map { [$_, $_ ** 2 % 101] } 1..5000;
print join(',', map { $_->[0] } (sort { $a->[1] <=> $b->[1] or $a->[0] <=> $b->[0] } @a)[0..9]), "\n";
PL
under perl words.pl "$IN/text"; under-all perl words.pl "$IN/text"''', packages="perl", prepare="inputs text 1 > text", short=True)

case("python3", r'''
cat > many.py <<'PY'
import asyncio, collections, concurrent.futures, hashlib, itertools, json, math, re, struct, subprocess, sys, threading, zlib
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def queens(n, row=0, cols=0, d1=0, d2=0):
    return 1 if row == n else sum(queens(n, row + 1, cols | 1 << c, d1 | 1 << row + c, d2 | 1 << row - c + n) for c in range(n)
        if not (cols >> c & 1 or d1 >> row + c & 1 or d2 >> row - c + n & 1))
print(fib(20), queens(7), math.factorial(300) % 10**9, sum(map(math.sqrt, range(20000))))
text = open(sys.argv[1]).read(); print(collections.Counter(re.findall(r'[a-z]{5,}', text)).most_common(8))
print(zlib.crc32(json.dumps([{'i': i, 's': str(i) * 3} for i in range(9000)]).encode()), hashlib.blake2b(text.encode()).hexdigest()[:30])
lock, total = threading.Lock(), 0
def work(k):
    global total
    for i in range(4000):
        with lock: total += i % k
threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 9)]; [t.start() for t in threads]; [t.join() for t in threads]; print(total)
with concurrent.futures.ProcessPoolExecutor(2) as pool: print(list(pool.map(math.factorial, range(15))))
print(subprocess.run(['sh', '-c', 'echo child; exit 4'], capture_output=True))
async def tick(i): await asyncio.sleep(0.001 * i); return i * i
async def main(): return await asyncio.gather(*[tick(i) for i in range(30)])
print(sum(asyncio.run(main())))
try: sys.setrecursionlimit(5000); (lambda f: f(f))(lambda f: f(f))
except RecursionError as e: print('recursion', e)
class Meta(type):
    def __new__(m, n, b, d): return super().__new__(m, n, b, d | {'tag': n.lower()})
class Thing(metaclass=Meta): pass
print(Thing.tag, struct.pack('<dI', 1.5, 7).hex(), list(itertools.islice(itertools.permutations('abcd'), 5))); sys.exit(5)
PY
under /usr/bin/python3 many.py "$IN/text"; echo $?; under-all /usr/bin/python3 many.py "$IN/text"''',
     packages="python3", prepare="inputs text 1 > text", short=True)

LUA = r'''
cat > mix.lua <<'LUA'
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local t, seed = {}, 1; for i = 1, 60000 do seed = seed * 16807 % 2147483647; t[i] = seed end
table.sort(t, function(a, b) return a > b end); print(fib(24), t[1], t[30000])
local s = {} for i = 1, 20000 do s[#s + 1] = ('%d=%s'):format(i, ('x'):rep(i % 9)) end
local n = 0 for k, v in table.concat(s, ';'):gmatch('(%d+)=(x*)') do n = n + #v * (k % 3) end print(n)
local co = coroutine.wrap(function() for i = 1, 50000 do coroutine.yield(i * i) end end)
local sum = 0 for _ = 1, 50000 do sum = (sum + co()) % 1000003 end print(sum)
print(pcall(error, {}) , select(2, pcall(error, 'thrown', 0)), pcall(function() return nil + 1 end))
local P = setmetatable({}, {__index = function(_, k) return k .. '!' end, __call = function(_, a) return a * 2 end}) print(P.x, P(21))
local m = {} for i = 1, 70 do m[i] = {} for j = 1, 70 do m[i][j] = (i * j) % 7 + 0.25 end end
local q = 0 for i = 1, 70 do for j = 1, 70 do local y = 0 for k = 1, 70 do y = y + m[i][k] * m[k][j] end q = q + y end end print(q)
local d = 0 local function deep(n) if n == 0 then return 0 end return 1 + deep(n - 1) end print(deep(15000))
LUA
'''
case("lua", LUA + "under lua5.4 mix.lua", packages="lua5.4", short=True)
case("luajit", LUA + "for i in 1 2 3; do under luajit mix.lua; done; under luajit -joff mix.lua; under luajit -O1 mix.lua",
     packages="luajit", short=True)

JS = r'''
cat > mix.js <<'JS'
const rounds = +process.argv[2]; let t = 0;
class Vec { constructor(x, y) { this.x = x; this.y = y } plus(o) { return new Vec(this.x + o.x, this.y + o.y) } }
const fib = n => n < 2 ? n : fib(n - 1) + fib(n - 2);
for (let r = 0; r < rounds; r++) {
  t += fib(24);
  const m = new Map(); for (let i = 0; i < 60000; i++) m.set('k' + i * 31 % 1999, (m.get('k' + i * 31 % 1999) || 0) + i); t += m.get('k5');
  const s = JSON.stringify(Array.from({ length: 6000 }, (_, i) => ({ i, s: 'v' + i, a: [i, i / 2] }))); t += JSON.parse(s).length + (s.match(/"v\d*9"/g) || []).length;
  let v = new Vec(0, 0); for (let i = 0; i < 200000; i++) v = v.plus(new Vec(i, 1)); t += v.x % 997;
  const f = Float64Array.from({ length: 50000 }, (_, i) => Math.sin(i * r)); f.sort(); t += Math.floor(f[777] * 1e6);
  t += eval('(z => { let q = z; for (let i = 0; i < 30000; i++) q = (q * 33 ^ i) | 0; return q })')(r);
}
function* squares() { for (let i = 0; ; i++) yield i * i }
const it = squares(); for (let i = 0; i < 100; i++) t += it.next().value;
console.log(t, [3, 1, 2].toSorted ? 'new' : 'old', [..."añb"].length, 2n ** 200n % 1000007n);
try { null.x } catch (e) { console.log(e.constructor.name) }
(function deep(n) { try { deep(n + 1) } catch (e) { if (!deep.said) { deep.said = 1; console.log(e.constructor.name) } } })(0);
setTimeout(() => console.log('later'), 5); Promise.resolve().then(() => console.log('soon'));
process.on('exit', c => console.log('exit', c)); process.exitCode = 6;
JS
'''
case("node", JS + "under node mix.js 6", packages="nodejs", short=True)
case("node-workers", r'''
cat > workers.js <<'JS'
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const zlib = require('zlib'), crypto = require('crypto');
if (isMainThread) {
  let left = 4; const sums = [];
  for (let i = 0; i < 4; i++) new Worker(__filename, { workerData: i }).on('message', m => { sums[m[0]] = m[1]; if (!--left) finish(sums) });
  const finish = s => { console.log(s.join()); const z = zlib.gzipSync(Buffer.alloc(300000, 'strobe')); console.log(zlib.gunzipSync(z).length);
    console.log(crypto.createHash('sha256').update('x'.repeat(100000)).digest('hex')); wasm() };
  const wasm = () => { const b = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 127, 127, 1, 127, 3, 2, 1, 0, 7, 7, 1, 3, 97, 100, 100, 0, 0, 10, 9, 1, 7, 0, 32, 0, 32, 1, 106, 11]);
    const add = new WebAssembly.Instance(new WebAssembly.Module(b)).exports.add; let t = 0; for (let i = 0; i < 300000; i++) t = add(t, i); console.log(t);
    require('child_process').execFile('sh', ['-c', 'echo child'], (e, out) => console.log(out.trim())) };
} else { let t = 0; for (let i = 0; i < 2e6; i++) t = (t * 31 + i * workerData) % 1000003; parentPort.postMessage([workerData, t]) }
JS
under node workers.js; under-all node workers.js''', packages="nodejs")

JAVA = r'''
cat > Mix.java <<'JAVA'
import java.util.*; import java.util.concurrent.*; import java.util.stream.*;
public class Mix {
	interface Shape { double area(); }
	record Circle(double r) implements Shape { public double area() { return r * r * 3; } }
	record Box(double a, double b) implements Shape { public double area() { return a * b; } }
	static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
	static int deep(int n) { return deep(n + 1) + 1; }
	public static void main(String[] args) throws Exception {
		int rounds = Integer.parseInt(args[0]); long t = 0;
		for (int r = 0; r < rounds; r++) {
			t += fib(22);
			Map<String, Integer> m = new HashMap<>(); for (int i = 0; i < 20000; i++) m.merge("k" + i * 31 % 997, i, Integer::sum); t += m.get("k5");
			t += IntStream.range(0, 20000).mapToObj(i -> "s" + i % 100).collect(Collectors.groupingBy(s -> s, Collectors.counting())).size();
			Shape[] shapes = { new Circle(2), new Box(2, 3) }; double a = 0; for (int i = 0; i < 100000; i++) a += shapes[i & 1].area(); t += (long) a;
			StringBuilder b = new StringBuilder(); for (int i = 0; i < 5000; i++) b.append(i).append(','); t += b.toString().split(",").length;
		}
		ExecutorService pool = Executors.newFixedThreadPool(4); List<Future<Integer>> all = new ArrayList<>();
		for (int i = 0; i < 16; i++) { int k = i; all.add(pool.submit(() -> fib(12 + k % 5))); } for (Future<Integer> f : all) t += f.get(); pool.shutdown();
		try { Object o = null; o.hashCode(); } catch (NullPointerException e) { System.out.println("null"); }
		try { deep(0); } catch (StackOverflowError e) { System.out.println("overflow"); }
		try { int[] x = new int[2]; x[rounds + 2] = 1; } catch (ArrayIndexOutOfBoundsException e) { System.out.println("bounds"); }
		System.gc(); System.out.println(t); System.exit(8);
	}
}
JAVA
'''
case("java", JAVA + "javac Mix.java; under java -Xmx256m Mix 30", packages="openjdk-17-jdk-headless")
case("java-interpreted", JAVA + "javac Mix.java; under java -Xint -Xmx256m Mix 2", packages="openjdk-17-jdk-headless")
case("javac", JAVA + "under javac -J-Xmx256m Mix.java", packages="openjdk-17-jdk-headless")
