# Sourced by s3_engine: OpenStack Swift with its S3 middleware, one device, one copy of everything.
# shellcheck shell=bash disable=SC2154,SC2034

access_key=restante:s3 # an account and a user of it
secret_key=restante-test-secret

write_server_conf() { # TYPE PORT
    cat >"$dir/etc/$1.conf" <<END
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = $2
user = $(id -un)
swift_dir = $dir/etc
devices = $dir/devices
mount_check = false
disable_fallocate = true
workers = 0
log_level = WARNING
recon_cache_path = $dir/cache
[pipeline:main]
pipeline = $1-server
[app:$1-server]
use = egg:swift#$1
END
}

write_ring() { # TYPE PORT
    swift-ring-builder "$dir/etc/$1.builder" create 2 1 1 >/dev/null
    swift-ring-builder "$dir/etc/$1.builder" add "r1z1-127.0.0.1:$2/disk" 1 >/dev/null
    swift-ring-builder "$dir/etc/$1.builder" rebalance >/dev/null
}

write_proxy_conf() { # PORT MEMCACHE-PORT
    cat >"$dir/etc/proxy.conf" <<END
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = $1
user = $(id -un)
swift_dir = $dir/etc
workers = 0
log_level = WARNING
[pipeline:main]
pipeline = catch_errors cache listing_formats bulk s3api tempauth slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:$2
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:bulk]
use = egg:swift#bulk
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_restante_s3 = $secret_key .admin
[filter:slo]
use = egg:swift#slo
END
}

start_engine() {
    local ports types=(account container object) i jobs=()
    read -ra ports < <(free_ports 5)
    mkdir -p "$dir"/{etc,cache,devices/disk}
    printf '[swift-hash]\nswift_hash_path_suffix = restante\n[storage-policy:0]\nname = one\ndefault = yes\n' \
        >"$dir/etc/swift.conf"
    for i in 0 1 2; do
        write_server_conf "${types[i]}" "${ports[i]}"
        write_ring "${types[i]}" "${ports[i]}" & jobs+=($!)
    done
    write_proxy_conf "${ports[3]}" "${ports[4]}"
    for i in "${jobs[@]}"; do wait "$i" || fail "no ring"; done
    launch memcached memcached -u "$(id -un)" -l 127.0.0.1 -m 16 -p "${ports[4]}"
    for i in 0 1 2; do launch "${types[i]}" "swift-${types[i]}-server" "$dir/etc/${types[i]}.conf"; done
    launch proxy swift-proxy-server "$dir/etc/proxy.conf"
    for i in 0 1 2; do wait_for "http://127.0.0.1:${ports[i]}/" "${types[i]}"; done
    endpoint=http://127.0.0.1:${ports[3]}
    wait_for "$endpoint/" proxy
}
