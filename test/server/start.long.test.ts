import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { load } from '../stores/kinds/kind.ts'
import { redis } from '../stores/kinds/redis.ts'
import { freePort } from '../stores/servers.ts'
import { describeWith, libfaketime, withoutRootsRights } from '../support/needs.ts'
import { until } from '../support/until.ts'
import { folder, type Launch, nodeOf, run, serve, type Variables } from './support/process.ts'

let folders = 0
const dataFolder = () => join(folder, `data ${folders++}`)

async function textOf(url: string): Promise<string> {
  return (await fetch(url)).text()
}

/** Makes a database with a page of content. */
function makeDatabase(file: string): void {
  const Database = load('libsql')
  const database = new Database(file)
  database.exec("CREATE TABLE other (text TEXT); INSERT INTO other VALUES ('x')")
  database.close()
}

async function stop({ child, ended }: Awaited<ReturnType<typeof serve>>): Promise<void> {
  child.kill('SIGINT')
  expect(await ended).toBe(0)
}

test('after a restart it has its former node, and numbers go on', async () => {
  const flags = ['--data', dataFolder()]
  const first = await serve(flags)
  expect(await textOf(`${first.url}/v1/counters/invoices?count=2`)).toBe('{"counts":["1","2"]}')
  await stop(first)
  const second = await serve(flags)
  expect(nodeOf(second.stdout())).toBe(nodeOf(first.stdout()))
  expect(await textOf(`${second.url}/v1/counters/invoices`)).toBe('{"counts":["3"]}')
})

test('two services on one folder have different nodes, and share numbers', async () => {
  const flags = ['--data', dataFolder()]
  const both = await Promise.all([serve(flags), serve(flags)])
  expect(nodeOf(both[0].stdout())).not.toBe(nodeOf(both[1].stdout()))
  const answers = await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      const { url } = both[i % 2] as (typeof both)[0]
      const { counts } = (await (await fetch(`${url}/v1/counters/invoices`)).json()) as { counts: string[] }
      return Number(counts[0])
    }),
  )
  expect(answers.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1))
})

test('after SIGKILL it starts at once, on another node', async () => {
  const flags = ['--data', dataFolder(), '--acquire-timeout-ms', '0']
  const first = await serve(flags)
  await textOf(`${first.url}/v1/counters/invoices`)
  first.child.kill('SIGKILL')
  await first.ended
  const second = await serve(flags)
  expect(nodeOf(second.stdout())).not.toBe(nodeOf(first.stdout()))
  expect(await textOf(`${second.url}/v1/counters/invoices`)).toBe('{"counts":["2"]}')
})

