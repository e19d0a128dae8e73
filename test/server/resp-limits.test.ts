import { writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { decode, layouts } from 'graupel'
import { describe, expect, it, vi } from 'vitest'
import { isLingering } from '../../server/src/http/connections.ts'
import { until } from '../support/until.ts'
import { seriesOf, startService } from './support/in-process.ts'
import { folder, serve } from './support/process.ts'
import { command, type Reply, RespClient } from './support/resp.ts'

const service = await startService({ resp: 0 })
/** For tests of the time limit alone: on a busy machine, the first command may come too late for it. */
const impatient = await startService({ resp: 0, requestTimeoutMs: 1000 })

/** Sends bytes on a connection of its own, and resolves to all replies when the service has closed it. */
async function allTo(text: string, url = service.respUrl): Promise<Reply[]> {
  const own = await RespClient.open(url)
  own.socket.write(Buffer.from(text, 'latin1'))
  return told(await own.read(Number.POSITIVE_INFINITY))
}

function told(replies: readonly Reply[]): Reply[] {
  return replies.map((reply) => (reply instanceof Error ? reply.message : reply))
}

describe('bytes that are no command end the connection, after the answers to the commands before', () => {
  it.each([
    ['an inline command', 'PING\r\n', /^ERR Protocol error: byte 80 came instead of '\*'; send arrays of bulk strings/],
    ['a request over HTTP', 'POST / HTTP/1.1\r\nHost: a\r\n\r\n', /byte 80 came/],
    ['an empty line', '\r\n', /byte 13 came/],
    ['no words', '*0\r\n', /a command has no word/],
    ['a negative number of words', '*-1\r\n', /a length is no whole number from 0 up/],
    ['too many words', '*1025\r\n', /a length is above 1024/],
    ['a huge number of words', '*2147483647\r\n', /a length is above 1024/],
    ['a negative length', '*1\r\n$-1\r\n', /a length is no whole number/],
    ['a huge length', '*1\r\n$536870912\r\n', /a length is above 8192/],
    ['a length in hex', '*1\r\n$0x4\r\nPING\r\n', /a length is no whole number/],
    [
      'many words of some bytes',
      `*1000\r\n${'$20\r\n'.padEnd(27, 'a')}\r\n`.repeat(500),
      /byte 97|longer than|8192|instead of/,
    ],
    ['a long command', `*900\r\n${`$5\r\naaaaa\r\n`.repeat(900)}`, /a command has more than 8192 bytes/],
    ['a list in a command', '*2\r\n$4\r\nECHO\r\n*1\r\n$1\r\na\r\n', /byte 42 came instead of '\$'/],
    ['a wrong length', '*1\r\n$3\r\nPING\r\n', /a word is longer than its length says/],
    ['a line feed alone', '*1\n$4\nPING\n', /a length is no whole number/],
    ['a carriage return alone', '*1\r$4\r', /a line does not end with CR LF/],
  ])('%s', async (_, text, message) => {
    expect(await allTo(text)).toEqual([expect.stringMatching(message)])
    const after = await allTo(command('INCR', 'before') + command('PING') + text + command('PING'))
    expect(after).toEqual([expect.any(Number), 'PONG', expect.stringMatching(message)])
  })
})

it('half a command that stays so, and a connection that sends nothing, are closed in time', async () => {
  const half = await allTo(`${command('PING')}*2\r\n$4\r\nIN`, impatient.respUrl)
  expect(half).toEqual(['PONG', 'ERR_REQUEST_TIMEOUT the command did not arrive in time; send all of it at once'])
  const first = await allTo('*2\r\n$4\r\nIN', impatient.respUrl)
  expect(first).toEqual(half.slice(1))
  expect(await allTo('', impatient.respUrl)).toEqual([])
})

it('half a command of which a byte comes now and then is closed in time', async () => {
  const own = await RespClient.open(impatient.respUrl)
  const timer = setInterval(() => own.socket.write('1'), 20)
  own.socket.write('*1\r\n$900\r\n')
  expect(told(await own.read(Number.POSITIVE_INFINITY))).toEqual([expect.stringMatching(/^ERR_REQUEST_TIMEOUT/)])
  clearInterval(timer)
})

it('a client that ends its side after its commands gets all answers', async () => {
  const own = await RespClient.open(service.respUrl)
  own.socket.end(command('ID.NEXT', 20_000).repeat(3))
  expect((await own.read(Number.POSITIVE_INFINITY)).flat().length).toBe(60_000)
})

it('an idle connection is closed after --keep-alive-ms', async () => {
  const { respUrl } = await startService({ resp: 0, keepAliveMs: 100 })
  expect(await allTo(command('PING'), respUrl)).toEqual(['PONG'])
})

it('an idle connection is closed after --keep-alive-ms, although a batch took longer than that', async () => {
  const { respUrl, service } = await startService({ resp: 0, keepAliveMs: 100, respCounters: 'c:' })
  const get = vi.spyOn(service.counters, 'get')
  const own = await RespClient.open(respUrl)
  expect(await own.ask('PING')).toBe('PONG')
  get.mockResolvedValue({
    take: async () => {
      await sleep(400)
      return ['1']
    },
  } as never)
  expect(await own.ask('INCR', 'c:slow')).toBe(1)
  const ended = own.read(Number.POSITIVE_INFINITY)
  expect(await Promise.race([ended, sleep(10_000)])).toEqual([])
})

it.each([
  ['half a command', '*1\r\n$4\r\nPI'],
  ['MULTI', command('MULTI')],
])('a connection that ends in the middle of a batch, with %s behind it, is forgotten', async (_, behind) => {
  const { app, respUrl, service } = await startService({ resp: 0, respCounters: 'c:', requestTimeoutMs: 1000 })
  let give = () => {}
  let isAsked = false
  service.counters.get = async () =>
    ({
      take: () => {
        isAsked = true
        return new Promise((resolve) => {
          give = () => resolve(['1'])
        })
      },
    }) as never
  const own = await RespClient.open(respUrl)
  own.socket.write(command('INCR', 'c:slow') + behind)
  await until(() => isAsked)
  own.socket.resetAndDestroy()
  await until(async () => (await seriesOf(app, 'graupel_connections')) === 0)
  give()
  // The command behind the batch would be late.
  await sleep(1300)
  await until(() => !isLingering())
})

it('a million commands whose answers are not read wait in the client, and others are served', async () => {
  const own = await RespClient.open(service.respUrl)
  const beside = await RespClient.open(service.respUrl)
  own.socket.pause()
  const issued = () => seriesOf(service.app, 'graupel_ids_total{kind="id",name="twitter"}')
  for (let part = 0; part < 100; part++) own.socket.write(command('GET', 'id:twitter').repeat(10_000))
  // The buffers of the kernel are full when no more ids are made.
  let last: number | undefined
  for (let turns = 0; turns < 30; turns++) {
    expect(await beside.ask('PING')).toBe('PONG')
    const now = await issued()
    if (now !== last || now === 0) turns = 0
    last = now
  }
  expect(last).toBeLessThan(600_000)
  own.socket.resume()
  expect(new Set(await own.read(1_000_000)).size).toBe(1_000_000)
  for (const { socket } of [own, beside]) socket.destroy()
})

it('a connection with many commands lets others have their turn after each write', async () => {
  const [own, beside] = [await RespClient.open(service.respUrl), await RespClient.open(service.respUrl)]
  const order: string[] = []
  const { write } = Socket.prototype
  const spy = vi.spyOn(Socket.prototype, 'write').mockImplementation(function (this: Socket, ...all: unknown[]) {
    const text = `${all[0]}`
    if (text.startsWith('-ERR unknown command') && order.push('refusals') === 1) beside.socket.write(command('PING'))
    if (text === '+PONG\r\n') order.push('PONG')
    return Reflect.apply(write, this, all) as boolean
  })
  // As many bytes as the service reads at once.
  const count = Math.floor(65_536 / command('X').length)
  await own.send(command('X').repeat(count), count)
  spy.mockRestore()
  expect(order.indexOf('PONG')).toBeLessThanOrEqual(3)
  expect(order.length).toBeGreaterThan(10)
  for (const { socket } of [own, beside]) socket.destroy()
})

it('ids under way count for the same limit as over HTTP', async () => {
  const { respUrl, url, service } = await startService({ resp: 0 })
  const source = service.ids.get('twitter')
  if (source === undefined) throw new Error('there is no layout twitter')
  let open = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const fill = vi.spyOn(source, 'fill').mockImplementation(async (array) => {
    await gate
    return array
  })
  const held = await Promise.all(Array.from({ length: 64 }, () => RespClient.open(respUrl)))
  for (const { socket } of held) socket.write(command('ID.NEXT', 65_536))
  await until(() => fill.mock.calls.length === 64)
  const [other] = await (await RespClient.open(respUrl)).send(command('INCR', 'id:twitter'))
  expect(told([other as Reply])).toEqual([
    expect.stringMatching(/^ERR_OVERLOADED other requests wait for 4194304 numbers/),
  ])
  expect((await fetch(`${url}/v1/ids?count=2`)).status).toBe(503)
  fill.mockRestore()
  open()
  const [first] = held as [RespClient]
  expect(((await first.read(1))[0] as Reply[]).length).toBe(65_536)
  for (const { socket } of held) socket.destroy()
  // The answers of connections that have ended count no more.
  await until(async () => (await fetch(`${url}/v1/ids?count=65536&format=bytes`)).status === 200)
})

it('connections count for --max-connections together with those over HTTP', async () => {
  const { respUrl, url } = await startService({ resp: 0, maxConnections: 2 })
  const held = [await RespClient.open(respUrl), await RespClient.open(respUrl)]
  for (const one of held) expect(await one.ask('PING')).toBe('PONG')
  expect(await allTo(command('PING'), respUrl)).toEqual([])
  await expect(fetch(`${url}/v1/ids`)).rejects.toThrow()
  for (const { socket } of held) socket.destroy()
})

describe('with --token-file', () => {
  const file = join(folder, 'tokens')
  const [first, second] = ['first-token-of-this-test', 'second-token-of-this-test']

  it('needs AUTH or HELLO with a token, of which a user name does not matter, and forgets a token that is removed', async () => {
    writeFileSync(file, `${first}\n`)
    const { respUrl } = await startService({ resp: 0, tokenFile: file }, { pollMs: 10 })
    const own = await RespClient.open(respUrl)
    const ask = async (...words: string[]) => told(await own.send(command(...words)))[0]
    expect(await ask('INCR', 'orders')).toBe('NOAUTH Authentication required: send AUTH and a token of the service')
    expect(await ask('SET', 'a', 'b')).toMatch(/^NOAUTH /)
    expect(await ask('HELLO', '3')).toMatch(/^NOAUTH /)
    expect(await ask('AUTH', 'wrong')).toBe('WRONGPASS the service does not know the token')
    expect(await ask('INCR', 'orders')).toMatch(/^NOAUTH /)
    expect(await ask('AUTH', 'default', first)).toBe('OK')
    expect(await ask('INCR', 'orders')).toBe(1)
    expect(await ask('RESET')).toBe('RESET')
    expect(await ask('INCR', 'orders')).toMatch(/^NOAUTH /)
    expect(await ask('HELLO', '3', 'AUTH', 'default', first, 'NO')).toMatch(/^ERR Syntax error in HELLO option "NO"/)
    expect(await ask('HELLO', '3', 'SETNAME', 'app', 'AUTH', 'default', 'wrong')).toMatch(/^WRONGPASS /)
    expect(await ask('PING')).toMatch(/^NOAUTH /)
    expect(await ask('HELLO', '3', 'AUTH', 'default', first)).toContain('graupel')
    expect(await ask('CLIENT', 'GETNAME')).toBe(null)
    writeFileSync(file, `${second}\n`)
    await until(async () => `${await ask('PING')}`.startsWith('NOAUTH '))
    expect(await ask('AUTH', second)).toBe('OK')
    expect(await ask('INCR', 'orders')).toBe(2)
    own.socket.destroy()
  })
})

describe('a process', () => {
  const respUrlOf = (stdout: string) => /redis:\/\/\S+/.exec(stdout)?.[0] ?? ''

  it('answers the commands that have arrived, closes idle connections, and ends', async () => {
    const { child, stdout, ended } = await serve(['--data', join(folder, 'end'), '--resp', '0', '--drain-ms', '500'])
    const url = respUrlOf(stdout())
    const [busy, idle] = [await RespClient.open(url), await RespClient.open(url)]
    busy.socket.write(command('ID.NEXT', 10_000).repeat(20))
    child.kill('SIGTERM')
    expect(await idle.ask('INCR', 'orders')).toBe(1)
    expect((await busy.read(20)).flat().length).toBe(200_000)
    expect(await idle.read(1)).toEqual([])
    expect(await ended).toBe(0)
  })

  it('with workers serves each connection by one of them', async () => {
    const { child, stdout, ended } = await serve(['--data', join(folder, 'two'), '--resp', '0', '--workers', '2'])
    const nodes = new Set<number>()
    while (nodes.size < 2) {
      const own = await RespClient.open(respUrlOf(stdout()))
      nodes.add(decode((await own.ask('GET', 'id:twitter')) as string, layouts.twitter).node)
      own.socket.destroy()
    }
    child.kill('SIGINT')
    expect(await ended).toBe(0)
  })
})
