import { execFileSync } from 'node:child_process'
import { etcdStore } from '../../../src/stores/etcd.js'
import { freePort, type Server, start } from '../servers.ts'
import { host, missingProgram, type Open, type ServerKind } from './kind.ts'

/** A member of a cluster. Without `members` the cluster has this member alone. */
export interface Member {
  readonly name?: string
  readonly peerPort?: number
  /** The value of `--initial-cluster`. */
  readonly cluster?: string
  readonly scheme?: 'http' | 'https'
  /** A file of `etcdctl snapshot save` from which the member starts. */
  readonly snapshot?: string
}

/** @param more - Arguments for the server, such as `--auto-tls`. */
export async function startEtcd(member: Member = {}, ...more: string[]): Promise<Server> {
  const { name = 'one', peerPort = await freePort(), scheme = 'http', snapshot } = member
  const peer = peerUrl(peerPort)
  const words = (port: number, folder: string) => [
    ...['--name', name, '--data-dir', `${folder}/data`],
    ...[
      '--listen-client-urls',
      `${scheme}://${host}:${port}`,
      '--advertise-client-urls',
      `${scheme}://${host}:${port}`,
    ],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
    ...['--initial-cluster', member.cluster ?? `${name}=${peer}`],
    // At each start a cluster of one member waits for a part of this time; the default is 1000.
    ...['--heartbeat-interval', '50', '--election-timeout', '500'],
    ...more,
  ]
  const prepare = (folder: string) => {
    if (snapshot === undefined) return
    const place = ['--data-dir', `${folder}/data`, '--name', name, '--initial-cluster', `${name}=${peer}`]
    etcdctl(0, 'snapshot', 'restore', snapshot, ...place, '--initial-advertise-peer-urls', peer)
  }
  return start({ program: 'etcd', words, prepare, ready: 'ready to serve client requests' })
}

/** Starts a cluster of three members. */
export async function startEtcdCluster(): Promise<Server[]> {
  const peers = await Promise.all(['a', 'b', 'c'].map(async (name) => ({ name, peerPort: await freePort() })))
  const cluster = peers.map(({ name, peerPort }) => `${name}=${peerUrl(peerPort)}`).join()
  // A member can be used only when the others run.
  return Promise.all(peers.map((peer) => startEtcd({ ...peer, cluster })))
}

/** Asks the members of a cluster, all of which have to run, for their leader. */
export function etcdLeader(members: readonly Server[]): Server {
  for (const member of members) {
    const [{ Status }] = JSON.parse(etcdctl(member.port, 'endpoint', 'status', '-w', 'json'))
    if (Status.leader === Status.header.member_id) return member
  }
  throw new Error('there is no leader')
}

function peerUrl(port: number): string {
  return `http://${host}:${port}`
}

/** Runs etcdctl on a server. */
export function etcdctl(port: number, ...words: string[]): string {
  const env = { ...process.env, ETCDCTL_API: '3' }
  return execFileSync('etcdctl', ['--endpoints', `${host}:${port}`, ...words], { encoding: 'utf8', env, stdio: 'pipe' })
}

/** A server that requires authentication, and has a user `root`. */
export async function startEtcdWithPassword(password: string): Promise<Server> {
  const server = await startEtcd({}, '--bcrypt-cost', '4')
  etcdctl(server.port, 'user', 'add', `root:${password}`)
  etcdctl(server.port, 'user', 'grant-role', 'root', 'root')
  etcdctl(server.port, 'auth', 'enable')
  return server
}

const etcdClients: Record<string, Open> = {
  async fetch(port) {
    return { store: etcdStore({ url: `http://${host}:${port}` }), close() {} }
  },
}

export const etcd: ServerKind = {
  name: 'etcd',
  missing: () =>
    missingProgram('etcd', '--version', 'etcd-server') ?? missingProgram('etcdctl', 'version', 'etcd-client'),
  start: () => startEtcd(),
  url: (port) => `etcd://${host}:${port}`,
  clients: etcdClients,
  isFetched: true,
  // A value stands after the 36 letters of its version, which are 48 letters of base64.
  onWire: (value) => Buffer.from(value).toString('base64'),
}
