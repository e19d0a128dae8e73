import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { postgresStore } from '../../../src/stores/postgres.js'
import { asUser, type Server, start } from '../servers.ts'
import { host, load, type Open, type ServerKind } from './kind.ts'

/** @param more - Arguments for the server, such as `-c`, `synchronous_commit=off`. */
export function startPostgres(...more: string[]): Promise<Server> {
  return startOn('initdb', ['-A', 'trust', '-U', 'postgres', '-N', '--no-locale', '-E', 'UTF8'], more)
}

/**
 * Starts a standby that copies a primary and follows it asynchronously.
 *
 * @param linkPort - The port by which the standby follows. Its folder is filled by the primary's own port,
 *   because this thread, which may run the proxy, waits meanwhile.
 */
export function startStandby(primaryPort: number, linkPort: number): Promise<Server> {
  const from = ['-h', host, '-p', `${primaryPort}`, '-U', 'postgres']
  const link = `primary_conninfo=host=${host} port=${linkPort} user=postgres`
  return startOn('pg_basebackup', [...from, '-R', '-c', 'fast', '--no-sync'], ['-c', link])
}

/** @param maker - The program that fills the server's folder. */
function startOn(maker: string, flags: readonly string[], more: readonly string[] = []): Promise<Server> {
  const bin = postgresBin()
  const user = process.getuid?.() === 0 ? 'postgres' : undefined
  return start({
    program: join(bin, 'postgres'),
    words: (port, folder) => [...['-D', folder, '-h', host, '-p', `${port}`, '-k', folder, '-c', 'fsync=off'], ...more],
    prepare(folder) {
      const [program, all] = asUser(user, join(bin, maker), ['-D', folder, ...flags])
      execFileSync(program, all, { stdio: 'ignore', cwd: folder })
    },
    ready: 'ready to accept',
    ...(user !== undefined && { user }),
  })
}

/** The folder of PostgreSQL's programs, which Debian does not put on PATH. */
function postgresBin(): string {
  const root = '/usr/lib/postgresql'
  const [version = 'none'] = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : []
  return join(root, version, 'bin')
}

const postgresClients: Record<string, Open> = {
  async pg(port) {
    const { Pool } = load('pg')
    const client = new Pool({ port, host, user: 'postgres' })
    return { store: postgresStore(client), close: () => client.end() }
  },
  async 'postgres.js'(port) {
    const client = load('postgres')({ port, host, user: 'postgres' })
    return { store: postgresStore(client), close: () => client.end({ timeout: 5 }) }
  },
}

export const postgres: ServerKind = {
  name: 'PostgreSQL',
  missing: () => (existsSync(join(postgresBin(), 'initdb')) ? undefined : 'PostgreSQL (Debian package postgresql)'),
  start: () => startPostgres(),
  url: (port) => `postgres://postgres@${host}:${port}/postgres`,
  clients: postgresClients,
  onWire: (text) => Buffer.from(text).toString('hex'),
}
