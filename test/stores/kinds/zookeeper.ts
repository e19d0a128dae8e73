import { existsSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { zookeeperStore } from '../../../src/stores/zookeeper.js'
import { freePort, type Server, start, whenUsable } from '../servers.ts'
import { host, load, missingProgram, type Open, type ServerKind } from './kind.ts'

const jar = '/usr/share/java/zookeeper.jar'

/**
 * @param more - Lines of the configuration. @param id - The server's number among the `server.N=` lines of an
 * ensemble.
 */
export async function startZooKeeper(more: readonly string[] = [], id?: number): Promise<Server> {
  const server = await start({
    program: 'java',
    prepare(folder) {
      if (id !== undefined) writeFileSync(join(folder, 'myid'), `${id}`)
    },
    words: (port, folder) => {
      const lines = [
        ...[`clientPort=${port}`, `clientPortAddress=${host}`, `dataDir=${folder}`, 'maxClientCnxns=0'],
        ...['admin.enableServer=false', '4lw.commands.whitelist=mntr'],
        // Short ticks allow short sessions, which expire at the end of a tick.
        ...['tickTime=250', 'minSessionTimeout=500', 'maxSessionTimeout=40000', 'initLimit=40', 'syncLimit=20'],
        ...more,
      ]
      writeFileSync(join(folder, 'zoo.cfg'), lines.join('\n'))
      return [
        // This makes the server start within a second.
        ...['-Xmx128m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'],
        ...['-Dzookeeper.forceSync=no', '-Dlog4j.rootLogger=OFF', '-cp', jar],
        ...['org.apache.zookeeper.server.quorum.QuorumPeerMain', join(folder, 'zoo.cfg')],
      ]
    },
  })
  // A member of an ensemble can be used only when others run.
  if (id !== undefined) return server
  // The server listens before it can be used.
  return whenUsable(server, async () => {
    const state = await figure(server.port, 'zk_server_state')
    if (state !== 'standalone') throw new Error(`its state is ${state}`)
  })
}

/** Starts an ensemble of three servers. */
export async function startEnsemble(): Promise<Server[]> {
  const lines: string[] = []
  for (const id of [1, 2, 3]) lines.push(`server.${id}=${host}:${await freePort()}:${await freePort()}`)
  return Promise.all([1, 2, 3].map((id) => startZooKeeper(lines, id)))
}

/** Reads a figure of a server, such as `zk_global_sessions` or `zk_server_state`. */
export async function figure(port: number, name: string): Promise<string | undefined> {
  const socket = connect(port, host)
  // A server that is starting may accept a connection and never answer.
  socket.setTimeout(1000, () => socket.destroy(new Error('no answer')))
  socket.write('mntr')
  let text = ''
  for await (const data of socket) text += data
  return new RegExp(`^${name}\\t(.*)$`, 'm').exec(text)?.[1]
}

/** The exports of node-zookeeper-client; see its documentation. */
// biome-ignore lint/suspicious/noExplicitAny: it has no types
export const zookeeper = (): any => load('node-zookeeper-client')

const zookeeperClients: Record<string, Open> = {
  async 'node-zookeeper-client'(port) {
    const { createClient } = zookeeper()
    const store = zookeeperStore(() => createClient(`${host}:${port}`))
    return { store, close: () => store.close() }
  },
}

export const zookeeperKind: ServerKind = {
  name: 'ZooKeeper',
  missing: () =>
    existsSync(jar)
      ? missingProgram('java', '-version', 'default-jre-headless')
      : 'ZooKeeper (Debian package zookeeperd)',
  start: () => startZooKeeper(),
  url: (port) => `zookeeper://${host}:${port}`,
  clients: zookeeperClients,
}
