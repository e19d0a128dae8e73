import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore, type Store } from 'graupel/stores'
import { load, type Opened, postgresClients, redisClients, sqliteClients } from '../../test/stores/clients.ts'
import { eventually } from '../../test/stores/eventually.ts'
import { postgresBin, startPostgres, startRedis } from '../../test/stores/servers.ts'

/** What the tests of stores have: servers on free ports in temporary folders, and clients as a user makes them. */
const servers = {
  redis: { start: () => startRedis(), clients: redisClients },
  postgres: { start: () => startPostgres(), clients: postgresClients },
}

/** A subject's name is that of its server and that of its client. */
function partsOf(name: string) {
  const [kind = '', ...client] = name.split('-')
  return { kind: kind as keyof typeof servers | 'memory' | 'sqlite', client: client.join('-') }
}

/** What is not installed and a store needs. */
export function missingFor(name: string): string | undefined {
  const { kind } = partsOf(name)
  if (kind === 'redis' && spawnSync('redis-server', ['--version']).error) return 'redis-server'
  if (kind === 'postgres' && !existsSync(join(postgresBin(), 'initdb'))) return 'PostgreSQL'
  return undefined
}

export function installClients() {
  console.error('  npm ci in test/stores')
  load('pg')
  load('better-sqlite3', 'better-sqlite3')
}

/** Starts the server of a store, uses one client of it, and ends both whatever happens. */
export async function withStore<T>(name: string, use: (store: Store, port: number) => Promise<T>): Promise<T> {
  const { kind, client } = partsOf(name)
  // The bench ends its children by SIGTERM, a terminal by SIGINT; the server ends with the process.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1))
  const folder = mkdtempSync(join(tmpdir(), 'graupel-bench-'))
  const server = kind === 'redis' || kind === 'postgres' ? await servers[kind].start() : undefined
  let opened: Opened | undefined
  try {
    opened = await open(kind, client, server?.port ?? 0, join(folder, 'fleet.db'))
    const { store } = opened
    await eventually<unknown>(async () => (store.setup ?? store.nowMs)?.())
    return await use(store, server?.port ?? 0)
  } finally {
    await opened?.close()
    await server?.stop()
    rmSync(folder, { recursive: true })
  }
}

async function open(kind: keyof typeof servers | 'memory' | 'sqlite', client: string, port: number, file: string) {
  if (kind === 'memory') return { store: memoryStore(), close() {} }
  const opened = kind === 'sqlite' ? sqliteClients[client]?.(file) : servers[kind].clients[client]?.(port)
  if (opened === undefined) throw new Error(`there is no client '${client}' of ${kind}`)
  return opened
}

/** A store that counts its calls. */
export function counted(inner: Store) {
  const counts = { calls: 0, writes: 0 }
  const store = new Proxy(inner, {
    get(of, name) {
      const part: unknown = Reflect.get(of, name)
      if (typeof part !== 'function') return part
      return (...parameters: unknown[]) => {
        counts.calls++
        if (name === 'write') counts.writes++
        return part.apply(of, parameters)
      }
    },
  })
  return { store, counts }
}
