import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { raiseGeneration } from '../../src/engine/generation.js'
import { createGenerator, engineInfo, type GeneratorOptions } from '../../src/index.js'
import { createUuidGenerator } from '../../src/uuid/index.js'
import { caught, engines, freshNamespace } from '../support/engines.js'

const { copyMachine, remove } = await vi.hoisted(async () =>
  (await import('../support/vmclock.js')).standInForVmClock(),
)
afterAll(remove)

// Calls that make many ids take some at a time. The machine is copied after the first of them.

const hasDevice = engineInfo().kind === 'native' && process.platform === 'linux'

const ways = engines.flatMap((engine) => [
  ['a hook', engine, raiseGeneration] as const,
  ...(hasDevice && engine === 'native' ? [['a device', engine, copyMachine] as const] : []),
])

describe.each(ways)('a copy of the machine in a call, told by %s, on the %s engine', (_, engine, copy) => {
  /** Each tick of the clock has 4096 ids. The machine is copied in the fourth tick. */
  const copiedInFourthTick = (): GeneratorOptions => {
    let readings = 0
    const clock = () => {
      readings++
      if (readings === 40) copy()
      return Date.UTC(2026, 0, 1) + Math.floor(readings / 10)
    }
    return { engine, node: 7, namespace: freshNamespace(), clock }
  }

  it.each([
    ['a BigUint64Array', new BigUint64Array(40_000)],
    ['a BigInt64Array', new BigInt64Array(40_000)],
  ])('leaves no id that counts in %s', (_, array) => {
    const ids = createGenerator(copiedInFourthTick())
    expect(caught(() => ids.fill(array))).toMatchObject({ code: 'ERR_STATE_CLONED', filled: 0 })
    expect(ids.stats().issued).toBeGreaterThan(4096)
    expect(array[4096]).toBeGreaterThan(0n)
  })

  it('leaves no UUID that counts', () => {
    const uuids = createUuidGenerator(copiedInFourthTick())
    expect(caught(() => uuids.fill(new Uint8Array(16 * 40_000)))).toMatchObject({ code: 'ERR_STATE_CLONED', filled: 0 })
    expect(uuids.ids.stats().issued).toBeGreaterThan(8192)
  })

  it.each([
    ['goes on', 'ERR_STATE_CLONED', () => {}],
    ['is closed', 'ERR_CLOSED', (ids: { close(): void }) => ids.close()],
  ])('leaves no id that counts if the call waits, and the generator %s', async (_, code, then) => {
    const ids = createGenerator({ engine, node: 7, namespace: freshNamespace() })
    const array = new BigUint64Array(100_000)
    const filling = ids.fillAsync(array).catch((error) => error)
    while (ids.stats().issued < 10_000) await turn()
    expect(ids.stats().issued).toBeLessThan(array.length)
    copy()
    then(ids)
    expect(await filling).toMatchObject({ code, filled: 0 })
    expect(array[9999]).toBeGreaterThan(0n)
  })

  it('leaves no UUID that counts if the call waits', async () => {
    const uuids = createUuidGenerator({ engine, node: 7, namespace: freshNamespace() })
    const filling = uuids.fillAsync(new Uint8Array(16 * 100_000)).catch((error) => error)
    while (uuids.ids.stats().issued < 10_000) await turn()
    copy()
    expect(await filling).toMatchObject({ code: 'ERR_STATE_CLONED', filled: 0 })
  })

  it('lets ids count that were made after it, and before another error', () => {
    const clock = () => Date.UTC(2026, 0, 1)
    copy()
    const ids = createGenerator({ engine, node: 7, namespace: freshNamespace(), clock, onOverflow: 'throw' })
    const array = new BigUint64Array(5000)
    expect(caught(() => ids.fill(array))).toMatchObject({ code: 'ERR_SEQUENCE_OVERFLOW', filled: 4096 })
  })
})
