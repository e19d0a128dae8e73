import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { shortfalls } from '../../bench/bars.ts'
import { missingForClient } from '../../bench/measure/load.ts'
import { httpExchange, openConnections } from '../../bench/measure/open-connections.ts'
import { Latencies, pace } from '../../bench/measure/open-load.ts'
import { missingForResp } from '../../bench/measure/resp-load.ts'
import { workloads } from '../../bench/workloads/index.ts'
import { describeWith } from '../support/needs.ts'
import { measure, reportOf, result } from './reports.ts'

const section = workloads.filter(({ section }) => section === 'Tail latency')

/** Keeps the processor busy. */
function block(ms: number) {
  for (const endMs = performance.now() + ms; performance.now() < endMs; );
}

it('quantiles are latencies that were measured', () => {
  const all = new Latencies(Float64Array.from({ length: 1000 }, (_, i) => 1000 - i))
  expect([0.5, 0.99, 0.999, 0.9999, 1].map((share) => all.at(share))).toEqual([500, 990, 999, 1000, 1000])
  const both = Latencies.of([all, new Latencies(Float64Array.of(5000))])
  expect([both.count, both.at(0.5), both.at(1)]).toEqual([1001, 501, 5000])
})

it.each([
  ['a call', false],
  ['a promise', true],
])('the calls that were due during %s of 50 ms have waited', async (_, isAsync) => {
  let calls = 0
  const call = () => {
    if (++calls === 100) block(50)
    return Promise.resolve()
  }
  const made = await pace({ perSecond: 10_000, seconds: 0.2 }, call, isAsync)
  expect(made.count).toBe(2000)
  // 500 calls were due meanwhile. They have waited for 25 ms on average, so a quarter of them for 37 ms.
  expect(made.at(1)).toBeGreaterThanOrEqual(50_000)
  expect(made.at(1 - 125 / 2000)).toBeGreaterThanOrEqual(37_000)
})

it('the error of a call ends the load', async () => {
  let calls = 0
  const fail = async () => {
    if (++calls === 10) throw new Error('the tenth')
  }
  await expect(pace({ perSecond: 10_000, seconds: 0.1 }, fail, true)).rejects.toThrow('the tenth')
})

async function served(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return { server, port: (server.address() as AddressInfo).port }
}

it('requests that were due while the server was busy have waited, although no connection was idle', async () => {
  let requests = 0
  const { server, port } = await served((_, response) => {
    if (++requests === 50) block(100)
    response.end('ok')
  })
  const all = await openConnections(port, 2)
  const exchange = httpExchange(`http://127.0.0.1:${port}`, '/', '*/*')
  const made = await all.load({ perSecond: 1000, seconds: 0.3 }, exchange)
  all.close()
  server.close()
  expect([requests, made.count]).toEqual([300, 300])
  // A load that waits for answers would have at most two such requests.
  expect(made.at(1 - 50 / 300)).toBeGreaterThanOrEqual(50_000)
})

it('an answer that is no 200 ends the load', async () => {
  const { server, port } = await served((_, response) => response.writeHead(503, { 'content-length': '0' }).end())
  const all = await openConnections(port, 2)
  const exchange = httpExchange(`http://127.0.0.1:${port}`, '/', '*/*')
  await expect(all.load({ perSecond: 1000, seconds: 0.1 }, exchange)).rejects.toThrow('an answer is HTTP/1.1 503')
  all.close()
  server.close()
})

it('has a bar for each of our subjects', () => {
  const all = section.flatMap(({ name }) => {
    const subjects =
      name === 'latency-client' ? ['graupel-client'] : name.match(/http|resp/) ? ['graupel-server'] : ownSubjects
    return subjects.map((subject) => result(name, subject, 1, 1000))
  })
  expect(shortfalls(reportOf(all), section, [])).toHaveLength(all.length)
})

const ownSubjects = ['graupel-native', 'graupel-js', 'graupel-segments']

describeWith([missingForResp, missingForClient], 'npm run bench on latencies', () => {
  it('checks the ids, and says all quantiles beside those of the yardstick', () => {
    const { results } = measure('--filter', 'latency')
    expect(new Set(results.map(({ workload }) => workload))).toEqual(new Set(section.map(({ name }) => name)))
    for (const { outcome } of results) {
      expect(outcome?.check).toMatchObject({ repeats: 0 })
      expect(outcome?.check?.ids).toBeGreaterThan(1000)
      expect(outcome?.note).toMatch(/^p50 .* beside .*, p99 .*, p999 .*, p9999 .*, slowest .* beside .* µs$/)
    }
  })
})
