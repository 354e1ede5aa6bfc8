# Sourced by s3_engine: Ceph with its S3 gateway: one monitor, one object daemon that keeps everything in memory.
# shellcheck shell=bash disable=SC2154,SC2034

access_key=restante-test
secret_key=restante-test-secret

write_ceph_conf() { # MON-PORT GATEWAY-PORT FSID
    cat >"$dir/ceph.conf" <<END
[global]
fsid = $3
mon host = [v2:127.0.0.1:$1/0]
public network = 127.0.0.0/8
auth cluster required = none
auth service required = none
auth client required = none
# Without authentication only this mode works.
ms mon client mode = crc
run dir = $dir/run
pid file = $dir/run/\$name.pid
admin socket = $dir/run/\$name.asok
log file = $dir/log/\$name.log
keyring = $dir/keyring
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 2
osd pool default pgp num = 2
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 1000
mon data avail crit = 1
heartbeat file =
[mon]
mon data = $dir/mon
[osd]
osd data = $dir/osd
osd objectstore = memstore
memstore device bytes = 4294967296
osd class dir = /usr/lib/$(uname -m)-linux-gnu/rados-classes
osd op num shards = 2
osd op num threads per shard = 1
[client]
# Without tcp_nodelay a small answer waits 40 ms for an acknowledgement.
rgw frontends = beast endpoint=127.0.0.1:$2 tcp_nodelay=1
rgw thread pool size = 64
rgw enable apis = s3
END
}

start_engine() {
    local ports fsid disk tries
    read -ra ports < <(free_ports 2)
    fsid=$(cat /proc/sys/kernel/random/uuid) disk=$(cat /proc/sys/kernel/random/uuid)
    mkdir "$dir/mon" "$dir/osd"
    touch "$dir/keyring"
    write_ceph_conf "${ports[0]}" "${ports[1]}" "$fsid"
    export CEPH_CONF=$dir/ceph.conf
    {
        monmaptool --create --fsid "$fsid" --addv a "[v2:127.0.0.1:${ports[0]}]" "$dir/monmap"
        ceph-mon --mkfs -i a --monmap "$dir/monmap" --keyring "$dir/keyring"
        ceph-mon -i a
        ceph osd new "$disk" 0
        ceph-osd -i 0 --mkfs --osd-uuid "$disk"
        ceph-osd -i 0
    } >"$dir/log/start.log" 2>&1 || fail "Ceph did not start: $(tail -n 5 "$dir/log/start.log")"
    for ((tries = 0; tries < 300; tries++)); do
        ceph osd stat 2>/dev/null | grep -q ' 1 up' && break
        sleep 0.1
    done
    radosgw-admin user create --uid=restante --display-name=restante --access-key="$access_key" \
        --secret-key="$secret_key" >>"$dir/log/start.log" 2>&1 || fail "no user: $(tail -n 5 "$dir/log/start.log")"
    radosgw -n client.rgw >>"$dir/log/start.log" 2>&1
    endpoint=http://127.0.0.1:${ports[1]}
    wait_for "$endpoint/"
}
