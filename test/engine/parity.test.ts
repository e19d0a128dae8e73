import { createGenerator } from 'graupel'
import { describe, expect, it } from 'vitest'
import { engines, freshNamespace } from '../support/engines.js'
import { proveParity } from './scripts.js'

describe.skipIf(engines.length !== 2)('both engines', () => {
  proveParity(200)

  it('make distinct ids together on the real clock, in whichever order they begin', () => {
    for (const order of [
      ['native', 'js'],
      ['js', 'native'],
    ] as const) {
      const namespace = freshNamespace()
      const [one, two] = order.map((engine) => createGenerator({ engine, node: 9, namespace }))
      const made = new Set<bigint>()
      for (let i = 0; i < 20_000; i++) {
        made.add(one?.next() as bigint)
        made.add(two?.next() as bigint)
      }
      expect(made.size).toBe(40_000)
    }
  })

  it('leave a js generator whole whose state has moved to native', async () => {
    const namespace = freshNamespace()
    const js = createGenerator({ engine: 'js', node: 9, namespace })
    const made = [js.next(), js.next(), js.next()]
    made.push(...createGenerator({ engine: 'native', node: 9, namespace }).take(2))
    const array = await js.fillAsync(new BigUint64Array(2))
    made.push(...array, js.next())
    expect(made.every((id, i) => i === 0 || id > (made[i - 1] as bigint))).toBe(true)
    expect(js.stats()).toMatchObject({ issued: 6, aheadMs: 0 })
  })

  it('go on together when the second begins after the first has runs of its own', () => {
    const namespace = freshNamespace()
    const js = createGenerator({ engine: 'js', node: 9, namespace })
    const made = [...js.take(1000)]
    for (let i = 0; i < 500; i++) made.push(js.next())
    const native = createGenerator({ engine: 'native', node: 9, namespace })
    for (let i = 0; i < 5000; i++)
      made.push(native.next(), js.next(), ...js.fill(new BigUint64Array(3)), ...native.take(2))
    expect(new Set(made).size).toBe(made.length)
  })
})
