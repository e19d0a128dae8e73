import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { createSeeded } from '../../src/generator/create.js'
import {
  composeId,
  defineLayout,
  type Field,
  type GeneratorOptions,
  type IdGenerator,
  type Layout,
} from '../../src/index.js'
import { type Caught, freshNamespace } from '../support/engines.js'

type Options = Omit<GeneratorOptions, 'engine' | 'clock' | 'namespace'>

/** Returns the result or the error of a call as a text, so that two engines can be compared. */
function outcome(call: () => unknown): string {
  try {
    const result = call()
    return Array.isArray(result) ? result.join() : String(result)
  } catch (error) {
    const { name, code, message, retryAfterMs, rollbackMs, filled } = error as Caught
    return JSON.stringify({ name, code, message, retryAfterMs, rollbackMs, filled })
  }
}

/** Runs one script of clock readings and calls on an engine. Returns every id and every error in order. */
function run(engine: 'native' | 'js', options: Options, seed: number, script: readonly Step[], instances: number) {
  let now = startMs
  const clock = () => now
  const namespace = freshNamespace()
  const all = { ...options, engine, clock, namespace } as GeneratorOptions
  const ids = Array.from({ length: instances }, (_, i) => makersOf(createSeeded(all, seed + i)))
  const seen: string[] = []
  for (const { step, call, instance, view, count, ahead } of script) {
    now += step
    const makers = ids[instance % instances] as (typeof ids)[number]
    const id = makers[view % makers.length] as (typeof makers)[number]
    if (call === 'next') seen.push(outcome(() => id.next()))
    else if (call === 'string') seen.push(outcome(() => id.nextString()))
    else if (call === 'fill') seen.push(outcome(() => Array.from(id.fill(new BigUint64Array(count)))))
    else if (call === 'take') seen.push(outcome(() => id.take(count)))
    else seen.push(outcome(() => id.observe(idNear(id.layout, now + ahead, count))))
  }
  for (const id of ids.flat()) {
    const { engine: _, waitedMs: __, ...stats } = id.stats()
    seen.push(JSON.stringify(stats))
  }
  return seen
}

/** An id of some node and sequence number near a time. */
function idNear(layout: Layout, timeMs: number, some: number): bigint {
  const { timestamp, sequence, nodes, tickMs } = layout
  const tick = Math.min(2 ** timestamp.bits - 1, Math.max(0, Math.floor(timeMs / tickMs)))
  const tags = Object.fromEntries(layout.tagFields.map(({ name, bits }) => [name, some % 2 ** bits]))
  const parts = { timestampMs: tick * tickMs, node: some % nodes, sequence: some % 2 ** sequence.bits }
  return composeId({ ...parts, ...(layout.tagFields.length > 0 && { tags }) } as never, layout)
}

/** Returns a generator, unless it needs a tag, and some views of it. */
function makersOf(ids: IdGenerator): IdGenerator[] {
  const { tagFields } = ids.layout
  if (tagFields.length === 0) return [ids]
  const views = [0, 1, 2].map((view) =>
    ids.with?.(Object.fromEntries(tagFields.map(({ name, bits }) => [name, -view & (2 ** bits - 1)]))),
  ) as IdGenerator[]
  return tagFields.some(({ isRequired }) => isRequired) ? views : [ids, ...views]
}

/** Returns the bits of an id that are not of tags. */
function slotBitsOf({ tagFields }: Layout): bigint {
  const tags = tagFields.reduce((sum, { bits, shift }) => sum + ((2n ** BigInt(bits) - 1n) << BigInt(shift)), 0n)
  return 2n ** 64n - 1n - tags
}

interface Step {
  step: number
  call: 'next' | 'string' | 'fill' | 'take' | 'observe'
  instance: number
  view: number
  count: number
  /** Milliseconds by which an observed id is ahead of the clock. */
  ahead: number
}

const startMs = 50_000

