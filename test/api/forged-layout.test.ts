import { composeId, createGenerator, decode, defineLayout, type Layout, layouts } from 'graupel'
import { describe, expect, it } from 'vitest'
// Another copy of the module that makes layouts: it does not know the layouts of 'graupel'.
import * as copy from '../../src/layout/define.js'
import { caught, engines, freshNamespace } from '../support/engines.js'

const { twitter } = layouts
const specOf = (layout: Layout) => ({ ...layout })

/** The properties by which a copy of the package knows the layouts of another copy. */
const marks = Object.fromEntries(
  Object.getOwnPropertySymbols(twitter).map((mark) => [mark, Object.getOwnPropertyDescriptor(twitter, mark) ?? {}]),
)

/** Makes an object that claims to be a layout, as layouts of another copy do. */
const claiming = (properties: object) =>
  Object.freeze(Object.assign(Object.create(Object.getPrototypeOf(twitter), marks), properties))

describe('a layout that defineLayout did not return', () => {
  const forged: [string, unknown][] = [
    ['inherits from a layout and has another tick', Object.create(twitter, { tickMs: { value: 0.5 } })],
    [
      'inherits from a layout, has another tick, and is frozen',
      Object.freeze(Object.create(twitter, { tickMs: { value: 0.5, enumerable: true } })),
    ],
    ['inherits all of a layout', Object.create(twitter)],
    ['has NaN for an epoch', claiming({ ...specOf(twitter), epochMs: Number.NaN })],
    ['has a tick of nothing', claiming({ ...specOf(twitter), tickMs: 0 })],
    ['has a property that no layout has', claiming({ ...specOf(twitter), bits: 12 })],
    ['can be changed', Object.assign(Object.create(Object.getPrototypeOf(twitter)), specOf(twitter))],
    [
      'comes from its constructor',
      new (twitter.constructor as new (spec: object) => object)({ ...specOf(twitter), epochMs: Number.NaN }),
    ],
    [
      'is a proxy of one',
      new Proxy(twitter, { get: (target, key) => (key === 'tickMs' ? 0.5 : Reflect.get(target, key)) }),
    ],
    ['is a specification', specOf(twitter)],
  ]

  it.each(forged)('is refused if it %s', (_, layout) => {
    const uses = [
      () => decode(1n, layout as never),
      () => composeId({ timestampMs: Date.now(), node: 1 }, layout as never),
      ...engines.map(
        (engine) => () => createGenerator({ engine, node: 1, namespace: freshNamespace(), layout: layout as never }),
      ),
      ...engines.map(
        (engine) => () =>
          createGenerator({ engine, node: 1, namespace: freshNamespace(), layout: layout as never, epoch: 0 }),
      ),
    ]
    for (const use of uses) expect(caught(use)).toMatchObject({ name: 'TypeError', code: 'ERR_LAYOUT_INVALID' })
  })

  it('is told what is wrong with it', () => {
    const error = caught(() => decode(1n, claiming({ ...specOf(twitter), tickMs: 0.5 })))
    expect(error.message).toContain('tickMs is 0.5')
    expect(error.cause).toMatchObject({ code: 'ERR_LAYOUT_INVALID' })
  })

  it('is used if another copy of the package made it', () => {
    const spec = {
      name: 'orders',
      epochMs: 5,
      tickMs: 1,
      fields: [
        ['timestamp', 41],
        ['worker', 10],
        ['sequence', 12],
      ],
    } as const
    const layout = copy.defineLayout(spec) as unknown as Layout<(typeof spec)['fields']>
    expect(() => copy.genuineLayout(twitter as never)).not.toThrow()
    expect(decode((77n << 22n) | (3n << 12n) | 2n, layout)).toMatchObject({
      timestampMs: 82,
      fields: { worker: 3 },
      sequence: 2,
    })
    for (const engine of engines) {
      const ids = createGenerator({ engine, layout, node: { worker: 3 }, namespace: freshNamespace(), clock: () => 82 })
      expect(ids.next()).toBe((77n << 22n) | (3n << 12n))
    }
  })
})

describe('fields that change while they are looked at', () => {
  it('count as what they were when they were checked', () => {
    let reads = 0
    const field = ['timestamp', 41]
    Object.defineProperty(field, 1, { get: () => (reads++ === 0 ? 41 : 0.5) })
    const layout = defineLayout({ ...specOf(twitter), fields: [field, ['sequence', 12]] as never })
    expect(layout.bits).toBe(53)
    expect(layout.fields[0]).toEqual(['timestamp', 41])
  })

  it('may not have holes', () => {
    // biome-ignore lint/suspicious/noSparseArray: the test is about a sparse array
    const fields = [['timestamp', 41], , ['sequence', 12]]
    expect(caught(() => defineLayout({ ...specOf(twitter), fields: fields as never })).code).toBe('ERR_LAYOUT_INVALID')
  })
})
