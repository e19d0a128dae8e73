import { once } from 'node:events'
import { decode, layouts } from 'graupel'
import { memoryStore } from 'graupel/stores'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { seriesOf, startService } from './support/in-process.ts'
import { command, type Reply, RespClient } from './support/resp.ts'

const given = { resp: 0, respCounters: 'count:', layouts: [layouts.twitter, layouts.js53] } as const
const service = await startService({ ...given, maxNames: 20 })
const client = await RespClient.open(service.respUrl)
afterAll(() => client.socket.destroy())

const refused = (reply: Reply | undefined) => (reply instanceof Error ? reply.message : `no refusal: ${reply}`)

describe('numbers', () => {
  it('are those of a segment by INCR, which HTTP shares', async () => {
    expect(await client.ask('INCR', 'orders')).toBe(1)
    expect(await (await fetch(`${service.url}/v1/segments/orders?format=text`)).text()).toBe('2\n')
    expect(await client.ask('incr', 'orders')).toBe(3)
    expect(await client.ask('INCR', 'größe')).toBe(1)
  })

  it('are a block by INCRBY, of which the last is the reply', async () => {
    expect(await client.ask('INCRBY', 'blocks', 10)).toBe(10)
    expect(await client.ask('INCRBY', 'blocks', 1)).toBe(11)
    expect(await client.ask('INCR', 'blocks')).toBe(12)
  })

  it('of a block are consecutive although another process takes segments in between', async () => {
    const store = memoryStore()
    const two = await Promise.all([1, 2].map(() => startService({ resp: 0 }, { store })))
    const clients = await Promise.all(two.map(({ respUrl }) => RespClient.open(respUrl)))
    const seen = new Set<number>()
    for (let round = 0; round < 40; round++) {
      for (const one of clients) {
        const last = (await one.ask('INCRBY', 'shared', 333)) as number
        for (let number = last - 332; number <= last; number++) seen.add(number)
      }
    }
    expect(seen.size).toBe(40 * 2 * 333)
    for (const one of clients) one.socket.destroy()
  })

  it('are those of a counter if the key begins with the prefix of --resp-counters', async () => {
    expect(await client.ask('INCR', 'count:invoices')).toBe(1)
    expect(await client.ask('INCRBY', 'count:invoices', 5)).toBe(6)
    expect(await (await fetch(`${service.url}/v1/counters/count:invoices?format=text`)).text()).toBe('7\n')
  })
})

describe('ids', () => {
  it('are text, by GET, INCR, MGET and ID.NEXT, ascending and of their layout', async () => {
    const ids = [await client.ask('GET', 'id:twitter'), await client.ask('INCR', 'id:twitter')]
    ids.push(...((await client.ask('MGET', 'id:twitter', 'id:twitter')) as string[]))
    ids.push(...((await client.ask('ID.NEXT', 5000)) as string[]))
    const numbers = ids.map((id) => BigInt(id as string))
    expect(numbers).toEqual(numbers.toSorted((a, b) => (a < b ? -1 : 1)))
    expect(new Set(numbers).size).toBe(5004)
    expect(decode(numbers[0] as bigint, layouts.twitter).node).toBe(service.service.ids.get('twitter')?.node)
    expect(Number(await client.ask('GET', 'id:js53'))).toBeLessThan(2 ** 53)
  })

  it('have the formats of HTTP', async () => {
    const [hex] = (await client.ask('ID.NEXT', 1, 'HEX')) as string[]
    expect(hex).toMatch(/^[0-9a-f]{16}$/)
  })

  it('are decoded to the parts that HTTP has', async () => {
    const id = '1541815603606036480'
    const answer = await fetch(`${service.url}/v1/ids/${id}`)
    const { fields, ...parts } = (await answer.json()) as { fields: Record<string, number> }
    const flat = Object.entries(parts).flat()
    expect(await client.ask('ID.DECODE', id)).toEqual([...flat, 'fields', Object.entries(fields).flat()])
  })

  it('are decoded as LAYOUT says, also if the service does not make ids of it', async () => {
    for (const layout of ['twitter', 'js53', 'mastodon']) {
      const id = '1541815603606036'
      const answer = await fetch(`${service.url}/v1/ids/${id}?layout=${layout}`)
      const { fields, ...parts } = (await answer.json()) as { fields: Record<string, number> }
      expect(parts).toMatchObject({ layout })
      const flat = [...Object.entries(parts).flat(), 'fields', Object.entries(fields).flat()]
      expect(await client.ask('ID.DECODE', id, 'layout', layout)).toEqual(flat)
    }
  })
})

