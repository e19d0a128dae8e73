import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type MysqlPool, mysqlStore } from '../../../src/stores/mysql.js'
import { asUser, type Server, start } from '../servers.ts'
import { host, load, missingProgram, type Open, type ServerKind } from './kind.ts'

export const database = 'graupel'

/** @param more - Arguments for the server, such as `--autocommit=0`. */
export function startMysql(...more: string[]): Promise<Server> {
  const user = process.getuid?.() === 0 ? 'mysql' : undefined
  return start({
    program: 'mariadbd',
    words: (port, folder) => [
      ...['--no-defaults', `--datadir=${folder}/data`, '--bind-address=127.0.0.1', `--port=${port}`],
      ...[`--socket=${folder}/socket`, `--pid-file=${folder}/pid`, `--tmpdir=${folder}`],
      ...sizes,
      ...more,
    ],
    prepare(folder) {
      const data = join(folder, 'data')
      cpSync(template(user), data, { recursive: true })
      if (user !== undefined) giveTo(user, data)
    },
    ready: 'ready for connections',
    ...(user !== undefined && { user }),
  })
}

/** The files are small, so they are copied fast. Nothing has to survive a loss of power. */
const sizes = [
  ...['--innodb-log-file-size=4M', '--innodb-data-file-path=ibdata1:4M:autoextend', '--innodb-buffer-pool-size=16M'],
  ...['--innodb-flush-log-at-trx-commit=2', '--max-connections=1000'],
]

let made: string | undefined

/** The folder of an unused server. Copying it for each server is faster than making a new folder. */
function template(user: string | undefined): string {
  if (made !== undefined) return made
  const folder = mkdtempSync(join(tmpdir(), 'graupel-mariadb-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  if (user !== undefined) giveTo(user, folder)
  const words = [
    ...['--no-defaults', `--datadir=${folder}/data`, `--tmpdir=${folder}`, '--auth-root-authentication-method=normal'],
    ...['--skip-test-db', '--skip-name-resolve', ...sizes],
  ]
  const [program, all] = asUser(user, 'mariadb-install-db', words)
  execFileSync(program, all, { stdio: 'ignore', cwd: folder })
  made = join(folder, 'data')
  // In MySQL a database is a folder.
  mkdirSync(join(made, database))
  return made
}

function giveTo(user: string, folder: string): void {
  execFileSync('chown', ['-R', `${user}:`, folder])
}

type Pool = MysqlPool & { end(): unknown }
type OpenPool = (port: number, options?: object) => Pool

/** Makes a pool of each client. @param options - Options in addition to the server's address. */
export const mysqlPools: Record<'mysql2' | 'mysql2 callbacks' | 'mariadb', OpenPool> = {
  mysql2: (port, options) => load('mysql2/promise').createPool(optionsOf(port, options)),
  'mysql2 callbacks': (port, options) => load('mysql2').createPool(optionsOf(port, options)),
  mariadb: (port, options) => load('mariadb').createPool(optionsOf(port, options)),
}

function optionsOf(port: number, options: object = {}) {
  return { host, port, user: 'root', database, ...options }
}

function opens(client: keyof typeof mysqlPools): Open {
  return async (port) => {
    const pool: Pool = mysqlPools[client](port)
    return { store: mysqlStore(pool), close: () => pool.end() }
  }
}

const mysqlClients: Record<string, Open> = {
  mysql2: opens('mysql2'),
  'mysql2 callbacks': opens('mysql2 callbacks'),
  mariadb: opens('mariadb'),
}

export const mysql: ServerKind = {
  name: 'MySQL',
  missing: () => missingProgram('mariadbd', '--version', 'mariadb-server'),
  start: () => startMysql(),
  url: (port) => `mysql://root@${host}:${port}/${database}`,
  clients: mysqlClients,
  onWire: (text) => Buffer.from(text).toString('hex'),
}