const steps = fc.array(
  fc.record({
    step: fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(0, 0, 0, 1, 1, 2, 10) },
      { weight: 2, arbitrary: fc.integer({ min: -60, max: -1 }) },
      { weight: 2, arbitrary: fc.integer({ min: 3, max: 60 }) },
      { weight: 1, arbitrary: fc.constantFrom(-5000, -1500, 1500, 5000, 0.25, -0.75) },
    ),
    call: fc.constantFrom(
      'next' as const,
      'next' as const,
      'next' as const,
      'string' as const,
      'fill' as const,
      'take' as const,
      'observe' as const,
    ),
    instance: fc.nat(2),
    view: fc.nat(11),
    count: fc.integer({ min: 0, max: 40 }),
    ahead: fc.oneof(fc.integer({ min: -3, max: 5 }), fc.constantFrom(-500, 40, 999, 1500)),
  }),
  { minLength: 400, maxLength: 600 },
)

const layout = fc
  .record({
    timestamp: fc.integer({ min: 16, max: 42 }),
    sequence: fc.integer({ min: 1, max: 10 }),
    node: fc.integer({ min: 1, max: 8 }),
    shard: fc.nat(2),
    kind: fc.nat(2),
    role: fc.constantFrom('tag', 'tag?'),
    tickMs: fc.constantFrom(1, 1, 2, 10),
    order: fc.shuffledSubarray(['timestamp', 'node', 'sequence', 'shard', 'kind'] as const, { minLength: 5 }),
  })
  .map(({ tickMs, order, role, ...bits }) =>
    defineLayout({
      name: 'random',
      epochMs: 0,
      tickMs,
      fields: order
        .filter((name) => bits[name] > 0)
        .map((name) =>
          name === 'shard'
            ? [name, bits[name], role]
            : name === 'kind'
              ? [name, bits[name], 'tag?']
              : [name, bits[name]],
        ) as Field[],
      unsigned: true,
    }),
  )

const options: fc.Arbitrary<Options> = fc.record({
  layout: layout as fc.Arbitrary<never>,
  node: fc.constantFrom(0, 1),
  onRollback: fc.constantFrom('throw' as const, 'wait' as const, 'advance' as const, 'reuse' as const),
  onOverflow: fc.constantFrom('throw' as const, 'wait' as const, 'advance' as const),
  maxAheadMs: fc.constantFrom(0, 3, 1000),
  // A wait on a clock that stands still reads it a thousand times, so few scripts wait.
  maxWaitMs: fc.constantFrom(0, 0, 0, 0, 0, 20),
  sequenceStart: fc.constantFrom('zero' as const, 'random' as const, 'rotate' as const),
})

/**
 * Tests both engines by random scripts of 400 to 600 calls and steps of the clock. fast-check prints the seed
 * of a failure.
 */
export function proveParity(scripts: number): void {
  it(`make the same ids and the same errors from each of ${scripts} scripts`, () => {
    let total = 0
    const failures = new Map<string, number>()
    // A third of the time would go into the stacks of errors, which nobody reads.
    const { stackTraceLimit } = Error
    onTestFinished(() => {
      Error.stackTraceLimit = stackTraceLimit
    })
    Error.stackTraceLimit = 0
    fc.assert(
      fc.property(
        options,
        fc.nat(2 ** 32 - 4),
        steps,
        fc.integer({ min: 1, max: 3 }),
        (given, seed, script, instances) => {
          const native = run('native', given, seed, script, instances)
          const js = run('js', given, seed, script, instances)
          expect(js).toEqual(native)
          total += script.length
          for (const line of native) {
            const code = /"code":"(\w+)"/.exec(line)?.[1]
            if (code !== undefined) failures.set(code, (failures.get(code) ?? 0) + 1)
          }
          if (given.onRollback === 'reuse') return
          // All generators and views of the thread make distinct slots for any steps of the clock.
          const slotBits = slotBitsOf(given.layout as Layout)
          const made = native
            .filter((line, at) => /^[\d,]+$/.test(line) && script[at]?.call !== 'observe')
            .flatMap((line) => line.split(',').map((id) => BigInt(id) & slotBits))
          expect(new Set(made).size).toBe(made.length)
        },
      ),
      { numRuns: scripts },
    )
    expect(total).toBeGreaterThanOrEqual(scripts * 450)
    // The scripts have to reach the policies.
    const codes = ['ERR_CLOCK_ROLLBACK', 'ERR_SEQUENCE_OVERFLOW']
    // Few random layouts end so soon.
    if (scripts >= 2000) codes.push('ERR_LAYOUT_EXPIRED')
    for (const code of codes) expect(failures.get(code) ?? 0).toBeGreaterThan(scripts / 20)
  }, 600_000)
}