describe('a pipeline', () => {
  it('is answered in its order, by one call of each source and by one write', async () => {
    const source = service.service.ids.get('twitter')
    const fill = vi.spyOn(source as NonNullable<typeof source>, 'fill')
    const before = client.reads
    const words = Array.from({ length: 40 }, (_, index) => [
      'INCR',
      ['pipe', 'id:twitter', 'pipe2', 'none '][index % 4] as string,
    ])
    words.push(['PING'], ['INCRBY', 'pipe', '100'], ['INCR', 'pipe'], ['NO'], ['ECHO', 'é'])
    const replies = await client.send(words.map((one) => command(...one)).join(''), words.length)
    expect(client.reads - before).toBe(1)
    expect(fill).toHaveBeenCalledTimes(1)
    expect(fill.mock.calls[0]?.[0]).toHaveLength(10)
    fill.mockRestore()
    expect(replies.filter((_, index) => index < 40 && index % 4 === 0)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(replies.filter((_, index) => index < 40 && index % 4 === 2)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(replies.slice(40, 43)).toEqual(['PONG', 110, 111])
    expect(refused(replies[43])).toMatch(/^ERR unknown command "NO": this is graupel-server, .* use PING, /)
    expect(Buffer.from(replies[44] as string, 'latin1').toString()).toBe('é')
  })

  it('may arrive in any parts', async () => {
    const text = command('INCR', 'parts').repeat(5) + command('PING') + command('INCR', 'parts').repeat(2)
    const replies: Reply[] = []
    for (const byte of text) client.socket.write(byte)
    replies.push(...(await client.read(8)))
    expect(replies).toEqual([1, 2, 3, 4, 5, 'PONG', 6, 7])
  })
})

describe('commands of a connection', () => {
  it('change to version 3 and back, and name the connection', async () => {
    const own = await RespClient.open(service.respUrl)
    expect(await own.ask('HELLO', 3, 'SETNAME', 'app')).toEqual(
      expect.arrayContaining(['server', 'graupel', 'proto', 3]),
    )
    expect(await own.ask('CLIENT', 'GETNAME')).toBe('app')
    expect(await own.ask('CLIENT', 'SETINFO', 'LIB-NAME', 'x')).toBe('OK')
    expect(await own.ask('CLIENT', 'ID')).toBeGreaterThan(0)
    expect(await own.ask('RESET')).toBe('RESET')
    own.socket.write(command('CLIENT', 'GETNAME') + command('HELLO'))
    expect(await own.read(2)).toEqual([null, expect.arrayContaining(['proto', 2])])
    expect(await own.ask('SELECT', 0)).toBe('OK')
    expect(await own.ask('INFO')).toContain('loading:0')
    expect(await own.ask('COMMAND', 'COUNT')).toBe(16)
    expect(await own.ask('QUIT')).toBe('OK')
    await own.closed()
  })

  it.each([
    ['SET', 'a', 'b', 'ERR unknown command "SET"'],
    ['DECR', 'orders', 'ERR unknown command "DECR"'],
    ['DEL', 'orders', 'ERR unknown command "DEL"'],
    ['CLIENT', 'KILL', 'ERR unknown subcommand "KILL"'],
    ['INCR', "ERR wrong number of arguments for 'incr' command"],
    ['GET', 'orders', 'ERR_NAME_UNKNOWN the key is "orders", and only ids can be read; give id:twitter, id:js53'],
    ['GET', 'id:none', 'ERR_NAME_UNKNOWN the key is "id:none"'],
    ['MGET', 'id:twitter', 'orders', 'ERR_NAME_UNKNOWN'],
    ['INCRBY', 'orders', '0', 'ERR_OPTION_INVALID n is "0"; give a whole number from 1 to 65536'],
    ['INCRBY', 'orders', '-5', 'ERR_OPTION_INVALID'],
    ['INCRBY', 'id:twitter', '5', 'ERR_OPTION_INVALID INCRBY came with "id:twitter"'],
    ['INCRBY', 'count:a', '4097', 'ERR_OPTION_INVALID n is "4097"; give a whole number from 1 to 4096'],
    ['ID.NEXT', '65537', 'ERR_OPTION_INVALID n is "65537"'],
    ['ID.NEXT', '1', 'json', 'ERR_OPTION_INVALID FORMAT is "json"'],
    ['ID.DECODE', 'x', 'ERR_ID_INVALID'],
    ['ID.DECODE', '1', 'LAYOUT', 'none', 'ERR_OPTION_INVALID LAYOUT is "none"'],
    ['ID.DECODE', '1', 'LAYOUT', 'ERR Syntax error in ID.DECODE at "LAYOUT"; give LAYOUT and a name'],
    ['ID.DECODE', '1', 'FORMAT', 'hex', 'ERR Syntax error in ID.DECODE at "FORMAT"'],
    ['ID.DECODE', '1', 'LAYOUT', 'js53', 'more', "ERR wrong number of arguments for 'id.decode' command"],
    ['INCR', '', 'ERR_OPTION_INVALID'],
    ['INCR', 'n'.repeat(129), 'ERR_OPTION_INVALID'],
    ['INCR', 'a\ufffd', 'ERR_REQUEST_INVALID a word has bytes that are no UTF-8, or the character U+FFFD'],
    ['INCRBY', 'orders', '9223372036854775808', 'ERR_OPTION_INVALID'],
    ['INCRBY', 'orders', '07', 'ERR_OPTION_INVALID'],
    ['INCRBY', 'orders', '1.5', 'ERR_OPTION_INVALID'],
    ['SELECT', '1', 'ERR DB index is out of range'],
    ['AUTH', 'secret', 'ERR AUTH came, and the service has no tokens'],
    ['HELLO', '4', 'NOPROTO unsupported protocol version'],
    ['HELLO', '3', 'SETNAME', 'ERR Syntax error in HELLO option "SETNAME"'],
  ])('refuses %s %s', async (...all) => {
    const [reply] = await client.send(command(...all.slice(0, -1)))
    expect(refused(reply)).toContain(all.at(-1))
    expect(await client.ask('PING')).toBe('PONG')
  })

  it.each(['EXEC', 'DISCARD', 'RESET'])('are all refused from MULTI to %s, and no number is taken', async (end) => {
    const own = await RespClient.open(service.respUrl)
    const words = [['MULTI'], ['INCR', 'bundle'], ['PING'], ['INCR', 'count:bundle'], ['INCR', 'bundle'], [end]]
    const replies = await own.send(words.map((one) => command(...one)).join(''), words.length)
    for (const reply of replies.slice(0, 5)) expect(refused(reply)).toMatch(/^ERR .* the service has no transactions: /)
    expect(end === 'RESET' ? replies[5] : refused(replies[5])).toMatch(/^RESET$|^ERR a command after MULTI came, /)
    expect(await own.ask('PING')).toBe('PONG')
    own.socket.destroy()
  })

  it('are refused behind a RESET that has an argument, too', async () => {
    const own = await RespClient.open(service.respUrl)
    const words = [['MULTI'], ['RESET', 'now'], ['INCR', 'bundle'], ['DISCARD']]
    const replies = await own.send(words.map((one) => command(...one)).join(''), words.length)
    for (const reply of replies) expect(refused(reply)).toMatch(/^ERR .* the service has no transactions: /)
    own.socket.destroy()
  })

  it('end the connection of a client that sends MULTI and nothing else, so that its pool replaces it', async () => {
    const own = await RespClient.open(service.respUrl)
    const [reply] = await own.send(command('MULTI'))
    expect(refused(reply)).toMatch(/^ERR MULTI came, /)
    await once(own.socket, 'end')
    own.socket.destroy()
  })

  it('have taken no number in the refused transactions', async () => {
    expect(await client.ask('INCR', 'bundle')).toBe(1)
    expect(await client.ask('INCR', 'count:bundle')).toBe(1)
    expect(refused((await client.send(command('EXEC')))[0])).toMatch(/^ERR unknown command "EXEC"/)
  })

  it('refuses to let clients cache replies, and says why', async () => {
    const [reply] = await client.send(command('CLIENT', 'TRACKING', 'ON'))
    expect(refused(reply)).toMatch(/^ERR CLIENT TRACKING came, and a client that caches replies would repeat ids; /)
  })

  it('refuses a name beyond --max-names, and words that are no text', async () => {
    const replies = await client.send(
      Array.from({ length: 30 }, (_, index) => command('INCR', `n${index}`)).join(''),
      30,
    )
    expect(replies.map(refused)).toContainEqual(expect.stringMatching(/^ERR_NAMES_FULL /))
    client.socket.write(Buffer.from('*2\r\n$4\r\nINCR\r\n$1\r\n\xff\r\n', 'latin1'))
    expect(refused((await client.read(1))[0])).toMatch(/^ERR_REQUEST_INVALID a word has bytes that are no UTF-8/)
  })

  it('are counted in the metrics, with the class of their status', async () => {
    const of = (route: string, status: string) =>
      seriesOf(service.app, `graupel_http_request_duration_seconds_count{route="redis:${route}",status="${status}"}`)
    const [ok, wrong, none] = [await of('PING', '2xx'), await of('INCR', '4xx'), (await of('none', '4xx')) ?? 0]
    await client.send(command('PING').repeat(3) + command('INCR') + command('NO'), 5)
    expect(await of('PING', '2xx')).toBe((ok as number) + 3)
    expect(await of('INCR', '4xx')).toBe((wrong as number) + 1)
    expect(await of('none', '4xx')).toBe(none + 1)
    expect(await seriesOf(service.app, 'graupel_connections')).toBeGreaterThan(0)
  })
})
