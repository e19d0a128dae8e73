import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { StoreUrl } from '../../src/stores/url/url.js'
import { spawnGraupel } from '../support/cli.js'
import { copyPackage } from '../support/package-copy.ts'
import { graupelIn, projectWith } from './fleet.ts'

/** Installs the package without any client, and returns the path of its command line. */
function programAlone(): string {
  alone ??= projectWith()
  const place = join(alone, 'node_modules/graupel')
  if (!existsSync(place)) copyPackage(place)
  return join(place, 'dist/cli/main.js')
}
let alone: string | undefined

/** Runs `graupel`, which has to fail, and returns its message of one line. */
function failureOf(words: readonly string[], variables: Record<string, string> = {}): string {
  const { status, stdout, stderr } = spawnGraupel(words, variables)
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toMatch(/^graupel: [^\n]*\n$/)
  return stderr
}

describe('--store', () => {
  const known =
    'redis:, rediss:, postgres:, postgresql:, mysql:, mariadb:, dynamodb:, mongodb:, mongodb+srv:, etcd:, etcds:, zookeeper:, zk:, consul:, consuls:, kubernetes:, kubernetes+http:, s3:, az:, gs:, sqlite:, graupel+http:, graupel+https:'

  it.each<[string[], string | RegExp]>([
    [
      ['--store', 'cassandra://u:secret@h/db'],
      `--store begins with cassandra:; the stores are ${known} (ERR_OPTION_INVALID)`,
    ],
    [['--store', 'localhost:6379'], '--store begins with localhost:; the stores are '],
    [['--store', 'secret'], '--store is no URL; give one such as redis://127.0.0.1:6379 or sqlite:fleet.db'],
    [['--store', ''], '--store is no URL'],
    [['--store'], '--store has no value; write --store URL'],
    [['--store', 'sqlite:a', '--store', 'sqlite:b'], '--store was given twice; give it once'],
    [['--store', 'sqlite:'], '--store has no path of a file; write sqlite: and the path'],
    [['--store', 'sqlite::memory:'], '--store has no path of a file'],
    [['--store', 'sqlite://u:secret@host/fleet.db'], '--store has no path of a file'],
    [['--store', 'sqlite:a', '--prefix', 'p'], '--prefix is not for sqlite:; leave it out'],
    [['--store', 'etcd:host'], '--store has no host; write etcd://127.0.0.1:2379'],
    [['--store', 'etcds://u:secret@'], '--store has no host; write etcds://127.0.0.1:2379'],
    [['--store', 'etcd://h,,i'], '--store has no host'],
    [
      ['--store', 'etcd://secret@h'],
      '--store has a user without a password, or a password without a user; give user and password',
    ],
    [['--store', 'etcd://h?token=secret'], '--store has parameters that etcd: does not have; there are none'],
    [
      ['--store', 'consul://h?dc=1'],
      '--store has parameters that consul: does not have; there are datacenter and namespace',
    ],
    [['--store', 'consul://h?datacenter='], 'datacenter is empty; pass a text, or leave it out'],
    [['--store', 'consul://h', '--table', 't'], '--table is not for consul:; leave it out'],
    [
      ['--store', 'mysql://u:secret@h/db?ssl=REQUIRED'],
      '--store has an ssl that is not true or false; write ssl=true for TLS',
    ],
    [['--store', 'mysql:secret'], '--store is no URL of a database; write mysql://USER:PASSWORD@HOST:3306/DATABASE'],
    [['--store', 'mariadb://u:secret#@h/d'], '--store is no URL of a database; write mariadb://USER'],
    [['--store', 'mysql://h/db?tls=true'], '--store has parameters that mysql: does not have; there are ssl'],
    [['--store', 'zk://h?chroot=a'], '--store has parameters that zk: does not have; there are none'],
    [['--store', 'zk://u:secret@'], '--store has no host; write zk://127.0.0.1:2181, or several with commas'],
    [['--store', 'kubernetes:', '--table', 't'], '--table is not for kubernetes:; leave it out'],
    [
      ['--store', 'dynamodb://u:secret@eu-west-1'],
      '--store has no region; write dynamodb://REGION/TABLE without credentials',
    ],
    [['--store', 'dynamodb:secret'], '--store has no region; write dynamodb://REGION/TABLE'],
    [
      ['--store', 'dynamodb://eu-west-1?endpoint=secret'],
      '--store has an endpoint that is no URL; write endpoint=http',
    ],
    [['--store', 'dynamodb://eu-west-1/a', '--table', 'b'], '--table is in the URL already; leave out one of the two'],
    [['--store', 'mongodb://u:secret@h'], '--store has no database; write mongodb://USER:PASSWORD@HOST/DATABASE'],
    [['--store', 'redis://u:secret@h/orders'], '--store has a database that is not a number; write'],
    [['--store', 'redis://h?db=secret'], '--store has parameters that redis: does not have; there are none'],
    [['--store', 'redis://h', '--table', 't'], '--table is not for redis:; leave it out'],
  ])('is refused as in %j', async (words, message) => {
    const folder = projectWith(
      'libsql',
      'ioredis',
      'mysql2',
      'node-zookeeper-client',
      '@aws-sdk/client-dynamodb',
      'mongodb',
    )
    for (const command of [['lease', 'list'], ['next']]) {
      const { status, stdout, stderr } = await graupelIn(folder, [...command, ...words])
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
      expect(stderr).toMatch(/^graupel: [^\n]*\n$/)
      expect(stderr).toContain(message)
      expect(stderr).not.toContain('secret')
    }
  })

  it.each([
    [['lease', 'list'], /--store is missing; write --store URL/],
    [['lease', '--store', 'sqlite:x'], /lease has no verb; write graupel lease list or graupel lease forget/],
    [['lease', 'drop', '--store', 'sqlite:x'], /lease has no verb 'drop'/],
    [['lease', 'list', 'a', 'redis://u:secret@h', '--store', 'redis://h'], /and 'redis:\/\/\*\*\*@h' is a second/],
    [['lease', 'redis://u:secret@h'], /lease has no verb 'redis:\/\/\*\*\*@h'/],
    [['next', 'redis://u:secret@h'], /^graupel: 'redis:\/\/\*\*\*@h' is not the value of a flag/],
    [['lease', 'list', '--yes', '--store', 'sqlite:x'], /--yes is for lease forget; leave it out/],
    [
      ['lease', 'list', '--stroe=redis://u:secret@h'],
      /there is no flag --stroe \(did you mean --store\?\); see graupel lease --help/,
    ],
    [['next', '--node', '1', '--table', 't'], /--table is for --store; leave it out/],
    [['next', '--node', '1', '--acquire-timeout-ms', '1'], /--acquire-timeout-ms is for --store; leave it out/],
    [['next', '--store', 'sqlite:x', '--state', 'process'], /--state is for a node that is not leased/],
  ])('is refused in %j', (words, message) => {
    const line = failureOf(words)
    expect(line).toMatch(message)
    expect(line).not.toContain('secret')
  })

  it.each([
    ['redis://h', 'npm install ioredis (redis or @valkey/valkey-glide will do, too)'],
    ['rediss://u:secret@h', 'npm install ioredis'],
    ['mysql://u:secret@h/db', 'npm install mysql2 (mariadb will do, too)'],
    ['mariadb://h/db', 'npm install mysql2'],
    ['postgres://u:secret@h/db', 'npm install pg (postgres will do, too)'],
    ['postgresql://h/db', 'npm install pg'],
    ['zookeeper://u:secret@h', 'npm install node-zookeeper-client'],
  ])('%s without a client says how to install one', (url, command) => {
    const folder = projectWith()
    // The program of the repository would find the clients of the service.
    const words = [programAlone(), 'lease', 'list', '--store', url]
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8' })
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/^graupel: no client for [^\n]* \(ERR_STORE_UNAVAILABLE\)\n$/)
    expect(stderr).toContain(`can be loaded from ${folder}; run: ${command}`)
    expect(stderr).not.toContain('clientsOf')
    expect(stderr).not.toContain('secret')
  })

  it('says why an installed client cannot be loaded, and uses another client', async () => {
    const folder = projectWith()
    const broken = join(folder, 'node_modules/libsql')
    mkdirSync(broken, { recursive: true })
    writeFileSync(join(broken, 'index.js'), "throw new Error('made for another Node\\nand more')")
    const words = ['next', '--store', 'sqlite:fleet.db']
    const { stderr } = await graupelIn(folder, words)
    // Uses node:sqlite if Node has it.
    if (stderr !== '' && !stderr.includes('experimental')) {
      expect(stderr).toMatch(
        /^graupel: libsql is installed, but cannot be loaded: made for another Node; no client for /,
      )
    }
    const fake = join(folder, 'node_modules/better-sqlite3')
    mkdirSync(fake, { recursive: true })
    writeFileSync(
      join(fake, 'index.js'),
      'module.exports = class { constructor(file) { throw new Error("took " + file) } }',
    )
    const { stderr: other } = await graupelIn(folder, words)
    expect(other).toBe(
      `graupel: sqlite:fleet.db cannot be opened: took ${join(folder, 'fleet.db')} (ERR_STORE_UNAVAILABLE)\n`,
    )
  })

  it('is never shown with its credentials, not even in a message of a client', async () => {
    const folder = projectWith()
    const fake = join(folder, 'node_modules/ioredis')
    mkdirSync(fake, { recursive: true })
    // Errors in events, even late ones, must not end the process. An open connection must not keep it alive.
    writeFileSync(
      join(fake, 'index.js'),
      `exports.Redis = class extends require('node:events') {
        constructor(url) { super(); this.url = url; setInterval(() => this.emit('error', new Error('again')), 10) }
        options = {}
        async connect() {
          this.emit('error', new Error('no entry with ' + this.url + ' by ' + decodeURIComponent(new URL(this.url).password)))
          throw new Error('closed')
        }
      }`,
    )
    const url = 'redis://user:s%40cret@host:6379/3'
    const { status, stderr } = await graupelIn(folder, ['lease', 'list', '--store', url])
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr:
        'graupel: redis://***@host:6379/3 cannot be opened: no entry with redis://***@host:6379/3 by *** (ERR_STORE_UNAVAILABLE)\n',
    })
  })
})

