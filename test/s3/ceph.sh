#!/usr/bin/env bash
# Becomes Ceph's radosgw, an S3 server, with a monitor and one OSD that keeps its data in memory:
#   ceph.sh FOLDER PORT MONITOR_PORT
# The monitor and the OSD end with radosgw. They need no manager (ceph-mgr), and neither root nor a service.
set -euo pipefail
folder=$1 port=$2 monitor_port=$3
export CEPH_CONF=$folder/ceph.conf
cd "$folder"
mkdir mon osd rgw

fsid=$(</proc/sys/kernel/random/uuid)
osd=$(</proc/sys/kernel/random/uuid)
cat >"$CEPH_CONF" <<END
[global]
fsid = $fsid
mon host = v2:127.0.0.1:$monitor_port
public addr = 127.0.0.1
keyring = $folder/keyring
run dir = $folder
log file = $folder/\$name.log
mon data = $folder/mon
osd data = $folder/osd
osd objectstore = memstore
osd crush chooseleaf type = 0
osd pool default size = 1
osd pool default pg num = 1
osd pool default pg autoscale mode = off
mon allow pool size one = true
mon data avail crit = 0
rgw data = $folder/rgw
rgw frontends = beast endpoint=127.0.0.1:$port
END

for name in mon. osd.0 client.admin; do
  ceph-authtool --create-keyring one --gen-key --name "$name" --cap mon 'allow *' --cap osd 'allow *' >/dev/null
  cat one >>keyring
done
monmaptool --create --addv a "v2:127.0.0.1:$monitor_port" --fsid "$fsid" monmap >/dev/null
ceph-mon --mkfs --id a --monmap monmap --keyring keyring

# The kernel ends these processes when this process ends, which is radosgw then.
setpriv --pdeathsig KILL ceph-mon --foreground --id a &
ceph osd new "$osd" >/dev/null
ceph-osd --mkfs --id 0 --osd-uuid "$osd"
setpriv --pdeathsig KILL ceph-osd --foreground --id 0 &

# Waits for the OSD.
radosgw-admin user create --uid test --display-name test --access-key test --secret-key test >/dev/null
exec radosgw --foreground --name client.admin
