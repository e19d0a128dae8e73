import { describe, expect, it } from 'vitest'
import { defineLayout, layouts } from '../../src/index.js'
import {
  describeLayout,
  fileKeyOf,
  hasGeometry,
  idsText,
  makeKey,
  parseDescription,
  parseKey,
} from '../../src/state/key.js'

// The texts are a part of the format, because pages and state files on disks contain them.

const { sonyflake } = layouts

describe('a key', () => {
  it('has the text that docs/state-format.md describes', () => {
    expect(makeKey(sonyflake, 7, 'orders', 'real')).toBe('real 1409529600000 10 39 24 8 16 7 orders')
    expect(makeKey(sonyflake, 7, 'orders')).toBe('1409529600000 10 39 24 8 16 7 orders')
    // The node's bits have the same place as in an id.
    expect(makeKey(layouts.twitter, 33, 'a', 'injected')).toBe('injected 1288834974657 1 41 22 12 0 135168 a')
  })

  it.each(['real', 'injected', undefined] as const)('contains the values that it was made of (%s)', (clock) => {
    const namespace = ' a\n b real '
    const key = parseKey(makeKey(sonyflake, 7, namespace, clock))
    expect(key).toMatchObject({ clock, nodeBits: 7n, namespace })
    expect(key && hasGeometry(key, sonyflake)).toBe(true)
    expect(key && hasGeometry(key, layouts.twitter)).toBe(false)
  })

  it('of a state file is the key of its page without the clock', () => {
    const injected = makeKey(sonyflake, 7, 'real a', 'injected')
    expect(fileKeyOf(injected)).toBe(makeKey(sonyflake, 7, 'real a'))
    expect(fileKeyOf(makeKey(sonyflake, 7, 'real a', 'real'))).toBe(fileKeyOf(injected))
  })

  it.each(['', 'nonsense', 'real', 'wall 0 1 41 22 12 0 1 a', '0 1 41 22 12 0 1', '0 1 41 22 12 0 -1 a'])(
    'is not %j',
    (text) => expect(parseKey(text)).toBeUndefined(),
  )
})

describe('a description', () => {
  it('has the text that docs/state-format.md describes, and gives the layout back', () => {
    const description = describeLayout(sonyflake)
    expect(description).toBe(
      '{"name":"sonyflake","epochMs":1409529600000,"tickMs":10,"fields":[["timestamp",39],["sequence",8],["machine",16]],"unsigned":false}',
    )
    expect(parseDescription(description)).toEqual({ name: 'sonyflake', layout: sonyflake })
  })

  it('of more than 2048 bytes keeps no names', () => {
    const long = defineLayout({ ...sonyflake, name: 'ü'.repeat(1024) })
    const { epochMs, tickMs, unsigned } = sonyflake
    expect(JSON.parse(describeLayout(long))).toEqual({
      name: '',
      epochMs,
      tickMs,
      unsigned,
      fields: [
        ['timestamp', 39],
        ['sequence', 8],
        ['field2', 16],
      ],
    })
    expect(parseDescription(describeLayout(long))?.name).toBe('')
  })

  it.each(['', '{}', '{"name":1}', '[]', 'null', describeLayout(sonyflake).replace('39', '60')])('is not %j', (text) =>
    expect(parseDescription(text)).toBeUndefined(),
  )
})

it('ids in a message are named by layout, node and namespace', () => {
  const [key, description] = [makeKey(layouts.twitter, 33, 'orders'), describeLayout(layouts.twitter)]
  const text =
    "layout 'twitter' (timestamp 41, datacenter 5, worker 5, sequence 12; epoch 1288834974657, tick 1 ms), node 33, namespace 'orders'"
  expect(idsText(key, description)).toBe(text)
  expect(idsText(`real ${key}`, description)).toBe(text)
  expect(idsText('nonsense', description)).toBe('unknown ids')
  expect(idsText(key, '{}')).toBe('unknown ids')
  expect(idsText(key, describeLayout(sonyflake))).toBe('unknown ids')
  expect(idsText(key.replace(' 135168 ', ` ${2n ** 63n} `), description)).toBe('unknown ids')
})
