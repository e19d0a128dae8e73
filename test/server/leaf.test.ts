import { expect, it } from 'vitest'
import { decodeAsLeaf } from '../../server/src/routes/leaf.ts'
import { until } from '../support/until.ts'
import { Faulty } from './support/faulty.ts'
import { seriesOf, startService } from './support/in-process.ts'
import { listen } from './support/listening.ts'
import { serve } from './support/process.ts'

// Requests of Leaf's clients, with the answers of Leaf 1.0.1 according to its source: LeafController and
// LeafMonitorController of leaf-server on Spring Boot 1.5.18, whose StringHttpMessageConverter and
// MappingJackson2HttpMessageConverter name the charset, and whose DefaultErrorAttributes make the bodies of
// errors, with the time as a number.

const text = 'text/plain;charset=UTF-8'
const json = 'application/json;charset=UTF-8'

async function ask(url: string, init: RequestInit = {}) {
  const answer = await fetch(url, init)
  return { status: answer.status, type: answer.headers.get('content-type'), body: await answer.text() }
}

/** Returns the LeafServerException of LeafController.get without the time of the error. */
async function refusalOf(url: string) {
  const { status, type, body } = await ask(url)
  expect(type).toBe(json)
  const { timestamp, ...rest } = JSON.parse(body)
  expect(Math.abs(timestamp - Date.now())).toBeLessThan(600_000)
  expect(rest.status).toBe(status)
  return rest
}

const failed = (id: number, path: string) => ({
  status: 500,
  error: 'Internal Server Error',
  exception: 'com.sankuai.inf.leaf.server.exception.LeafServerException',
  message: `Result{id=${id}, status=EXCEPTION}`,
  path,
})

it('LeafController.getSegmentId answers a bare decimal', async () => {
  const { url } = await startService()
  expect(await ask(`${url}/api/segment/get/leaf-segment-test`)).toEqual({ status: 200, type: text, body: '1' })
  expect(await ask(`${url}/api/segment/get/leaf-segment-test`)).toEqual({ status: 200, type: text, body: '2' })
  // The same numbers as the service's own route has.
  expect(await (await fetch(`${url}/v1/segments/leaf-segment-test`)).json()).toEqual({ numbers: ['3'] })
})

it('LeafController.getSnowflakeId answers an id for any key, and LeafMonitorController decodes it', async () => {
  const { url, service } = await startService()
  const sinceMs = Date.now()
  const ids: string[] = []
  for (const key of ['test', 'order', '%E8%AE%A2%E5%8D%95', 'x'.repeat(500)]) {
    const { status, type, body } = await ask(`${url}/api/snowflake/get/${key}`)
    expect({ status, type }).toEqual({ status: 200, type: text })
    expect(body).toMatch(/^[0-9]{19}$/)
    ids.push(body)
  }
  expect(ids.map(BigInt)).toEqual([...new Set(ids.map(BigInt))].toSorted((a, b) => (a < b ? -1 : 1)))
  const decoded = await ask(`${url}/decodeSnowflakeId?snowflakeId=${ids[0]}`)
  expect(decoded).toMatchObject({ status: 200, type: json })
  const { timestamp, workerId, sequenceId } = JSON.parse(decoded.body)
  const [node] = [...service.ids.values()].map((source) => source.node)
  expect(workerId).toBe(`${node}`)
  expect(sequenceId).toMatch(/^[0-9]+$/)
  expect(timestamp).toMatch(/^[0-9]{13}\([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}\)$/)
  expect(Number.parseInt(timestamp, 10)).toBeGreaterThanOrEqual(sinceMs - 1)
})

it('the time is in the time zone of the server', async () => {
  const { url } = await serve([], { TZ: 'Asia/Shanghai' })
  // The example in the comment of LeafMonitorController.decodeSnowflakeId.
  const id = ((1567733700834n - 1288834974657n) << 22n) | (39n << 12n) | 3448n
  const { body } = await ask(`${url}/decodeSnowflakeId?snowflakeId=${id}`)
  expect(JSON.parse(body)).toEqual({
    timestamp: '1567733700834(2019-09-06 09:35:00.834)',
    sequenceId: '3448',
    workerId: '39',
  })
})

