import { connect } from 'graupel/client'
import { expect, test } from 'vitest'
import { seededRandom } from '../support/random.ts'
import { type FakeService, fakeService, refuse, type Script } from './service.ts'

/** Chooses a fault, or no fault, at random. */
function faulty(random: () => number): Script {
  // An answer is never repeated to another client, because that client could not notice the repetition.
  const kept = new Map<string | undefined, Buffer>()
  return ({ headers: { authorization } }, response, give) => {
    const faults: (() => unknown)[] = [
      () => refuse(response, 503, 'no lease'),
      () => response.destroy(),
      () => give({ cutAt: 16 * Math.floor(random() * 10) }),
      () => give({ body: (bytes) => bytes.subarray(16) }),
      () => give({ headers: { 'graupel-layout': 'leaf' } }),
      () => give({ headers: { age: '3' } }),
      // An earlier answer.
      () => give({ body: (bytes) => kept.get(authorization) ?? bytes }),
      () => setTimeout(() => response.destroyed || give(), 120),
    ]
    if (random() < 0.4) return (faults[Math.floor(random() * faults.length)] as () => unknown)()
    return give({
      body: (bytes) => {
        kept.set(authorization, Buffer.from(bytes))
        return bytes
      },
    })
  }
}

test('whatever three servers do, two clients get no id twice, and only ids that were issued', async () => {
  const random = seededRandom('faults of the service')
  const services: FakeService[] = []
  for (const node of [1, 2, 3]) services.push(await fakeService({ node, script: faulty(random) }))
  const urls = services.map(({ url }) => url)
  const options = { urls, count: 5, maxCount: 20, callTimeoutMs: 100, retries: 100, maxWaitMs: 60_000 }
  const clients = await Promise.all(['a', 'b'].map((token) => connect({ ...options, token })))
  const made: bigint[] = []
  await Promise.all(
    clients.map(async (ids) => {
      for (let i = 0; i < 60; i++) {
        const array = new BigUint64Array(Math.floor(random() * 12))
        await ids.fillAsync(array)
        made.push(...array, await ids.nextAsync())
      }
    }),
  )
  const given = new Set(services.flatMap((service) => [...service.given]))
  for (const id of made) expect(given).toContain(id)
  expect(new Set(made).size).toBe(made.length)
  const failures = clients.reduce((sum, ids) => sum + ids.stats().failures, 0)
  expect(failures).toBeGreaterThan(0)
  for (const ids of clients) ids.close()
})
