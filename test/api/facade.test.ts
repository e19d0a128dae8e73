import { inspect } from 'node:util'
import { createGenerator, defineLayout, layouts } from 'graupel'
import { describe, expect, it, vi } from 'vitest'
import { engines, freshNamespace } from '../support/engines.js'
import { isAscending } from '../support/ids.js'

describe.each(engines)('a generator on the %s engine, passed on in pieces,', (engine) => {
  const make = () => {
    let now = Date.UTC(2030, 0, 1)
    const clock = () => now++
    return createGenerator({ engine, node: 3, layout: layouts.js53, namespace: freshNamespace(), clock })
  }

  it('makes ids by methods that were taken off it', async () => {
    const ids = make()
    const { next, nextString, nextNumber, nextAsync } = ids
    const made = [next(), BigInt(nextString()), BigInt(nextNumber()), await nextAsync(), ids.next()]
    expect(isAscending(made)).toBe(true)
    expect(ids.stats().issued).toBe(5)
  })

  it('has the same method each time, in every generator its own', () => {
    const [one, two] = [make(), make()]
    for (const name of ['next', 'nextString', 'nextNumber', 'nextAsync'] as const) {
      expect(one[name]).toBe(one[name])
      expect(one[name]).not.toBe(two[name])
    }
    expect(Object.keys(one)).toEqual([])
  })

  it('judges as it does when its methods are called on it', async () => {
    const time = { now: 5000 }
    const layout = defineLayout({ ...layouts.js53, epochMs: 0 })
    const options = { engine, node: 3, layout, namespace: freshNamespace(), clock: () => time.now } as const
    const { next, nextString, nextNumber, nextAsync } = createGenerator({ ...options, onRollback: 'throw' })
    next()
    time.now = 4000
    for (const method of [next, nextString, nextNumber]) {
      expect(() => method()).toThrow(expect.objectContaining({ code: 'ERR_CLOCK_ROLLBACK' }))
    }
    await expect(nextAsync()).rejects.toMatchObject({ code: 'ERR_CLOCK_ROLLBACK' })
  })

  it('is closed for them, too', async () => {
    const ids = make()
    const { next, nextAsync } = ids
    ids.close()
    expect(next).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }))
    await expect(nextAsync()).rejects.toMatchObject({ code: 'ERR_CLOSED' })
  })

  it.each(['next', 'nextString', 'nextNumber', 'nextAsync'] as const)(
    'lets a test replace %s, and put it back',
    async (name) => {
      const ids = make()
      const spy = vi.spyOn(ids, name as 'next').mockReturnValue(7n)
      expect(ids[name]()).toBe(7n)
      spy.mockRestore()
      expect(BigInt(await ids[name]())).toBeGreaterThan(7n)
      expect(ids.stats().issued).toBe(1)
    },
  )
})

describe.each(engines)('what a generator on the %s engine says of itself', (engine) => {
  const make = () =>
    createGenerator({ engine, node: { datacenter: 1, worker: 7 }, namespace: freshNamespace(), state: 'process' })

  it('is its layout, node, engine and state, also when it is closed', () => {
    const ids = make()
    const said = () => ({ layout: ids.layout, node: ids.node, engine: ids.engine, state: ids.state })
    const expected = { layout: layouts.twitter, node: 39, engine, state: 'process' }
    expect(said()).toEqual(expected)
    ids.close()
    expect(said()).toEqual(expected)
    expect(ids.state).toBe(ids.stats().state)
  })

  it('cannot be changed', () => {
    const ids = make() as { node: number }
    expect(() => {
      ids.node = 8
    }).toThrow(TypeError)
  })

  it('is what console.log and JSON show', () => {
    const ids = make()
    const line = `IdGenerator { layout: 'twitter', node: 39, engine: '${engine}', state: 'process' }`
    expect(inspect(ids)).toBe(line)
    expect(inspect({ ids }, { breakLength: 200 })).toBe(`{ ids: ${line} }`)
    expect(inspect({ a: { b: { ids } } }, { depth: 1 })).toContain('[Object]')
    expect(inspect(ids, { colors: true })).toContain('\u001b[')
    expect(JSON.parse(JSON.stringify({ ids }))).toEqual({
      ids: { layout: 'twitter', node: 39, engine, state: 'process' },
    })
  })
})