it.each([
  // The shifts of a long keep the sign.
  ['0', 1288834974657, '0', '0'],
  ['+4194304', 1288834974658, '0', '0'],
  ['-1', 1288834974656, '1023', '4095'],
  ['9223372036854775807', 3487858230208, '1023', '4095'],
  ['-9223372036854775808', -910188280895, '0', '0'],
])('%s is read as Long.parseLong reads it', (id, timeMs, workerId, sequenceId) => {
  const decoded = decodeAsLeaf(id) as { timestamp: string }
  expect(decoded).toMatchObject({ workerId, sequenceId })
  expect(decoded.timestamp.startsWith(`${timeMs}(`)).toBe(true)
})

it('decodeSnowflakeId answers errorMsg if Long.parseLong throws', async () => {
  const { url } = await startService()
  const long = '1'.repeat(200)
  for (const id of ['', 'x', '1.5', '0x10', ' 1', '--1', '9223372036854775808', '-9223372036854775809', long]) {
    expect(await ask(`${url}/decodeSnowflakeId?snowflakeId=${encodeURIComponent(id)}`)).toEqual({
      status: 200,
      type: json,
      body: '{"errorMsg":"snowflake Id反解析发生异常!"}',
    })
  }
})

it('decodeSnowflakeId joins an id that is given twice, ignores other parameters, and names a missing parameter', async () => {
  const { url } = await startService()
  expect((await ask(`${url}/decodeSnowflakeId?snowflakeId=1&snowflakeId=2`)).body).toContain('errorMsg')
  expect((await ask(`${url}/decodeSnowflakeId?snowflakeId=1&_=1700000000`)).body).toContain('"sequenceId":"1"')
  expect(await refusalOf(`${url}/decodeSnowflakeId?id=1`)).toEqual({
    status: 400,
    error: 'Bad Request',
    exception: 'org.springframework.web.bind.MissingServletRequestParameterException',
    message: "Required String parameter 'snowflakeId' is not present",
    path: '/decodeSnowflakeId',
  })
})

it('an unknown key is Result -2, and a path without a key is no route', async () => {
  const { url } = await startService({ segments: { orders: {} } })
  expect(await refusalOf(`${url}/api/segment/get/%E8%AE%A2?x=1`)).toEqual(failed(-2, '/api/segment/get/%E8%AE%A2'))
  for (const path of ['/api/segment/get/', '/api/snowflake/get/']) {
    expect(await refusalOf(`${url}${path}`)).toEqual({
      status: 404,
      error: 'Not Found',
      message: 'No message available',
      path,
    })
  }
})

it('wrong keys are answered with 500 as by Leaf, and the metrics tell them from failures of the service', async () => {
  const { layouts } = await import('graupel')
  const { url, app, service } = await startService({ layouts: [layouts.sonyflake as never], segments: { orders: {} } })
  for (let i = 0; i < 3; i++) expect((await ask(`${url}/api/segment/get/none`)).status).toBe(500)
  expect((await ask(`${url}/api/snowflake/get/none`)).status).toBe(500)
  await service.segments.close()
  expect((await ask(`${url}/api/segment/get/orders`)).status).toBe(500)
  const count = (labels: string) => seriesOf(app, `graupel_http_request_duration_seconds_count{${labels}}`)
  expect(await count('route="/api/segment/get/:key",status="5xx",fault="client"')).toBe(3)
  expect(await count('route="/api/segment/get/:key",status="5xx"')).toBe(1)
  expect(await count('route="/api/snowflake/get/:key",status="5xx",fault="client"')).toBe(1)
  expect(await count('route="/api/snowflake/get/:key",status="5xx"')).toBe(undefined)
})