describe('it ends with one line and exit code 1 if', () => {
  const failed = async (flags: string[], ...how: [Variables?, Launch?]): Promise<string> => {
    const { ended, stdout, stderr } = run(['--log-level', 'silent', ...flags], ...how)
    expect(await ended).toBe(1)
    expect(stdout()).toBe('')
    expect(stderr()).toMatch(/^graupel-server: [^\n]+\n$/)
    return stderr()
  }

  test('the port is taken', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const line = await failed(['--data', dataFolder(), '--port', `${port}`])
    other.close()
    expect(line).toContain(
      `cannot listen on 127.0.0.1:${port}, which another program uses; give another --port, or 0 for any free port (ERR_ADDRESS_UNAVAILABLE)`,
    )
  })

  test('the address does not belong to this host', async () => {
    const line = await failed(['--data', dataFolder(), '--host', '192.0.2.1', '--allow-anonymous', '--port', '0'])
    expect(line).toContain('cannot listen on 192.0.2.1:0, which is no address of this host; give another --host')
  })

  test.each([
    ['is a file', (data: string) => writeFileSync(data, ''), dataFolder()],
    ['cannot be made', () => {}, '/proc/graupel'],
  ])('the data folder %s', async (_, make, data) => {
    make(data)
    const line = await failed(['--data', data, '--port', '0'])
    expect(line).toMatch(
      /\/graupel\.db cannot be written \(EN?[A-Z]+\); give a folder that this user may write as --data/,
    )
  })

  test.each([
    ['no database', (file: string) => writeFileSync(file, 'no database'.repeat(100)), 'file is not a database'],
    [
      'a database with pages of something else',
      (file: string) => {
        makeDatabase(file)
        const content = readFileSync(file)
        writeFileSync(file, content.fill(0xa5, 100))
      },
      'database disk image is malformed',
    ],
  ])('the file in the data folder is %s', async (_, make, reason) => {
    const data = dataFolder()
    mkdirSync(data)
    make(join(data, 'graupel.db'))
    const line = await failed(['--data', data, '--port', '0'])
    expect(line).toContain(`${reason}; restore the file from a backup, or start anew with another folder as --data`)
    expect(line).toContain('(ERR_DATA_UNAVAILABLE)')
  })

  describeWith(['linux'], 'the disk is full:', () => {
    test('the file is to be kept, because another one would count from the start again', async () => {
      const data = dataFolder()
      const by = (command: readonly string[]) => ['sh', '-c', 'ulimit -f 4; exec "$@"', 'sh', ...command]
      const line = await failed(['--data', data, '--port', '0'], {}, { by })
      expect(line).toMatch(/disk I\/O error|disk is full/)
      expect(line).toContain('free space on its disk, or repair the disk, and keep the file')
      expect(line).not.toContain('another folder')
    })
  })

  describeWith(['linux', 'root', 'setpriv'], 'modes forbid it:', () => {
    test.each([
      ['the data folder belongs to another user', (data: string) => chownSync(data, 65_534, 65_534)],
      ['the data folder is read-only', (data: string) => chmodSync(data, 0o500)],
      ['the database is read-only', (data: string) => chmodSync(join(data, 'graupel.db'), 0o400)],
    ])('%s', async (_, forbid) => {
      const data = dataFolder()
      mkdirSync(data, 0o700)
      makeDatabase(join(data, 'graupel.db'))
      forbid(data)
      const line = await failed(['--data', data, '--port', '0'], {}, { by: withoutRootsRights })
      expect(line).toContain(
        `${data}/graupel.db cannot be written (EACCES); give a folder that this user may write as --data`,
      )
    })
  })

  describeWith(['faketime', redis.missing], 'the clock of the host', () => {
    test('differs from the clock of the store', async () => {
      const server = await redis.start()
      const clock = { LD_PRELOAD: libfaketime(), FAKETIME: '-10m', FAKETIME_DONT_FAKE_MONOTONIC: '1' }
      const line = await failed(
        ['--store', `redis://127.0.0.1:${server.port}`, '--assume-durable', '--port', '0'],
        clock,
      )
      await server.stop()
      expect(line).toMatch(/clock.* \(ERR_CLOCK_SKEW\)$/m)
    })
  })

  test('the store does not answer, without the password of its URL', async () => {
    const line = await failed(['--store', 'redis://:s3cret@127.0.0.1:1'])
    expect(line).toMatch(
      /redis:\/\/\*\*\*@127\.0\.0\.1:1 cannot be opened: .*ECONNREFUSED.* \(ERR_STORE_UNAVAILABLE\)$/m,
    )
    expect(line).not.toContain('s3cret')
  })

  test('every node is taken', async () => {
    const flags = ['--data', dataFolder(), '--nodes', '5-5', '--acquire-timeout-ms', '0', '--port', '0']
    await serve(flags.slice(0, -2))
    expect(await failed(flags)).toMatch(/every node that this lease may have is held: .* \(ERR_NODES_EXHAUSTED\)$/m)
  })
})

test.each([
  ['a node that the layout does not have', ['--node', '1024'], /1024/],
  ['a store that there is not', ['--store', 'cassandra://127.0.0.1'], /store begins with cassandra:/],
  [
    "a prefix that the store's keys do not have",
    ['--prefix', 'x', '--store', 'postgres://127.0.0.1'],
    /prefix is not for/,
  ],
])('it ends with exit code 2 for %s', async (_, flags, line) => {
  const { ended, stderr } = run(['--log-level', 'silent', '--port', '0', ...flags])
  expect(await ended).toBe(2)
  expect(stderr()).toMatch(/^graupel-server: [^\n]+\n$/)
  expect(stderr()).toMatch(line)
})

test('while it waits for a node it is alive, not ready, and makes no id', async () => {
  const flags = ['--data', dataFolder(), '--nodes', '5-5']
  const holder = await serve(flags)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const waiting = run([...flags, '--port', `${port}`])
  await until(() =>
    fetch(`${url}/livez`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  const ready = await fetch(`${url}/readyz`)
  expect(ready.status).toBe(503)
  expect(await ready.text()).toContain("no node of layout 'twitter' is leased")
  const ids = await fetch(`${url}/v1/ids`)
  expect(ids.status).toBe(503)
  expect(Number(ids.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(waiting.stdout()).toBe('')
  await stop(holder)
  await until(() => waiting.stdout().includes(', node 5 (twitter)'))
  expect(await textOf(`${url}/readyz`)).toBe('ok\n')
})

test('each of several layouts has a node', async () => {
  const { url, stdout } = await serve(['--data', dataFolder(), '--layouts', 'twitter,sonyflake'])
  expect(stdout()).toMatch(/, node \d+ \(twitter\), node \d+ \(sonyflake\), sqlite:/)
  expect(await textOf(`${url}/v1/ids?layout=sonyflake`)).toMatch(/^\{"ids":\["\d+"\]\}$/)
})
