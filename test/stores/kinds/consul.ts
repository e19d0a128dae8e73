import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { consulStore } from '../../../src/stores/consul.js'
import { freePort, type Server, start, whenUsable } from '../servers.ts'
import { host, type Open, type ServerKind } from './kind.ts'

/** Debian 12 has no package of Consul; `.ci/consul` prints the path of a downloaded program. */
const program = process.env['GRAUPEL_TEST_CONSUL'] ?? 'consul'

/**
 * A server that keeps its data, unlike `consul agent -dev`.
 *
 * @param token - A token that may do everything. If it is given, requests without a token are refused.
 */
export async function startConsul(token?: string): Promise<Server> {
  const [lan, rpc] = [await freePort(), await freePort()]
  const acl = { enabled: true, default_policy: 'deny', tokens: { master: token } }
  const configuration = {
    performance: { raft_multiplier: 1 },
    disable_update_check: true,
    ...(token !== undefined && { acl }),
  }
  const words = (port: number, folder: string) => [
    ...['agent', '-server', '-bootstrap-expect=1', `-data-dir=${folder}/data`, `-config-file=${folder}/consul.json`],
    ...[`-bind=${host}`, `-client=${host}`, `-http-port=${port}`, `-serf-lan-port=${lan}`, `-server-port=${rpc}`],
    ...['-dns-port=-1', '-grpc-port=-1', '-serf-wan-port=-1'],
  ]
  const prepare = (folder: string) => writeFileSync(join(folder, 'consul.json'), JSON.stringify(configuration))
  const server = await start({ program, words, prepare })
  // The server listens before it has elected itself as the leader.
  return whenUsable(server, async () => {
    const headers: Record<string, string> = token === undefined ? {} : { 'x-consul-token': token }
    const { status } = await fetch(`http://${host}:${server.port}/v1/kv/any?consistent`, { headers })
    if (status !== 404) throw new Error(`it answers ${status}`)
  })
}

const consulClients: Record<string, Open> = {
  async fetch(port) {
    return { store: consulStore({ url: `http://${host}:${port}` }), close() {} }
  },
}

export const consul: ServerKind = {
  name: 'Consul',
  missing: () =>
    spawnSync(program, ['version'], { stdio: 'ignore' }).error && 'consul (GRAUPEL_TEST_CONSUL=$(.ci/consul))',
  start: () => startConsul(),
  url: (port) => `consul://${host}:${port}`,
  clients: consulClients,
  isFetched: true,
}
