import { createSegmentGenerator, type SegmentHandle, type SegmentOptions } from 'graupel/segments'
import { memoryStore } from 'graupel/stores'
import { describe, expect, it } from 'vitest'

/** Returns the error of a call, which must not ask the store. */
async function refused(options: unknown) {
  const error = await createSegmentGenerator(options as SegmentOptions).then(
    () => expect.fail('it was not refused'),
    (reason) => reason,
  )
  return { type: error.name, code: error.code, message: error.message }
}

const unused = {
  ...memoryStore(),
  read: () => expect.fail('the store was read'),
  write: () => expect.fail('the store was written'),
}

describe('an option of createSegmentGenerator that is wrong', () => {
  it.each<[string, object, string, RegExp]>([
    ['an empty name', { name: '' }, 'RangeError', /name is ''; pass 1 to 128 characters/],
    ['a name that is too long', { name: 'a'.repeat(129) }, 'RangeError', /name is 'a+…'; pass/],
    ['a name that is too long as a key', { name: '数'.repeat(27) }, 'RangeError', /at most 240/],
    ['a name that is no text', { name: 7 }, 'TypeError', /name is 7 \(number\)/],
    ['a name with half a character', { name: 'a\ud800' }, 'RangeError', /well-formed/],
    ['no name', { name: undefined }, 'TypeError', /name is undefined/],
    ['step 0', { step: 0 }, 'RangeError', /step is 0; pass a whole number from 1 to 9007199254740991/],
    ['a negative step', { step: -1 }, 'RangeError', /step is -1/],
    ['a step of 2^53', { step: 2 ** 53 }, 'RangeError', /step is 9007199254740992/],
    ['half a step', { step: 1.5 }, 'RangeError', /step is 1.5/],
    ['a step as text', { step: '10' }, 'TypeError', /step is '10' \(string\)/],
    ['a step as a bigint', { step: 10n }, 'TypeError', /step is 10n \(bigint\)/],
    ['minStep above step', { step: 10, minStep: 11 }, 'RangeError', /minStep is 11; pass .* from 1 to 10/],
    ['maxStep below step', { step: 10, maxStep: 9 }, 'RangeError', /maxStep is 9; pass .* from 10/],
    ['a stride without an offset', { stride: 2 }, 'TypeError', /stride is 2, and no offset is given/],
    ['an offset beyond the stride', { stride: 3, offset: 4 }, 'RangeError', /offset is 4; pass .* from 0 to 3/],
    ['an offset without a stride', { offset: 1 }, 'TypeError', /offset is 1, and no stride is given/],
    ['a stride of 65 536', { stride: 65_536, offset: 1 }, 'RangeError', /stride is 65536/],
    ['stride 0', { stride: 0, offset: 0 }, 'RangeError', /stride is 0/],
    ['max below start', { start: 10, max: 9 }, 'RangeError', /start is 10; pass .* from 0 to 9/],
    ['max below 0', { max: -1 }, 'RangeError', /max is -1/],
    ['max of 2^64', { max: 2n ** 64n }, 'RangeError', /max is 18446744073709551616; .* to 18446744073709551615/],
    ['a start that has lost digits', { start: 2 ** 53 }, 'RangeError', /above 2\^53 - 1 as a bigint/],
    ['a negative start', { start: -1n }, 'RangeError', /start is -1/],
    ['a start as text', { start: '1' }, 'TypeError', /start is '1' \(string\)/],
    ['prefetchAt NaN', { prefetchAt: Number.NaN }, 'RangeError', /prefetchAt is NaN/],
    ['prefetchAt 2', { prefetchAt: 2 }, 'RangeError', /prefetchAt is 2; .* from 0 to 1/],
    ['prefetchAt as text', { prefetchAt: '0.8' }, 'TypeError', /prefetchAt is '0.8'/],
    ['batchMs 0', { batchMs: 0 }, 'RangeError', /batchMs is 0; .* from 1 to 86400000/],
    ['a negative failoverGap', { failoverGap: -1 }, 'RangeError', /failoverGap is -1/],
    ['half a failoverGap', { failoverGap: 0.5 }, 'RangeError', /failoverGap is 0.5/],
    ['callTimeoutMs 0', { callTimeoutMs: 0 }, 'RangeError', /callTimeoutMs is 0/],
    ['callTimeoutMs infinite', { callTimeoutMs: Number.POSITIVE_INFINITY }, 'RangeError', /callTimeoutMs/],
    ['a signal that is none', { signal: true }, 'TypeError', /signal is true/],
    ['half a signal', { signal: { addEventListener() {}, throwIfAborted() {} } }, 'TypeError', /signal is {/],
    ['no store', { store: undefined }, 'TypeError', /store is undefined/],
    ['a client in place of a store', { store: { get() {}, set() {} } }, 'TypeError', /store/],
    ['a store that may forget, without incarnation', { store: { ...unused, durable: false } }, 'TypeError', /durable/],
  ])('%s is refused before the store is asked', async (_, options, type, message) => {
    const expected = { type, code: 'ERR_OPTION_INVALID', message: expect.stringMatching(message) }
    expect(await refused({ store: unused, name: 'orders', ...options })).toMatchObject(expected)
  })

  it('has an unknown name', async () => {
    expect(await refused({ store: unused, name: 'orders', steps: 10 })).toEqual({
      type: 'TypeError',
      code: 'ERR_OPTION_UNKNOWN',
      message: expect.stringMatching(
        /^there is no option 'steps' \(did you mean 'step'\?\); the options are store, name, start, max, stride/,
      ),
    })
  })

  it.each([undefined, null, 7, 'orders'])('is missing, because the options are %s', async (options) => {
    expect(await refused(options)).toMatchObject({ type: 'TypeError', code: 'ERR_OPTION_INVALID' })
  })

  it.each(['start', 'max', 'stride', 'offset', 'failoverGap'])('%s cannot be used with Leaf’s table', async (key) => {
    const store = { name: 'leaf_alloc', takeSegment: () => expect.fail('the table was asked') }
    const message = expect.stringMatching(new RegExp(`^${key} is 1, and .*leave it out$`))
    expect(await refused({ store, name: 'orders', [key]: 1 })).toMatchObject({ code: 'ERR_OPTION_INVALID', message })
  })
})

describe('a handle', () => {
  const handleOf = async (): Promise<SegmentHandle> =>
    (await createSegmentGenerator({ store: memoryStore(), name: 'orders' })).handle
  const withoutBigints = (handle: object) =>
    JSON.parse(JSON.stringify(handle, (_, value) => (typeof value === 'bigint' ? String(value) : value)))

  it.each<[string, (handle: SegmentHandle) => unknown, RegExp]>([
    ['undefined', () => undefined, /^handle is undefined; pass the handle/],
    ['null', () => null, /^handle is null/],
    ['of something else', () => ({ format: 'graupel lease 1' }), /^handle is \{ format \}/],
    ['went through JSON', withoutBigints, /comes from another process, or went through JSON/],
    ['has a copy of the memory', (h) => ({ ...h, memory: new ArrayBuffer(h.memory.byteLength) }), /another process/],
    ['has too little memory', (h) => ({ ...h, memory: new SharedArrayBuffer(8) }), /another process/],
  ])('is refused if it %s', async (_, change, message) => {
    expect(await refused({ handle: change(await handleOf()) })).toEqual({
      type: 'TypeError',
      code: 'ERR_OPTION_INVALID',
      message: expect.stringMatching(message),
    })
  })

  it('excludes the other options', async () => {
    const handle = await handleOf()
    expect(await refused({ handle, name: 'orders' })).toMatchObject({ type: 'TypeError', code: 'ERR_OPTION_UNKNOWN' })
  })

  it('that is undefined beside a store is not given', async () => {
    const options = { store: memoryStore(), name: 'orders', handle: undefined }
    using numbers = await createSegmentGenerator(options)
    expect(numbers.next()).toBe(1n)
  })

  it('is refused by a closed generator', async () => {
    const numbers = await createSegmentGenerator({ store: memoryStore(), name: 'orders' })
    numbers.close()
    expect(() => numbers.handle).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }))
  })
})

