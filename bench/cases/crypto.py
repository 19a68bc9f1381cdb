# SPDX-License-Identifier: GPL-3.0-or-later
"""OpenSSL: hand-written vector code chosen by cpuid, and checks that know the right answers."""
from harness.case import case

case("openssl", r'''
for d in md5 sha1 sha224 sha256 sha384 sha512 sha3-256 sha3-512 shake128 blake2b512 blake2s256 ripemd160 sm3; do under openssl dgst -$d -r "$IN/text"; done
key=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f iv=0f0e0d0c0b0a09080706050403020100
for c in aes-128-cbc aes-256-cbc aes-256-ctr aes-128-ofb aes-192-cfb camellia-256-cbc chacha20 aria-256-ctr des-ede3-cbc sm4-cbc; do
	under openssl enc -$c -K ${key:0:64} -iv $iv -in "$IN/text" -out sealed 2>/dev/null; cksum < sealed
	under openssl enc -d -$c -K ${key:0:64} -iv $iv -in sealed 2>/dev/null | cmp - "$IN/text" && echo "$c opens"
done
under openssl enc -aes-256-cbc -pbkdf2 -iter 20000 -pass pass:word -S 0011223344556677 -in "$IN/text" | cksum; rm sealed
under openssl mac -digest SHA256 -macopt key:secret -in "$IN/text" HMAC; under openssl prime 170141183460469231731687303715884105727
under openssl kdf -keylen 32 -kdfopt pass:x -kdfopt salt:y -kdfopt n:1024 -kdfopt r:8 -kdfopt p:1 SCRYPT''',
     packages="openssl", prepare="inputs text 1 > text", short=True)

case("openssl-keys", r'''
for k in rsa ec ed; do
	under openssl pkey -in "$IN/$k.pem" -check -noout; under openssl pkey -in "$IN/$k.pem" -pubout -out $k.pub
done
under openssl dgst -sha256 -sign "$IN/rsa.pem" -out rsa.sig "$IN/small"; under openssl dgst -sha256 -verify rsa.pub -signature rsa.sig "$IN/small"
under openssl pkeyutl -sign -rawin -inkey "$IN/ed.pem" -in "$IN/small" -out ed.sig; under openssl pkeyutl -verify -rawin -pubin -inkey ed.pub -in "$IN/small" -sigfile ed.sig
under openssl dgst -sha384 -sign "$IN/ec.pem" -out ec.sig "$IN/small"; under openssl dgst -sha384 -verify ec.pub -signature ec.sig "$IN/small"; rm ec.sig
under openssl x509 -in "$IN/cert.pem" -noout -subject -serial -fingerprint; under openssl verify -CAfile "$IN/cert.pem" "$IN/cert.pem"
under openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out new.pem 2>/dev/null; under openssl rsa -in new.pem -check -noout; rm new.pem''',
     packages="openssl", prepare=r'''
echo short text > small; openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out rsa.pem 2>/dev/null; openssl genpkey -algorithm ED25519 -out ed.pem
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out ec.pem; openssl req -x509 -new -key rsa.pem -subj /CN=strobe -days 3650 -out cert.pem''')

case("openssl-speed", r'''
under openssl speed -seconds 1 -bytes 1024 -evp sha256 2>&1 | grep -c -E '^sha256 '
under openssl speed -seconds 1 -bytes 8192 -evp aes-128-gcm 2>&1 | grep -c -E '^AES-128-GCM '
under openssl speed -seconds 1 -multi 2 ecdhx25519 2>&1 | grep -c -E 'X25519'
under-all openssl speed -seconds 1 rsa2048 2>&1 | grep -c -E '^rsa 2048'
under openssl speed -seconds 1 -bytes 1024 md5 sha512 2>&1 | grep -c -E '^(md5|sha512) ' ''', packages="openssl")