describe('the URL of a store', () => {
  it.each([
    ['redis://127.0.0.1:6379/1', 'redis://127.0.0.1:6379/1'],
    ['REDISS://user:pw@host', 'rediss://***@host'],
    ['redis://:pw@host', 'redis://***@host'],
    ['redis://pw@host', 'redis://***@host'],
    ['postgres://u:p@ss/w?rd@host:1/db?sslmode=require', 'postgres://***@host:1/db'],
    ['postgres://h/db?user=u&password=pw', 'postgres://h/db'],
    ['postgres://[::1]:5432/db', 'postgres://[::1]:5432/db'],
    ['sqlite:/var/a@b?.db', 'sqlite:/var/a@b?.db'],
    ['zookeeper://u:p@ss@h1:1,h2:2/a/b', 'zookeeper://***@h1:1,h2:2/a/b'],
  ])('%s is shown as %s', (text, shown) => {
    expect(new StoreUrl(text).shown).toBe(shown)
  })

  it.each([
    ['redis://user:p%40w@host', 'p%40w and p@w', '*** and ***'],
    ['redis://user:pw@host', 'user may not, with pw', 'user may not, with ***'],
    ['redis://pw@host', 'pw is wrong', '*** is wrong'],
    ['postgres://h/db?user=u&password=pw', 'u with pw', 'u with ***'],
    ['redis://user:%zz@host', '%zz', '***'],
    ['kubernetes://host/a?token-file=/run/token', 'no /run/token', 'no /run/token'],
    ['redis://host', 'nothing', 'nothing'],
  ])('%s hides its password in %j', (text, message, hidden) => {
    expect(new StoreUrl(text).hide(message)).toBe(hidden)
  })
})
