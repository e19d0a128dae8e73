import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { postgresStore } from '../../../src/stores/postgres.js'
import { asUser, type Server, start } from '../servers.ts'
import { host, load, type Open, quiet, type ServerKind } from './kind.ts'

/** @param more - Words for the server, such as `-c`, `synchronous_commit=off`. */
export function startPostgres(...more: string[]): Promise<Server> {
  const bin = postgresBin()
  const user = process.getuid?.() === 0 ? 'postgres' : undefined
  return start({
    program: join(bin, 'postgres'),
    words: (port, folder) => [
      '-D',
      folder,
      '-h',
      '127.0.0.1',
      '-p',
      `${port}`,
      '-k',
      folder,
      '-c',
      'fsync=off',
      ...more,
    ],
    prepare(folder) {
      const words = ['-D', folder, '-A', 'trust', '-U', 'postgres', '-N', '--no-locale', '-E', 'UTF8']
      const [program, all] = asUser(user, join(bin, 'initdb'), words)
      execFileSync(program, all, { stdio: 'ignore', cwd: folder })
    },
    ready: 'ready to accept connections',
    ...(user !== undefined && { user }),
  })
}

/** Where Debian keeps PostgreSQL's programs, which are not on PATH. */
function postgresBin(): string {
  const root = '/usr/lib/postgresql'
  const [version = 'none'] = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : []
  return join(root, version, 'bin')
}

const postgresClients: Record<string, Open> = {
  async pg(port) {
    const { Pool } = load('pg')
    const client = quiet(new Pool({ port, host, user: 'postgres' }))
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
  clients: postgresClients,
}
