import { createGenerator, defineLayout, layouts } from 'graupel'
import { afterEach, describe, expect, it } from 'vitest'
import { type Caught, caught, engines, freshNamespace } from '../support/engines.js'

const make = (options: object) => caught(() => createGenerator(options as never))

describe('the error about an option', () => {
  it.each([
    { maxAheadMs: -1 },
    { maxWaitMs: '5' },
    { openTimeoutMs: -1 },
    { reserveMs: 0 },
    { onRollback: 'ignore' },
    { namespace: '' },
    { state: 'hosts' },
    { clock: 'sundial' },
  ])('names the option of %j, with which the message begins', (wrong) => {
    const [name] = Object.keys(wrong)
    const error = make({ node: 1, ...wrong }) as Caught & { option?: string }
    expect(error).toMatchObject({ code: 'ERR_OPTION_INVALID', option: name })
    expect(error.message.startsWith(`${name} is `)).toBe(true)
  })

  it('names an option that does not exist', () => {
    expect(make({ node: 1, worker: 2 })).toMatchObject({ code: 'ERR_OPTION_UNKNOWN', option: 'worker' })
  })
})

describe('the time that a state file reserves', () => {
  it('is reserveMs, and the message about windowMs, which leases have, says so', () => {
    const error = make({ node: 1, state: './ids.state', windowMs: 900 }) as Caught & { option?: string }
    expect(error).toMatchObject({ code: 'ERR_OPTION_UNKNOWN', option: 'windowMs' })
    expect(error.message).toContain('pass reserveMs with a state file, or windowMs to acquireLease')
  })
})

