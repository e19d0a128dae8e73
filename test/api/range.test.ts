import fc from 'fast-check'
import { composeId, decode, defineLayout, idsBetween, type Layout, layouts } from 'graupel'
import { describe, expect, it } from 'vitest'

const { twitter } = layouts
const presets: [string, Layout][] = Object.entries(layouts)
const largest = ({ bits }: Layout) => 2n ** BigInt(bits) - 1n

describe('idsBetween', () => {
  it.each(presets)('has exactly the ids of %s whose times are in the range', (_, layout) => {
    const end = Math.min(layout.expiresAt.getTime(), Date.UTC(3000, 0))
    const time = fc.double({ min: layout.epochMs, max: end - 2 * layout.tickMs, noNaN: true })
    const near = fc.oneof(
      fc.constant(0),
      fc.integer({ min: -3 * layout.tickMs, max: 3 * layout.tickMs }),
      fc.double({ min: -2, max: 2, noNaN: true }),
    )
    const given = fc.record({ time, from: near, to: near, isLast: fc.boolean() })
    fc.assert(
      fc.property(given, ({ time, from, to, isLast }) => {
        const node = isLast ? layout.nodes - 1 : 0
        const sequence = isLast ? 2 ** layout.sequence.bits - 1 : 0
        const id = composeId({ timestampMs: time, node, sequence } as never, layout)
        const { timestampMs } = decode(id, layout)
        const [earlier = 0, later = 0] = [timestampMs + from, timestampMs + to].sort((a, b) => a - b)
        const { first, end } = idsBetween(earlier, later, layout)
        expect(first <= id && id < end).toBe(earlier <= timestampMs && timestampMs < later)
      }),
    )
  })

  it('meets the next range', () => {
    const noon = Date.UTC(2026, 0, 1, 12)
    for (const layout of [twitter, layouts.sonyflake] as Layout[]) {
      for (const ms of [noon, noon + 5, noon + 0.5]) {
        expect(idsBetween(0, ms, layout).end).toBe(idsBetween(ms, Infinity, layout).first)
      }
    }
    expect(idsBetween(noon, noon, twitter).first).toBe(idsBetween(noon, noon, twitter).end)
  })

  it.each(presets)('has all ids of %s but the largest if both times are outside of its life', (_, layout) => {
    const all = { first: 0n, end: largest(layout) }
    expect(idsBetween(-Infinity, Infinity, layout)).toEqual(all)
    expect(idsBetween(layout.epochMs - 1, layout.epochMs + 2 ** layout.timestamp.bits * layout.tickMs, layout)).toEqual(
      all,
    )
  })

  it('is empty beside the life of the layout', () => {
    expect(idsBetween(-Infinity, twitter.epochMs, twitter)).toEqual({ first: 0n, end: 0n })
    expect(idsBetween(twitter.expiresAt, Infinity, twitter)).toEqual({ first: largest(twitter), end: largest(twitter) })
  })

  it('takes a Date', () => {
    const [from, to] = [Date.UTC(2026, 10, 1), Date.UTC(2026, 11, 1)]
    expect(idsBetween(new Date(from), new Date(to), twitter)).toEqual(idsBetween(from, to, twitter))
    expect(idsBetween(from, to, twitter).first).toBe(composeId({ timestampMs: from, node: 0 }, twitter))
  })

  it.each([
    ['a range that ends before it begins', [2, 1], RangeError, /^from is 2, after to, which is 1; pass the earlier/],
    ['a text', ['2026-11-01', 1], TypeError, /^from is '2026-11-01' \(string\); pass a Date, a Temporal\.Instant/],
    ['nothing', [1, undefined], TypeError, /^to is undefined/],
    ['a bigint', [1n, 2], TypeError, /^from is 1n/],
    ['NaN', [Number.NaN, 2], RangeError, /^from is NaN; pass a Date/],
    ['an invalid Date', [1, new Date(Number.NaN)], RangeError, /^to is an invalid Date; pass a Date/],
  ])('refuses %s', (_, [from, to], type, message) => {
    const call = () => idsBetween(from as number, to as number, twitter)
    expect(call).toThrow(type)
    expect(call).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION_INVALID', message: expect.stringMatching(message) }),
    )
  })

  it('refuses a layout whose ids do not begin with the time', () => {
    const fields = [
      ['shard', 10],
      ['timestamp', 41],
      ['sequence', 12],
    ] as const
    const layout = defineLayout({ name: 'shards', epochMs: 0, tickMs: 1, fields })
    expect(() => idsBetween(0, 1, layout)).toThrow(
      expect.objectContaining({
        code: 'ERR_LAYOUT_INVALID',
        message:
          "layout 'shards' has the field 'shard' above its timestamp, so ids of a time are no range; use a layout whose first field is the timestamp",
      }),
    )
  })
})
