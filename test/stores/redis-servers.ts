import { eventually } from '../support/until.ts'
import { host, load } from './kinds/kind.ts'
import { startRedis, startSentinel } from './kinds/redis.ts'
import { freePort, type Server } from './servers.ts'

/** Sends commands to a server, and closes the connection. */
export async function tell(port: number, ...commands: string[][]): Promise<unknown[]> {
  const { Redis } = load('ioredis')
  const client = new Redis({ port, host })
  client.on('error', () => {})
  try {
    const answers: unknown[] = []
    for (const words of commands) answers.push(await client.call(...words))
    return answers
  } finally {
    client.disconnect()
  }
}

/** The servers of one cluster, or of one sentinel. */
interface Servers {
  stop(): Promise<void>
}

/** Starts three primaries, each with a third of the slots. */
export async function startCluster(): Promise<Servers & { servers: Server[] }> {
  // The default is the port plus 10 000, which may be no valid port.
  const busPorts = await Promise.all([0, 1, 2].map(freePort))
  const enabled = ['--cluster-enabled', 'yes', '--cluster-announce-ip', host, '--cluster-port']
  const servers = await Promise.all(busPorts.map((busPort) => startRedis(...enabled, `${busPort}`)))
  const slots = [0, 5461, 10_923, 16_384]
  for (const [i, { port }] of servers.entries()) {
    await tell(port, ['CLUSTER', 'ADDSLOTSRANGE', `${slots[i]}`, `${(slots[i + 1] as number) - 1}`])
    await tell(port, ['CLUSTER', 'SET-CONFIG-EPOCH', `${i + 1}`])
  }
  const [first, ...others] = servers as [Server, ...Server[]]
  for (const [i, { port }] of others.entries()) {
    await tell(first.port, ['CLUSTER', 'MEET', host, `${port}`, `${busPorts[i + 1]}`])
  }
  for (const { port } of servers) {
    await eventually(async () => {
      const [about] = await tell(port, ['CLUSTER', 'INFO'])
      if (!/cluster_state:ok.*cluster_known_nodes:3/s.test(`${about}`)) throw new Error(`no cluster yet: ${about}`)
    })
  }
  return { servers, stop: () => stopAll(servers) }
}

/** Starts a primary, its replica, and a sentinel that watches them. */
export async function startWatched(): Promise<Servers & { primary: Server; sentinel: Server }> {
  const primary = await startRedis()
  const replica = await startReplica(primary)
  const sentinel = await startSentinel(primary)
  await eventually(async () => {
    const [replicas] = await tell(sentinel.port, ['SENTINEL', 'REPLICAS', 'fleet'])
    if ((replicas as unknown[]).length !== 1) throw new Error('the sentinel has not found the replica yet')
  })
  return { primary, sentinel, stop: () => stopAll([sentinel, replica, primary]) }
}

/** Starts a replica, and waits until it has all data of its primary. */
export async function startReplica({ port }: Pick<Server, 'port'>, ...more: string[]): Promise<Server> {
  const replica = await startRedis('--replicaof', host, `${port}`, ...more)
  await eventually(async () => {
    const [about] = await tell(replica.port, ['INFO', 'replication'])
    if (!`${about}`.includes('master_link_status:up')) throw new Error(`not synchronised: ${about}`)
  })
  return replica
}

async function stopAll(servers: readonly Server[]): Promise<void> {
  for (const server of servers) await server.stop()
}
