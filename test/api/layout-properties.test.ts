import fc from 'fast-check'
import {
  composeId,
  decode,
  defineLayout,
  encodeId,
  encodings,
  isId,
  type Layout,
  layouts,
  parseId,
  timestampMsOf,
} from 'graupel'
import { describe, expect, it } from 'vitest'

const id = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })

/** Any layout that the rules allow: fields in any order, up to five of them in the node. */
const layout: fc.Arbitrary<Layout> = fc
  .record({
    timestamp: fc.integer({ min: 1, max: 45 }),
    sequence: fc.integer({ min: 1, max: 40 }),
    nodes: fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 5 }),
    epochMs: fc.integer({ min: -1e12, max: 1e12 }),
    tickMs: fc.constantFrom(1, 10, 60),
    seed: fc.infiniteStream(fc.nat()),
  })
  .filter(({ timestamp, sequence, nodes }) => {
    const node = nodes.reduce((a, b) => a + b, 0)
    return node <= 53 && timestamp + sequence + node <= 64
  })
  .map(({ timestamp, sequence, nodes, epochMs, tickMs, seed }) => {
    const fields: [string, number][] = [
      ['timestamp', timestamp],
      ['sequence', sequence],
      ...nodes.map((bits, i): [string, number] => [`part${i}`, bits]),
    ]
    const order = fields.map((field) => ({ field, key: seed.next().value as number }))
    const sorted = order.sort((a, b) => a.key - b.key).map(({ field }) => field)
    return defineLayout({ name: 'any', epochMs, tickMs, fields: sorted, unsigned: true })
  })

/** A number that fits into so many bits, with the edges likely. */
const fitting = (bits: number) => fc.integer({ min: 0, max: 2 ** bits - 1 })

const layoutWithParts = layout.chain((of) =>
  fc.record({
    of: fc.constant(of),
    tick: fitting(of.timestamp.bits),
    sequence: fitting(of.sequence.bits),
    fields: fc.record(Object.fromEntries(of.nodeFields.map(({ name, bits }) => [name, fitting(bits)]))),
  }),
)

describe('any layout', () => {
  it('composes an id from its decoded fields, and decodes an id to the fields that composed it', () => {
    fc.assert(
      fc.property(layoutWithParts, ({ of, tick, sequence, fields }) => {
        const timestampMs = of.epochMs + tick * of.tickMs
        const made = composeId({ timestampMs, node: fields, sequence } as never, of)
        expect(decode(made, of)).toEqual({
          timestamp: new Date(timestampMs),
          timestampMs,
          node: decode(made, of).node,
          fields,
          sequence,
        })
        expect(composeId({ timestampMs, node: decode(made, of).node, sequence }, of)).toBe(made)
        expect(composeId(decode(made, of), of)).toBe(made)
      }),
      { numRuns: 3000 },
    )
  })

  it('agrees with plain arithmetic: a sum of products with powers of two', () => {
    fc.assert(
      fc.property(layoutWithParts, ({ of, tick, sequence, fields }) => {
        // (ms - epoch) * 2^22 + datacenter * 2^17 + worker * 2^12 + sequence, for fields in any order.
        let oracle = 0n
        for (const [name, bits] of of.fields) {
          const value = name === 'timestamp' ? tick : name === 'sequence' ? sequence : (fields[name] as number)
          oracle = oracle * 2n ** BigInt(bits) + BigInt(value)
        }
        expect(composeId({ timestampMs: of.epochMs + tick * of.tickMs, node: fields, sequence } as never, of)).toBe(
          oracle,
        )
      }),
      { numRuns: 3000 },
    )
  })
})

/** Returns the result of a call, or the error that it throws. */
function outcomeOf(call: () => unknown): unknown {
  try {
    return call()
  } catch (error) {
    const { name, code, message } = error as { name: string; code?: string; message: string }
    return { name, code, message }
  }
}