describe('the defaults', () => {
  it('begin at 1, with 1000 numbers, up to 2^63 - 1', async () => {
    using numbers = await createSegmentGenerator({ store: memoryStore(), name: 'orders' })
    expect(numbers.next()).toBe(1n)
    expect(numbers.stats()).toMatchObject({ name: 'orders', store: 'memory', step: 1000, issued: 1, left: 999 })
    expect(numbers.handle.max).toBe(2n ** 63n - 1n)
  })

  it('begin at 0 if no other start fits', async () => {
    using numbers = await createSegmentGenerator({ store: memoryStore(), name: 'orders', max: 0 })
    expect(numbers.next()).toBe(0n)
  })

  it('take names of any language', async () => {
    const store = memoryStore()
    using numbers = await createSegmentGenerator({ store, name: 'заказы/订单' })
    expect(numbers.name).toBe('заказы/订单')
    expect(await store.list('numbers/')).toHaveLength(1)
  })
})

describe('the signal', () => {
  const reason = new Error('enough')

  it('cancels the creation before the store is asked, if it is already aborted', async () => {
    const signal = AbortSignal.abort(reason)
    await expect(createSegmentGenerator({ store: unused, name: 'orders', signal })).rejects.toBe(reason)
  })

  it('cancels a creation whose store hangs', async () => {
    const cancel = new AbortController()
    const store = { ...memoryStore(), read: () => new Promise<never>(() => {}) }
    const creation = createSegmentGenerator({ store, name: 'orders', signal: cancel.signal })
    cancel.abort(reason)
    await expect(creation).rejects.toBe(reason)
  })
})

it("maxStep may be below the usual step if the step is that of Leaf's table", async () => {
  let last = 0n
  const takeSegment = async (_: string, count = 100) => {
    last += BigInt(count)
    return { first: last - BigInt(count) + 1n, count }
  }
  const store = { name: 'leaf', takeSegment } as never
  const orders = await createSegmentGenerator({ store, name: 'orders', maxStep: 500 })
  orders.take(50)
  expect(orders.stats().step).toBe(100)
  orders.close()
  expect(await refused({ store, name: 'orders', minStep: 10, maxStep: 9 })).toMatchObject({
    code: 'ERR_OPTION_INVALID',
  })
})
