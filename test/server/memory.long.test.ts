import { join } from 'node:path'
import { expect, test } from 'vitest'
import { expectFlat, logOf, measurable, memoryOf } from './support/memory.ts'
import { folder, serve } from './support/process.ts'
import { answersIn, exchange } from './support/raw.ts'

// Sends many requests as programs do. GRAUPEL_TEST_REQUESTS=10000000 sets their number.

const requests = Number(process.env['GRAUPEL_TEST_REQUESTS'] ?? 300_000)
const rounds = 10
const requestsOfConnection = 250
const atOnce = 8
/** The allowed growth: 2 MB over 150 000 requests are 14 bytes each. */
const [heapMB, rssMB] = [2, 40]

const urls = [
  ...Array(20).fill('/v1/ids'),
  ...['/v1/ids?count=20', '/v1/ids?count=20&format=bytes', '/v1/ids?format=base58', '/v1/segments/orders?count=5'],
  ...['/v1/counters/invoices', '/api/snowflake/get/key', '/v1/ids/2045881362063413248', '/readyz'],
]

test(
  'memory stays flat under a load of valid requests',
  async () => {
    const service = await serve(['--data', join(folder, 'memory')], measurable)
    const port = Number(new URL(service.url).port)
    const texts = Array.from({ length: requestsOfConnection }, (_, index) => {
      const close = index === requestsOfConnection - 1 ? 'Connection: close\r\n' : ''
      return `GET ${urls[index % urls.length]} HTTP/1.1\r\nHost: localhost\r\n${close}\r\n`
    })
    const bytes = Buffer.from(texts.join(''))
    const round = async (connections: number) => {
      let left = connections
      const lane = async () => {
        while (left-- > 0) {
          const answers = answersIn(await exchange(port, bytes, 30_000))
          expect(answers).toHaveLength(requestsOfConnection)
          for (const { status, body } of answers) if (status !== 200) throw new Error(`${status}: ${body}`)
        }
      }
      await Promise.all(Array.from({ length: atOnce }, lane))
    }
    const metrics = async () => (await fetch(`${service.url}/metrics`)).text()
    const measured = []
    for (let done = 0; done < rounds; done++) {
      await round(Math.ceil(requests / rounds / requestsOfConnection))
      measured.push(await memoryOf(service, metrics))
    }
    expectFlat(measured, heapMB, rssMB)
    expect(logOf(service).length, service.stderr()).toBeLessThan(100)
  },
  120_000 + requests,
)