describe('any value', () => {
  const anyLayout = fc.oneof(layout, fc.constantFrom(...(Object.values(layouts) as Layout[])))
  const near = (edge: bigint) => fc.bigInt({ min: edge - 3n, max: edge + 3n })
  const number = fc.oneof(id, near(0n), near(2n ** 64n), near(2n ** 32n), near(10n ** 9n), fc.bigInt(), narrow())
  const value = fc.oneof(
    { weight: 4, arbitrary: number },
    { weight: 4, arbitrary: number.map(String) },
    fc.stringMatching(/^[ +-]?0{0,2}[0-9]{0,22}[n. ]?$/),
    fc.anything({ withBigInt: true, withDate: true }),
  )

  /** Ids of few bits, so that they fit layouts of few bits, or only just do not. */
  function narrow() {
    return fc.integer({ min: 1, max: 64 }).chain((bits) => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) }))
  }

  it('has the time that decode says, or is refused as decode refuses it', () => {
    fc.assert(
      fc.property(value, anyLayout, (any, of) => {
        const decoded = outcomeOf(() => decode(any as bigint, of).timestampMs)
        expect(outcomeOf(() => timestampMsOf(any as bigint, of))).toEqual(decoded)
      }),
      { numRuns: 5000 },
    )
  })

  it('is an id exactly if decode takes it', () => {
    fc.assert(
      fc.property(value, anyLayout, (any, of) => {
        expect(isId(any, of)).toBe(typeof outcomeOf(() => decode(any as bigint, of).sequence) === 'number')
        expect(isId(any)).toBe(typeof outcomeOf(() => encodeId(any as bigint, 'hex')) === 'string')
      }),
      { numRuns: 5000 },
    )
  })

  it('is an id if a regular expression and BigInt say so', () => {
    fc.assert(
      fc.property(value, anyLayout, (any, of) => {
        const digits = typeof any === 'bigint' || (typeof any === 'string' && /^(0|[1-9][0-9]*)$/.test(any))
        const number = digits ? BigInt(any as string) : -1n
        const inLayout = of.bits <= 53 && Number.isSafeInteger(any) ? BigInt(any as number) : number
        expect(isId(any)).toBe(number >= 0n && number < 2n ** 64n)
        expect(isId(any, of)).toBe(inLayout >= 0n && inLayout < 2n ** BigInt(of.bits))
        if (isId(any)) expect(parseId(encodeId(any, 'hex'), 'hex')).toBe(number)
      }),
      { numRuns: 5000 },
    )
  })
})

describe('any id', () => {
  it('survives every encoding', () => {
    fc.assert(
      fc.property(id, fc.constantFrom(...encodings), (value, encoding) => {
        expect(parseId(encodeId(value, encoding) as never, encoding as 'hex')).toBe(value)
      }),
      { numRuns: 5000 },
    )
  })

  it('sorts as text as it does as a number, in the encodings of fixed width', () => {
    const fixed = encodings.filter((encoding) => encoding !== 'decimal')
    fc.assert(
      fc.property(id, id, fc.constantFrom(...fixed), (a, b, encoding) => {
        const [x, y] = [encodeId(a, encoding), encodeId(b, encoding)]
        const order = typeof x === 'string' ? (x < y ? -1 : x > y ? 1 : 0) : Buffer.compare(x, y as Uint8Array)
        expect(order).toBe(a < b ? -1 : a > b ? 1 : 0)
      }),
      { numRuns: 5000 },
    )
  })
})

describe('any text', () => {
  const texts = fc.oneof(
    fc.string({ maxLength: 25, unit: 'binary' }),
    fc.stringMatching(/^[0-9a-zA-Z]{1,24}$/),
    fc.stringMatching(/^[ +-]?[0-9]{1,24}n?$/),
  )

  it('is read as an id below 2^64, or refused with a code', () => {
    fc.assert(
      fc.property(texts, fc.constantFrom('decimal', 'hex', 'base32', 'base58', 'base62'), (text, encoding) => {
        try {
          const value = parseId(text, encoding as 'hex')
          expect(value).toBeLessThan(2n ** 64n)
          expect(parseId(encodeId(value, encoding as 'hex'), encoding as 'hex')).toBe(value)
        } catch (error) {
          expect((error as { code?: string }).code).toBe('ERR_ID_INVALID')
        }
      }),
      { numRuns: 10_000 },
    )
  })
})
