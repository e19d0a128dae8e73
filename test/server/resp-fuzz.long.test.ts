import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { seededRandom } from '../support/random.ts'
import { until } from '../support/until.ts'
import { expectFlat, measurable, memoryOf, seriesIn } from './support/memory.ts'
import { folder, serve } from './support/process.ts'
import { command, type Reply, repliesIn } from './support/resp.ts'

// Sends pipelines of valid and of broken commands, each on a connection of its own.

/** GRAUPEL_RUNS=100000 takes some minutes. */
const connections = Number(process.env['GRAUPEL_RUNS'] ?? 1500)
const rounds = 6
const atOnce = 32

const random = seededRandom('hostile commands of Redis')
const below = (limit: number) => Math.floor(random() * limit)
const one = <T>(some: readonly T[]) => some[below(some.length)] as T

const words = [
  '',
  '0',
  '1',
  '-1',
  '7',
  '4097',
  '65537',
  '1e3',
  'orders',
  'id:twitter',
  'id:none',
  'count:a',
  '__proto__',
  'é',
  '\0',
  'hex',
  '3',
]
const valid = [
  ['GET', 'id:twitter'],
  ['INCR', 'id:twitter'],
  ['MGET', 'id:twitter', 'id:twitter', 'id:twitter'],
  ['ID.NEXT', '50'],
  ['INCR', 'orders'],
  ['INCRBY', 'orders', '20'],
  ['INCR', 'count:a'],
  ['PING'],
  ['HELLO', '3'],
  ['CLIENT', 'SETNAME', 'a'],
  ['RESET'],
  ['INFO'],
  ['COMMAND'],
]
const names = [
  'SET',
  'DEL',
  'GET',
  'MGET',
  'INCR',
  'INCRBY',
  'ID.NEXT',
  'ID.DECODE',
  'HELLO',
  'AUTH',
  'CLIENT',
  'SELECT',
  'ECHO',
  'constructor',
  '',
]
const broken = [
  'PING\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
  '*-1\r\n',
  '*0\r\n',
  '*2147483647\r\n',
  '*1\r\n$-1\r\n',
  '*1\r\n$536870912\r\nabc',
  '*2\r\n*1\r\n$4\r\nPING\r\n',
  '*1\r\n$4\r\nPI',
  '*',
  '*1\n$4\nPING\n',
  `*1000\r\n${'$1\r\na\r\n'.repeat(1000)}`,
  `*1\r\n$9000\r\n${'a'.repeat(9000)}\r\n`,
]

function pipeline(): Buffer {
  const parts = Array.from({ length: 1 + below(12) }, () => {
    const kind = random()
    if (kind < 0.6) return command(...one(valid)).repeat(1 + below(20))
    if (kind < 0.9) return command(one(names), ...Array.from({ length: below(4) }, () => one(words)))
    return one(broken)
  })
  const bytes = Buffer.from(parts.join(''))
  if (random() < 0.4) for (let change = below(4); change >= 0; change--) bytes[below(bytes.length)] = below(256)
  return random() < 0.3 ? bytes.subarray(0, below(bytes.length)) : bytes
}

/**
 * Sends bytes, and resolves to what came until the service closed the connection. Some clients leave before.
 */
function exchange(port: number, bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.0.${1 + below(8)}` })
    socket.setEncoding('latin1').on('error', () => {})
    socket.on('data', (part: string) => {
      text += part
    })
    socket.on('close', () => resolve(text))
    if (random() < 0.1) socket.write(bytes, () => socket.resetAndDestroy())
    else if (random() < 0.3) {
      socket.write(bytes.subarray(0, bytes.length >> 1), () => socket.end(bytes.subarray(bytes.length >> 1)))
    } else socket.end(bytes)
  })
}

const isId = (reply: Reply): reply is string => typeof reply === 'string' && /^\d{19}$/.test(reply)

it('fuzzed connections make no equal id, and leave the heap flat', async () => {
  const flags = ['--data', join(folder, 'fuzz'), '--resp', '0', '--resp-counters', 'count:', '--max-names', '6']
  const service = await serve([...flags, '--log-level', 'warn'], measurable)
  const port = Number(/redis:\/\/\S+:(\d+)/.exec(service.stdout())?.[1])
  const metrics = async () => (await fetch(`${service.url}/metrics`)).text()
  const ids: bigint[] = []
  const refusals: Record<string, number> = {}
  let left = 0
  const lane = async () => {
    while (left-- > 0) {
      for (const reply of repliesIn(await exchange(port, pipeline())).flat()) {
        if (isId(reply)) ids.push(BigInt(reply))
        const [code = ''] = reply instanceof Error ? reply.message.split(' ') : []
        if (code !== '') refusals[code] = (refusals[code] ?? 0) + 1
      }
    }
  }
  const measured = []
  for (let round = 0; round < rounds; round++) {
    left = Math.ceil(connections / rounds)
    await Promise.all(Array.from({ length: atOnce }, lane))
    await until(async () => seriesIn(await metrics(), 'graupel_connections') <= 2)
    measured.push(await memoryOf(service, metrics))
  }
  console.info(`${ids.length} ids; refusals: ${JSON.stringify(refusals)}`)
  const sorted = BigUint64Array.from(ids).sort()
  expect(sorted.findIndex((id, index) => id === sorted[index + 1])).toBe(-1)
  expect(ids.length).toBeGreaterThan(connections)
  for (const code of ['ERR', 'NOPROTO', 'ERR_OPTION_INVALID', 'ERR_NAME_UNKNOWN', 'ERR_NAMES_FULL', 'ERR_ID_INVALID']) {
    expect(refusals[code], code).toBeGreaterThan(0)
  }
  expect(refusals['ERR_INTERNAL']).toBeUndefined()
  expectFlat(measured, 2, 40)
  service.child.kill('SIGINT')
  expect(await service.ended).toBe(0)
}, 900_000)
