import { createGenerator, defineLayout } from 'graupel'
import { describe, expect, it } from 'vitest'
import { caught, engines, freshNamespace } from '../support/engines.js'
import { parts, simulatedOn } from '../support/simulated.js'

describe.each(engines)('close on the %s engine', (engine) => {
  const simulated = simulatedOn(engine)

  it('may be called by the clock', () => {
    let isClosing = false
    const { ids } = simulated({
      clock: () => {
        if (isClosing) ids.close()
        return 1000
      },
    })
    ids.next()
    isClosing = true
    ids.close()
    expect(caught(() => ids.next()).code).toBe('ERR_CLOSED')
  })

  it('ends every way to make ids', async () => {
    const { ids } = simulated()
    ids.next()
    ids.close()
    ids.close()
    for (const call of [
      () => ids.next(),
      () => ids.nextString(),
      () => ids.nextNumber(),
      () => ids.take(1),
      () => ids.fill(new BigUint64Array(1)),
      () => ids.fill(new BigUint64Array(0)),
      () => [...ids],
    ]) {
      expect(caught(call).code).toBe('ERR_CLOSED')
    }
    await expect(ids.nextAsync()).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    await expect(ids.fillAsync(new BigUint64Array(1))).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    expect(ids.stats().issued).toBe(1)
  })

  it('ends all views, also if the clock fails', () => {
    let isBroken = false
    const clock = () => {
      if (isBroken) throw new Error('no clock')
      return 1000
    }
    const layout = defineLayout({
      name: 'sharded',
      epochMs: 0,
      tickMs: 1,
      fields: [
        ['timestamp', 30],
        ['node', 4],
        ['shard', 4, 'tag?'],
        ['sequence', 3],
      ],
    })
    const ids = createGenerator({ engine, layout, node: 1, namespace: freshNamespace(), clock })
    const all = [ids, ids.with({ shard: 1 }), ids.with({ shard: 2 })]
    isBroken = true
    ids.close()
    isBroken = false
    for (const one of all) {
      expect(caught(() => one.next()).code).toBe('ERR_CLOSED')
      expect(caught(() => one.stats()).code).toBe('ERR_CLOSED')
    }
  })

  it('leaves the other instances alone', () => {
    const { ids, another } = simulated()
    const other = another()
    ids.next()
    ids.close()
    expect(parts(other.next())[1]).toBe(1)
    expect(parts(another().next())[1]).toBe(2)
  })

  it('is what the end of a block with using calls', () => {
    const { ids } = simulated()
    ids[Symbol.dispose]()
    expect(caught(() => ids.next()).code).toBe('ERR_CLOSED')
  })
})