describe('options', () => {
  it.each([
    ['no options', undefined, TypeError, 'ERR_NODE_REQUIRED'],
    ['options that are none', 7, TypeError, 'ERR_OPTION_INVALID'],
    ['null', null, TypeError, 'ERR_OPTION_INVALID'],
    ['an unknown option', { node: 1, worker: 2 }, TypeError, 'ERR_OPTION_UNKNOWN'],
    ['no node', {}, TypeError, 'ERR_NODE_REQUIRED'],
    ['a negative node', { node: -1 }, RangeError, 'ERR_NODE_INVALID'],
    ['a fractional node', { node: 1.5 }, RangeError, 'ERR_NODE_INVALID'],
    ['NaN for a node', { node: Number.NaN }, RangeError, 'ERR_NODE_INVALID'],
    ['a node in text', { node: '7' }, TypeError, 'ERR_NODE_INVALID'],
    ['a bigint for a node', { node: 7n }, TypeError, 'ERR_NODE_INVALID'],
    ['null for a node', { node: null }, TypeError, 'ERR_NODE_INVALID'],
    ['a node too wide', { node: 1024 }, RangeError, 'ERR_NODE_INVALID'],
    ['a node that lacks a field', { node: { datacenter: 1 } }, TypeError, 'ERR_NODE_INVALID'],
    ['a node with another field', { node: { datacenter: 1, worker: 1, shard: 1 } }, TypeError, 'ERR_NODE_INVALID'],
    ['a node with a field too wide', { node: { datacenter: 32, worker: 0 } }, RangeError, 'ERR_NODE_INVALID'],
    ['a node with a field in text', { node: { datacenter: '1', worker: 0 } }, TypeError, 'ERR_NODE_INVALID'],
    ['a layout that is none', { node: 1, layout: 'twitter' }, TypeError, 'ERR_LAYOUT_INVALID'],
    ['an epoch in the future', { node: 1, epoch: Date.now() + 86_400_000 }, Error, 'ERR_CLOCK_BEFORE_EPOCH'],
    ['an epoch in seconds', { node: 1, epoch: 1_577_836_800 }, RangeError, 'ERR_EPOCH_INVALID'],
    ['a fractional epoch', { node: 1, epoch: 0.5 }, RangeError, 'ERR_EPOCH_INVALID'],
    ['an epoch in text', { node: 1, epoch: '2020-01-01' }, RangeError, 'ERR_EPOCH_INVALID'],
    ['an epoch that is an invalid Date', { node: 1, epoch: new Date('x') }, RangeError, 'ERR_EPOCH_INVALID'],
    ['an epoch so old that the layout is expired', { node: 1, epoch: Date.UTC(1900, 0) }, Error, 'ERR_LAYOUT_EXPIRED'],
    ['an expired layout', { node: 1, layout: layouts.baidu }, Error, 'ERR_LAYOUT_EXPIRED'],
    ['a layout for reading ids', { node: 0, layout: layouts.mastodon }, RangeError, 'ERR_LAYOUT_DECODE_ONLY'],
    ['one with another epoch', { node: 0, layout: layouts.mastodon, epoch: 1 }, RangeError, 'ERR_LAYOUT_DECODE_ONLY'],
    ['a namespace that is no text', { node: 1, namespace: 1 }, TypeError, 'ERR_OPTION_INVALID'],
    ['an empty namespace', { node: 1, namespace: '' }, RangeError, 'ERR_OPTION_INVALID'],
    ['a namespace of 256 characters', { node: 1, namespace: 'x'.repeat(256) }, RangeError, 'ERR_OPTION_INVALID'],
    ['half a character', { node: 1, namespace: '\ud800' }, RangeError, 'ERR_OPTION_INVALID'],
    ['a rollback policy that does not exist', { node: 1, onRollback: 'ignore' }, TypeError, 'ERR_OPTION_INVALID'],
    ['an overflow policy that is one of rollback', { node: 1, onOverflow: 'reuse' }, TypeError, 'ERR_OPTION_INVALID'],
    ['a negative maxAheadMs', { node: 1, maxAheadMs: -1 }, RangeError, 'ERR_OPTION_INVALID'],
    ['NaN for maxWaitMs', { node: 1, maxWaitMs: Number.NaN }, RangeError, 'ERR_OPTION_INVALID'],
    ['Infinity for maxAheadMs', { node: 1, maxAheadMs: Number.POSITIVE_INFINITY }, RangeError, 'ERR_OPTION_INVALID'],
    ['maxWaitMs in text', { node: 1, maxWaitMs: '50' }, TypeError, 'ERR_OPTION_INVALID'],
    ['a sequence start that does not exist', { node: 1, sequenceStart: 'one' }, TypeError, 'ERR_OPTION_INVALID'],
    ['a clock that does not exist', { node: 1, clock: 'monotonic' }, TypeError, 'ERR_OPTION_INVALID'],
    ['a clock that returns NaN', { node: 1, clock: () => Number.NaN }, RangeError, 'ERR_CLOCK_INVALID'],
    ['a clock that returns text', { node: 1, clock: () => '1' }, TypeError, 'ERR_CLOCK_INVALID'],
    ['a clock that returns a promise', { node: 1, clock: async () => 1 }, TypeError, 'ERR_CLOCK_INVALID'],
    [
      'a clock that returns Infinity',
      { node: 1, clock: () => Number.POSITIVE_INFINITY },
      RangeError,
      'ERR_CLOCK_INVALID',
    ],
    ['an engine that does not exist', { node: 1, engine: 'wasm' }, TypeError, 'ERR_OPTION_INVALID'],
    ['an engine named as a property', { node: 1, engine: 'toString' }, TypeError, 'ERR_OPTION_INVALID'],
    ['a state that is no text', { node: 1, state: 7 }, TypeError, 'ERR_OPTION_INVALID'],
    ['an empty state', { node: 1, state: '' }, RangeError, 'ERR_OPTION_INVALID'],
    ['a state that is a URL', { node: 1, state: 'file:///var/lib/app.state' }, RangeError, 'ERR_OPTION_INVALID'],
    [
      'a state that is neither a word of ours nor a path',
      { node: 1, state: 'hosts' },
      RangeError,
      'ERR_OPTION_INVALID',
    ],
    ['a path with a zero in it', { node: 1, state: './a\0b' }, RangeError, 'ERR_OPTION_INVALID'],
    ['an openTimeoutMs of more than a day', { node: 1, openTimeoutMs: 86_400_001 }, RangeError, 'ERR_OPTION_INVALID'],
    ['a reserve of nothing', { node: 1, reserveMs: 0 }, RangeError, 'ERR_OPTION_INVALID'],
    ['a reserve of more than a day', { node: 1, reserveMs: 86_400_001 }, RangeError, 'ERR_OPTION_INVALID'],
    ['a reserve in words', { node: 1, reserveMs: '3s' }, TypeError, 'ERR_OPTION_INVALID'],
    [
      'a state on the js engine that only native keeps',
      { node: 1, state: 'host', engine: 'js' },
      Error,
      'ERR_NATIVE_UNAVAILABLE',
    ],
  ])('refuse %s', (_, options, kind, code) => {
    const error = make(options as object)
    expect(error.code).toBe(code)
    expect(error).toBeInstanceOf(kind)
    expect(error.message.length).toBeGreaterThan(30)
  })

  it.runIf(engines.includes('native'))('say where the state is kept', () => {
    const namespace = freshNamespace()
    expect(createGenerator({ node: 1, namespace, engine: 'native' }).stats().state).toBe('host')
    expect(createGenerator({ node: 2, namespace, engine: 'native', state: 'process' }).stats().state).toBe('process')
    expect(createGenerator({ node: 3, namespace, engine: 'js' }).stats().state).toBe('host')
    // A run of a simulation must not find the state of the run before.
    expect(createGenerator({ node: 4, namespace, clock: Date.now }).stats().state).toBe('process')
    expect(createGenerator({ node: 5, namespace, clock: Date.now, state: 'host' }).stats().state).toBe('host')
  })

  it.runIf(engines.includes('native'))('refuse a folder that is not there, and keep what the system said', () => {
    const error = make({ node: 1, state: '/nowhere/at/all/ids.state' }) as Caught & { cause?: { code?: string } }
    expect(error.code).toBe('ERR_STATE_UNAVAILABLE')
    expect(error.cause?.code).toBe('ENOENT')
    expect(error.message).toContain('/nowhere/at/all/ids.state')
  })

  it('take every node of a layout, in both forms', () => {
    const namespace = freshNamespace()
    for (const node of [0, 1023]) {
      const ids = createGenerator({ node, namespace })
      expect(ids.decode(ids.next()).node).toBe(node)
    }
    const ids = createGenerator({ node: { datacenter: 11, worker: 26 }, namespace })
    expect(ids.decode(ids.next())).toMatchObject({ node: 378, fields: { datacenter: 11, worker: 26 } })
  })

  it.each([
    ['a URL', new URL('file:///var/lib/app.state')],
    ['a Map', new Map()],
    ['an Error', new Error('no')],
    ['a Uint8Array', new Uint8Array(2)],
    ['an empty object', {}],
    ['{ path }', { path: 'x' }],
  ])('call what is %s by that name', (name, state) => {
    expect(make({ node: 1, state }).message).toContain(`state is ${name};`)
  })

  it.each([
    ['workerId', /^there is no option 'workerId'; pass node: 7, or node: \{ datacenter: 1, worker: 7 \}$/],
    ['machineId', /pass node: 7/],
    ['datacenterId', /pass node: 7/],
    ['worker', /pass node: 7/],
    [
      'epochMs',
      /^there is no option 'epochMs'; pass layout: defineLayout\(\{ ...layouts.twitter, epochMs \}\), or epoch$/,
    ],
  ])('name the option that does what %s does in other packages', (name, message) => {
    expect(make({ [name]: 7 })).toMatchObject({ code: 'ERR_OPTION_UNKNOWN', option: name })
    expect(make({ [name]: 7 }).message).toMatch(message)
  })

  it('say of an epoch what they take, and defineLayout what it takes', () => {
    expect(make({ node: 1, epoch: '2020-01-01' }).message).toMatch(
      /that a Date can hold, or a valid Date or Temporal\.Instant$/,
    )
    const { message } = caught(() => defineLayout({ ...layouts.twitter, epochMs: new Date(0) as never }))
    expect(message).toMatch(/a whole number of milliseconds since 1970 that a Date can hold; pass its getTime\(\)$/)
  })

  it('take a Date for an epoch', () => {
    const epoch = new Date('2024-01-01')
    const ids = createGenerator({ node: 1, epoch, layout: layouts.baidu })
    expect(Math.abs(ids.decode(ids.next()).timestampMs - Date.now())).toBeLessThan(2000)
  })
})

describe('GRAUPEL_NODE', () => {
  const before = process.env['GRAUPEL_NODE']
  afterEach(() => {
    if (before === undefined) delete process.env['GRAUPEL_NODE']
    else process.env['GRAUPEL_NODE'] = before
  })

  it('counts as choosing a node', () => {
    process.env['GRAUPEL_NODE'] = '42'
    for (const ids of [createGenerator(), createGenerator({})]) expect(ids.decode(ids.next()).node).toBe(42)
  })

  it('counts as unset if it is empty', () => {
    process.env['GRAUPEL_NODE'] = ''
    expect(make({}).code).toBe('ERR_NODE_REQUIRED')
  })

  it('gives way to the option', () => {
    process.env['GRAUPEL_NODE'] = 'nonsense'
    const ids = createGenerator({ node: 3 })
    expect(ids.decode(ids.next()).node).toBe(3)
  })

  it.each([' 7', '-1', '1.5', '07', '1e2', '1024', 'worker-7'])('is refused as %s', (value) => {
    process.env['GRAUPEL_NODE'] = value
    expect(make({}).code).toBe('ERR_NODE_INVALID')
  })
})
