# Ids on a node that is leased from a graupel-server, in Python, beside the Node programs of the same group.
#
#   npx graupel-server --leases
#   GRAUPEL_URL=http://127.0.0.1:4728 python3 lease.py 10
#
# It prints ids of layout twitter, one a line. docs/wire.md explains each step. Nothing is installed.
# Not for processes that fork after the lease was made: both would have it.
import json
import os
import random
import socket
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

EPOCH_MS = 1288834974657  # layout twitter: a tick is 1 ms, 10 bits of node at 12, 12 bits of sequence
NODES, SEQUENCES = 1024, 4096
SKEW_MS = 1000  # as maxClockSkewMs in all processes of the group


class Store:
    def __init__(self, url, token=None):
        self.url, self.token, self.name = url, token, None

    def ask(self, path, query=None, body=None):
        """Returns the JSON of an answer. An OSError means that the outcome is not known."""
        url = f'{self.url}/v1/store{path}' + (f'?{urllib.parse.urlencode(query)}' if query else '')
        headers = {'Content-Type': 'application/json', **({'Authorization': f'Bearer {self.token}'} if self.token else {})}
        request = urllib.request.Request(url, None if body is None else json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=2) as answer:
                if answer.headers['graupel-durable'] != 'true':
                    raise RuntimeError('the store may forget: this program does not wait for that, as docs/leases.md explains')
                name = answer.headers['graupel-store']
                self.name = self.name or name
                if name is None or name != self.name or answer.headers['age'] is not None:
                    raise RuntimeError(f'the answer is of the store {name}, not of {self.name}, or of a cache')
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code >= 500 or error.code in (408, 429):
                raise OSError(f'the service answered {error.code}') from error
            raise RuntimeError(json.load(error)['detail']) from error

    def read(self, key):
        return self.ask('/record', {'key': key})['record']

    def write(self, key, value, expected):
        """Writes over a version. Returns the new version, or None if another write came first."""
        value = json.dumps(value)
        end = time.monotonic() + 5
        while True:
            try:
                version = self.ask('/write', body={'key': key, 'value': value, 'expected': expected})['version']
                if version is not None:
                    return version
                # A conflict may be with an earlier attempt of this call. Only an answered write counts, so
                # it is then written again, over its own version.
                found = self.read(key)
                version = found and found['version']
                if found and found['value'] == value:
                    expected = version
                elif version != expected:
                    return None
            except OSError:
                if time.monotonic() > end:
                    raise
            time.sleep(random.uniform(0.01, 0.1))


class Lease:
    def __init__(self, store, namespace='default', window_ms=6000):
        self.store, self.window_ms, self.lock = store, window_ms, threading.Lock()
        self.ids = (
            f'timestamp 41 at 22, sequence 12 at 0, node 0x3ff000; epoch {EPOCH_MS}, tick 1 ms; namespace {namespace}'
        )
        hash = 0x811C9DC5  # FNV-1a
        for byte in self.ids.encode():
            hash = (hash ^ byte) * 0x01000193 & 0xFFFFFFFF
        readable = ''.join(c if c.isascii() and (c.isalnum() or c in '_-') else '_' for c in namespace)[:40]
        self.name = f'{readable}-{hash:08x}'
        self.tick, self.sequence = -1, SEQUENCES
        self.acquire()

    def now(self):
        """The tick that the clock of the store shows."""
        return int(self.store.ask('/time')['nowMs']) - EPOCH_MS

    def put(self, node, expected, **record):
        """Writes the record of a node with a new attempt, and keeps it if that counts."""
        until = time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime((record['ceiling'] + EPOCH_MS) / 1000))
        record = {**record, 'attempt': str(uuid.uuid4()), 'until': until}
        version = self.store.write(f'leases/{self.name}/0/{node}', {'format': 1, 'ids': self.ids, **record}, expected)
        if version is not None:
            self.node, self.version, self.record = node, version, record
        return version is not None

    def acquire(self):
        group = f'groups/{self.name}'
        if self.store.read(group) is None:
            life = {'incarnation': '', 'sinceMs': 0, 'attempt': str(uuid.uuid4())}
            about = {'format': 1, 'ids': self.ids, 'nodes': NODES, 'epochMs': EPOCH_MS, 'tickMs': 1}
            self.store.write(group, {**about, **life}, None)
        for _ in range(8):
            self.begun, now = time.monotonic(), self.now()
            found = self.store.ask('/records', {'folder': f'leases/{self.name}/0/'})['records']
            records = {int(one['key'].rsplit('/')[-1]): (one['version'], json.loads(one['value'])) for one in found}
            if any('damage' in one for one in found) or any(r['ids'] != self.ids or r['format'] != 1 for _, r in records.values()):
                raise RuntimeError('a record is damaged, or for other ids')
            skew = lambda record: -SKEW_MS if record['isReleased'] else SKEW_MS
            free = [n for n in range(NODES) if n not in records or records[n][1]['ceiling'] + skew(records[n][1]) < now]
            if not free:
                raise RuntimeError('all nodes are held')
            node = random.choice([n for n in free if n in records] or free)
            version, old = records.get(node, (None, None))
            # Above every tick that a former holder may have used, and above the ids of this program.
            floor = max(old['ceiling'] if old else now, self.tick + 1)
            lease = {'owner': f'{socket.gethostname()}/{os.getpid()}', 'token': str(uuid.uuid4()), 'windowMs': self.window_ms}
            if self.put(node, version, **lease, floor=floor, ceiling=max(floor, now + self.window_ms), isReleased=False):
                return
        raise RuntimeError('other processes were faster, eight times in a row')

    def renew(self):
        begun, now = time.monotonic(), self.now()
        ceiling = max(self.record['ceiling'], now + self.window_ms)
        # After the ceiling, another process may have the node.
        if now < self.record['ceiling'] and self.put(self.node, self.version, **{**self.record, 'ceiling': ceiling}):
            self.begun = begun
        else:
            self.acquire()

    def next_id(self):
        with self.lock:
            if time.monotonic() - self.begun > self.window_ms / 3000:
                try:
                    self.renew()
                except OSError:
                    pass  # Ids go on up to the ceiling.
            tick = max(int(time.time() * 1000) - EPOCH_MS, self.record['floor'], self.tick)
            if tick == self.tick and self.sequence == SEQUENCES - 1:
                tick += 1
            if tick >= self.record['ceiling']:
                raise RuntimeError('the lease has expired, and the service does not answer')
            self.sequence = self.sequence + 1 if tick == self.tick else 0
            self.tick = tick
            return tick << 22 | self.node << 12 | self.sequence

    def release(self):
        with self.lock:
            ceiling = max(self.record['floor'], min(self.record['ceiling'], self.tick + 1))
            self.record['ceiling'] = ceiling  # Before the write: no id may be made after it.
            self.put(self.node, self.version, **{**self.record, 'isReleased': True})


if __name__ == '__main__':
    store = Store(os.environ.get('GRAUPEL_URL', 'http://127.0.0.1:4728'), os.environ.get('GRAUPEL_TOKEN'))
    lease = Lease(store, os.environ.get('NAMESPACE', 'default'), int(os.environ.get('WINDOW_MS', 6000)))
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 10):
        print(lease.next_id(), flush=True)
        time.sleep(float(os.environ.get('PAUSE', 0)))
    lease.release()
