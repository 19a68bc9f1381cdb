# SPDX-License-Identifier: GPL-3.0-or-later
"""A web server and its load generator."""
from harness.case import case

NGINX = r'''
port=$(free_port)
mkdir -p "$STATE/site" "$STATE/run"; chmod -R a+rX "$STATE"; cp "$IN/text" "$STATE/site/"; seq 100 > "$STATE/site/small"
cat > "$STATE/nginx.conf" <<CONF
worker_processes 2; daemon off; pid $STATE/run/pid; error_log $STATE/run/error.log;
events { worker_connections 256; }
http { access_log off; gzip on; gzip_types *; client_body_temp_path $STATE/run/a; proxy_temp_path $STATE/run/b; fastcgi_temp_path $STATE/run/c;
uwsgi_temp_path $STATE/run/d; scgi_temp_path $STATE/run/e;
server { listen 127.0.0.1:$port; root $STATE/site; location /says { return 200 "said\n"; } location ~ ^/number/([0-9]+)$ { return 200 "\$1"; }
location /again { proxy_pass http://127.0.0.1:$port/says; } } }
CONF
%s nginx -e "$STATE/run/error.log" -c "$STATE/nginx.conf" >"$STATE/log" 2>&1 &
server=$!
await_port "$port"
for i in 1 2 3; do curl -s --compressed "http://127.0.0.1:$port/text" | md5sum; curl -s "http://127.0.0.1:$port/small" | cksum
curl -s "http://127.0.0.1:$port/again"; curl -s "http://127.0.0.1:$port/number/4$i"; curl -s -o /dev/null -w ' %%{http_code}\n' "http://127.0.0.1:$port/nothing"; done
%s wrk -t 2 -c 16 -d 1 "http://127.0.0.1:$port/small" > load.txt; echo "wrk $?"
grep -c 'Requests/sec' load.txt; grep -E 'Non-2xx|Socket errors' load.txt; rm load.txt
kill -HUP "$(cat "$STATE/run/pid")"; sleep 0.5; curl -s "http://127.0.0.1:$port/says"
kill -QUIT "$(cat "$STATE/run/pid")"; wait $server; echo "server $?"; grep -c -E 'emerg|alert|exited on signal' "$STATE/run/error.log"
'''
case("nginx", NGINX % ("under-all", ""), packages="nginx wrk curl", children=2, prepare="inputs text 1 > text")
case("wrk", NGINX % ("", "under"), packages="nginx wrk curl", prepare="inputs text 1 > text")
case("curl", r'''
port=$(free_port); (cd "$IN" && exec /usr/bin/python3 -m http.server --bind 127.0.0.1 "$port" >/dev/null 2>&1) & server=$!
await_port "$port"; under curl -s "http://127.0.0.1:$port/text" | md5sum; under curl -s -I "http://127.0.0.1:$port/none" | head -n 1
under wget -q -O - "http://127.0.0.1:$port/text" | cksum; kill $server''', packages="curl wget python3", prepare="inputs text 1 > text")