it('impossible keys, too many keys, and names of counters are Result -2', async () => {
  const { url, service } = await startService({ maxNames: 1 })
  await (await service.counters.get('bills')).next()
  for (const key of ['x'.repeat(129), 'bills']) {
    expect(await refusalOf(`${url}/api/segment/get/${key}`)).toEqual(failed(-2, `/api/segment/get/${key}`))
  }
  expect((await ask(`${url}/api/segment/get/orders`)).status).toBe(200)
  expect(await refusalOf(`${url}/api/segment/get/other`)).toEqual(failed(-2, '/api/segment/get/other'))
})

it('a segment that is used up while the store is away is Result -3, and a service that ends is Result -1', async () => {
  const faulty = new Faulty()
  const segments = { orders: { step: 2, maxStep: 2, prefetchAt: 1, callTimeoutMs: 100 }, bills: { callTimeoutMs: 100 } }
  const { url, service } = await startService({ segments }, { around: faulty.around })
  expect((await ask(`${url}/api/segment/get/orders`)).body).toBe('1')
  faulty.isAway = true
  expect((await ask(`${url}/api/segment/get/orders`)).body).toBe('2')
  expect(await refusalOf(`${url}/api/segment/get/orders`)).toEqual(failed(-3, '/api/segment/get/orders'))
  // SegmentIDGenImpl.get logs what it cannot load, and finds both segments empty.
  expect(await refusalOf(`${url}/api/segment/get/bills`)).toEqual(failed(-3, '/api/segment/get/bills'))
  faulty.isAway = false
  await until(async () => (await ask(`${url}/api/segment/get/orders`)).status === 200)
  await service.segments.close()
  expect(await refusalOf(`${url}/api/segment/get/orders`)).toEqual(failed(-1, '/api/segment/get/orders'))
})

it('ids of another layout are not given out as ids of Leaf', async () => {
  const { layouts } = await import('graupel')
  const other = await startService({ layouts: [layouts.sonyflake as never] })
  expect(await refusalOf(`${other.url}/api/snowflake/get/x`)).toEqual(failed(-1, '/api/snowflake/get/x'))
  const both = await startService({ layouts: [layouts.sonyflake as never, layouts.leaf as never] })
  const { body } = await ask(`${both.url}/api/snowflake/get/x`)
  const { workerId } = decodeAsLeaf(body) as { workerId: string }
  expect(workerId).toBe(`${both.service.ids.get('leaf')?.node}`)
})

it('a failure of the service is in the log with the X-Request-Id of the answer, and a mistake of a client is not', async () => {
  const { url, log } = await listen({ logLevel: 'info', segments: { orders: {} } }, { isOpen: false })
  const unknown = await fetch(`${url}/api/segment/get/none`)
  const failed = await fetch(`${url}/api/snowflake/get/orders`)
  expect([unknown.status, failed.status]).toEqual([500, 500])
  expect(unknown.headers.get('x-request-id')).toMatch(/./)
  const reqId = failed.headers.get('x-request-id')
  const refused = log.filter(({ code }) => code !== undefined)
  expect(refused).toEqual([expect.objectContaining({ level: 50, reqId, status: 503, code: 'ERR_LEASE_EXPIRED' })])
})

it('a number is JSON or text, by the order in Accept', async () => {
  const { url } = await startService()
  const accepted = [
    // RestTemplate.getForObject(url, Long.class), the same with String.class, axios, curl, a browser
    ['application/json, application/*+json', json],
    ['text/plain, application/json, application/*+json, */*', text],
    ['application/json, text/plain, */*', json],
    ['*/*', text],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', text],
  ] as const
  for (const [i, [accept, type]] of accepted.entries()) {
    const answer = await ask(`${url}/api/segment/get/orders`, { headers: { accept } })
    expect(answer).toEqual({ status: 200, type, body: `${i + 1}` })
  }
})

it('HEAD uses nothing up', async () => {
  const { url } = await startService()
  const head = await fetch(`${url}/api/segment/get/orders`, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-type'), head.headers.get('content-length')]).toEqual([200, text, null])
  expect((await ask(`${url}/api/segment/get/orders`)).body).toBe('1')
})
