import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { layouts } from 'graupel'
import { connect } from 'graupel/client'
import { expect, test } from 'vitest'
import { folder, serve } from '../server/support/process.ts'
import { duplicatesAmong, isAscending } from '../support/ids.ts'

// These tests use the real service. Each test starts it once, which takes most of the time.

test('ids, layouts and segments of the service reach clients, in smaller batches if the service allows only these', async () => {
  const { url } = await serve(['--layouts', 'twitter,js53', '--max-count', '300'])
  using ids = await connect({ url })
  using others = await connect({ url, count: 10 })
  const made = [
    await ids.fillAsync(new BigUint64Array(5000)),
    await others.fillAsync(new BigUint64Array(5000)),
  ] as const
  for (const array of made) expect(isAscending(array)).toBe(true)
  expect(duplicatesAmong(made)).toBe(0)
  expect(ids.decode(ids.take(1)[0] as bigint).timestampMs).toBeGreaterThan(Date.now() - 60_000)

  using narrow = await connect({ url, layout: layouts.js53 })
  expect(Number.isSafeInteger(narrow.nextNumber())).toBe(true)
  using orders = await connect({ url, segment: 'orders', count: 100 })
  expect(orders.take(100)).toEqual(Array.from({ length: 100 }, (_, i) => BigInt(i + 1)))

  const error = await connect({ url, layout: layouts.discord }).catch((reason) => reason)
  expect(error).toMatchObject({ code: 'ERR_SERVICE_REFUSED', status: 400 })
  expect(error.message).toContain('give one of twitter, js53')
})

test('a token lets a client in', async () => {
  const file = join(folder, 'tokens')
  writeFileSync(file, 'the-right-token-of-this-test\n', { mode: 0o600 })
  const { url } = await serve(['--token-file', file])
  using ids = await connect({ url, token: () => 'the-right-token-of-this-test' })
  expect(ids.take(10)).toHaveLength(10)
  await expect(connect({ url, token: 'a-wrong-token-of-this-test' })).rejects.toMatchObject({
    code: 'ERR_SERVICE_REFUSED',
    status: 401,
  })
})
