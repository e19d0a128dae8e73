import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createGenerator, defineSerial, GraupelError, isGraupelError, isId, layouts } from 'graupel'
import { connect } from 'graupel/client'
import { defineKind, idSchema } from 'graupel/kind'
import { createMask } from 'graupel/mask'
import { createCounter, createSegmentGenerator } from 'graupel/segments'
import { memoryStore } from 'graupel/stores'
import { testGenerator } from 'graupel/testing'
import { createUuidGenerator, decodeUuid, isUuid, parseUuid, ulidOf, uuidAt, uuidBytes, uuidOfUlid } from 'graupel/uuid'
import { describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { fakeService } from '../client/service.js'
import { repository } from '../support/documents.js'
import { freshNamespace } from '../support/engines.js'

// Functions are passed to `map`, `filter` and `Array.from`, which pass an index and the array as well, and no
// `this`.

const ids = testGenerator()
const uuids = createUuidGenerator({ node: 7, namespace: freshNamespace() })
const kind = defineKind({ prefix: 'ord', layout: layouts.twitter })
const uuidKind = defineKind({ prefix: 'usr', uuid: true })
const serial = defineSerial({ pattern: '001{yyyyMMddHHmmssSSS}{node:4}{sequence:4}', layout: layouts.twitter })
const mask = createMask(Uint8Array.from({ length: 32 }, (_, i) => i))
const narrowMask = createMask({ keys: { a: Uint8Array.from({ length: 16 }, (_, i) => i) }, bits: 53 })
const twoIds = ids.take(2)
const twoUuids = uuids.take(2)

type Unary = (value: never) => unknown

/** Every exported function that takes one value and no options, and every method of the kind, with values. */
const unary: Record<string, readonly [call: Unary, values: readonly unknown[]]> = {
  isId: [isId, twoIds],
  isGraupelError: [isGraupelError, [new GraupelError('ERR_CLOSED', 'closed'), new Error('other')]],
  isUuid: [isUuid, twoUuids],
  parseUuid: [parseUuid, twoUuids],
  uuidBytes: [uuidBytes, twoUuids],
  decodeUuid: [decodeUuid, twoUuids],
  ulidOf: [ulidOf, twoUuids],
  uuidOfUlid: [uuidOfUlid, twoUuids.map((uuid) => ulidOf(uuid))],
  uuidAt: [uuidAt, [0, new Date(5)]],
  idSchema: [(layout: never, ...more) => typeof idSchema(layout, ...(more as [])), [layouts.twitter, layouts.js53]],
  'kind.text': [kind.text, twoIds],
  'kind.id': [kind.id, twoIds.map(kind.text)],
  'kind.is': [kind.is, twoIds.map(kind.text)],
  'uuidKind.text': [uuidKind.text, twoUuids],
  'uuidKind.id': [uuidKind.id, twoUuids.map(uuidKind.text)],
  'mask.hide': [mask.hide, twoIds],
  'mask.reveal': [mask.reveal, twoIds],
  'mask.hideString': [mask.hideString, twoIds],
  'mask.revealString': [mask.revealString, twoIds.map(mask.hideString)],
  'mask.hideNumber': [narrowMask.hideNumber, [1, 2]],
  'mask.revealNumber': [narrowMask.revealNumber, [1, 2]],
  'ids.decode': [ids.decode, twoIds],
}

/** Exported functions with options or several values, and functions without an argument. */
const others =
  /^(create\w+|define\w+|decode|encodeId|parseId|scatter|gather|composeId|idsBetween|timestampMsOf|engineInfo|nodeFromEnvironment|connect|acquireLease|\w+Store|storeContract|testGenerator|uuidOf|idOfUuid|uuidSchema|aes|GraupelError)$/

it('each exported function is in one of the lists', async () => {
  for (const entry of Object.keys(manifest.exports)) {
    if (entry === './package.json') continue
    const path = join(repository, 'src', entry)
    const exported = await import(/* @vite-ignore */ existsSync(`${path}.ts`) ? `${path}.ts` : `${path}/index.ts`)
    for (const [name, value] of Object.entries(exported)) {
      if (typeof value === 'function') expect(Object.hasOwn(unary, name) !== others.test(name), name).toBe(true)
    }
  }
})

describe.each(Object.entries(unary))('%s', (_, [call, values]) => {
  const one = (value: unknown) => (call as (value: unknown) => unknown)(value)
  const passed = call as (value: unknown, index?: number, array?: unknown) => unknown

  it('is a callback of map, filter, every, find and Array.from', () => {
    const expected = values.map((value) => one(value))
    expect(values.map(passed)).toEqual(expected)
    expect(Array.from(values, passed)).toEqual(expected)
    expect(values.filter(passed)).toEqual(values.filter((value) => one(value)))
    expect(values.every(passed)).toBe(values.every((value) => one(value)))
    expect(values.find(passed)).toEqual(values.find((value) => one(value)))
  })
})

it('TypeScript takes them as callbacks, too', () => {
  const anything: unknown[] = ['7', 8n, 9]
  const accepted: (bigint | string)[] = anything.filter(isId)
  expect(accepted).toEqual(['7', 8n])
  expect(['7', '-7'].filter(isId)).toEqual(['7'])
  expect(twoUuids.map(decodeUuid).map(({ version }) => version)).toEqual([7, 7])
  expect([layouts.twitter].map(idSchema)[0]?.['~standard'].validate('7')).toEqual({ value: 7n })
  expect(twoIds.map(ids.decode).map(({ node }) => node)).toEqual([0, 0])
})

it('an index in place of a layout does not hide a layout that is none', () => {
  expect(() => isId(1n, 'twitter' as never)).toThrow(expect.objectContaining({ code: 'ERR_LAYOUT_INVALID' }))
  expect(() => decodeUuid(uuids.next(), 'twitter' as never)).toThrow(
    expect.objectContaining({ code: 'ERR_LAYOUT_INVALID' }),
  )
})

describe('without their object', () => {
  it('the calls of a generator, a client, segments and a counter make numbers', async () => {
    const store = memoryStore()
    const { url } = await fakeService()
    const sources = [
      createGenerator({ node: 8, namespace: freshNamespace() }),
      testGenerator(),
      await connect({ url }),
      await createSegmentGenerator({ store, name: 'orders' }),
    ]
    for (const source of sources) {
      const { next, nextString, nextAsync, fill, fillAsync, take, stats, close } = source
      const [first, second] = [1, 2].map(take)
      expect([first?.length, second?.length]).toEqual([1, 2])
      const arrays = [new BigUint64Array(2), new BigUint64Array(3)]
      expect(arrays.map(fill)).toEqual(arrays)
      expect(await Promise.all(arrays.map(fillAsync))).toEqual(arrays)
      expect(Array.from({ length: 2 }, next)).toHaveLength(2)
      expect(Array.from({ length: 2 }, nextString)).toHaveLength(2)
      expect(await Promise.all(Array.from({ length: 2 }, nextAsync))).toHaveLength(2)
      expect(stats().issued).toBe(19)
      close()
      expect(next).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }))
    }
    const { next, nextNumber } = await createCounter({ store, name: 'invoices' })
    expect(await Promise.all(Array.from({ length: 2 }, next))).toEqual(['1', '2'])
    expect(await Promise.all(Array.from({ length: 2 }, nextNumber))).toEqual([3, 4])
  })

  it('the calls of a generator of UUIDs make UUIDs', async () => {
    const own = createUuidGenerator({ node: 9, namespace: freshNamespace() })
    const { next, nextBytes, fill, fillAsync, take, stats, close } = own
    const bytes: Uint8Array[] = Array.from({ length: 3 }, nextBytes)
    const texts = [...Array.from({ length: 3 }, next), ...bytes.map(parseUuid), ...take(2)]
    const arrays = [new Uint8Array(32), new Uint8Array(16)]
    expect(arrays.map(fill)).toEqual(arrays)
    expect(await Promise.all(arrays.map(fillAsync))).toEqual(arrays)
    expect(new Set(texts).size).toBe(8)
    expect(texts.every(isUuid)).toBe(true)
    expect(stats().issued).toBe(14)
    close()
    expect(next).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }))
  })

  it('the calls of a serial write and read', () => {
    expect(twoIds.map(serial.format).map(serial.parse)).toEqual(twoIds)
  })
})
