import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore, type Store } from 'graupel/stores'
import { serverKinds } from '../../test/stores/kinds/index.ts'
import { load, type Opened } from '../../test/stores/kinds/kind.ts'
import { sqliteClients } from '../../test/stores/kinds/sqlite.ts'
import { eventually } from '../../test/support/until.ts'

// Starts the servers and opens the clients of test/stores: on free ports, in temporary folders.

/** Splits the name of a subject into the kind of store and the client. */
function partsOf(name: string) {
  const [kind = '', ...client] = name.split('-')
  return { kind, client: client.join('-') }
}

/** Names a missing program that a store needs. */
export function missingFor(name: string): string | undefined {
  return serverKinds[partsOf(name).kind]?.missing()
}

export function installClients() {
  console.error('  npm ci in test/stores')
  load('pg')
}

/** Starts the server of a store, lets `use` use one client, and ends the client and the server. */
export async function withStore<T>(name: string, use: (store: Store, port: number) => Promise<T>): Promise<T> {
  const { kind, client } = partsOf(name)
  // The bench ends its children by SIGTERM, a terminal by SIGINT; the server ends with the process.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1))
  const folder = mkdtempSync(join(tmpdir(), 'graupel-bench-'))
  const server = await serverKinds[kind]?.start()
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

async function open(kind: string, client: string, port: number, file: string) {
  if (kind === 'memory') return { store: memoryStore({ assumeOneProcess: true }), close() {} }
  const opened = kind === 'sqlite' ? sqliteClients[client]?.(file) : serverKinds[kind]?.clients[client]?.(port)
  if (opened === undefined) throw new Error(`there is no client '${client}' of ${kind}`)
  return opened
}

/** Wraps a store, and counts its calls. */
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
