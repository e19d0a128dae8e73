import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ZooKeeperStoreOptions, zookeeperStore } from '../../../src/stores/zookeeper.js'
import { type Server, start } from '../servers.ts'
import { host, load, missingProgram, type Open, type ServerKind } from './kind.ts'

const jar = '/usr/share/java/zookeeper.jar'

/** @param more - Lines of its configuration, such as `server.1=…`. */
export function startZooKeeper(...more: string[]): Promise<Server> {
  return start({
    program: 'java',
    words: (port, folder) => {
      const lines = [
        `clientPort=${port}`,
        ...[`clientPortAddress=${host}`, `dataDir=${folder}`, 'admin.enableServer=false', 'maxClientCnxns=0'],
        // Sessions last for two to forty ticks, and expire at the end of one.
        ...['tickTime=250', 'initLimit=40', 'syncLimit=20'],
        ...more,
      ]
      writeFileSync(join(folder, 'zoo.cfg'), lines.join('\n'))
      return [
        // For a start within a second.
        ...['-Xmx128m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto'],
        ...['-Dzookeeper.forceSync=no', '-Dlog4j.rootLogger=OFF', '-cp', jar],
        ...['org.apache.zookeeper.server.quorum.QuorumPeerMain', join(folder, 'zoo.cfg')],
      ]
    },
  })
}

/** A client's constructor and what belongs to it; see its documentation. */
// biome-ignore lint/suspicious/noExplicitAny: it has no types
export const zookeeper = (): any => load('node-zookeeper-client')

/** A store whose sessions expire within a second or two. */
export function storeAt(port: number, options: ZooKeeperStoreOptions = {}) {
  return zookeeperStore(() => zookeeper().createClient(`${host}:${port}`, { sessionTimeout: 1000 }), options)
}

export const zookeeperClients: Record<string, Open> = {
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
  clients: zookeeperClients,
}
