import { createRequire } from 'node:module'
import { runInNewContext } from 'node:vm'
import { createGenerator, engineInfo } from 'graupel'
import { describe, expect, it } from 'vitest'
import type { Binding } from '../../src/state/addon.js'
import { caught, engines, freshNamespace } from '../support/engines.js'
import { isAscending } from '../support/ids.js'

// Calls of the addon with arguments that the facade never passes.

describe.runIf(engines.includes('native'))('the addon', () => {
  const binding = engines.includes('native')
    ? (createRequire(import.meta.url)(engineInfo().file ?? '') as Binding)
    : (undefined as never)

  function generation() {
    binding.generation()
    return new Float64Array(binding.mailbox)[11]
  }

  const options = () => ({
    epochMs: 1_700_000_000_000,
    tickMs: 1,
    maxTick: 2n ** 41n - 1n,
    nodeBits: 1n << 12n,
    sequenceBits: 12,
    sequenceShift: 0,
    timestampShift: 22,
    key: `real ${freshNamespace()}`,
    description: '{}',
    kind: 0,
    path: '',
    fileKey: '',
    reserveTicks: 1,
    openTimeoutMs: 1000,
    generation: generation(),
    stateFolder: '',
    claimLink: '',
    claimNext: '',
    claimFloor: 0n,
    history: false,
    sequenceStart: 0,
    seed: 1,
    clock: 0,
  })

  it('is shared by all copies of the package in a thread, so that their ids ascend together', () => {
    const options = { engine: 'native', node: 9, namespace: freshNamespace() } as const
    const { createGenerator: required } = createRequire(import.meta.url)('graupel') as typeof import('graupel')
    expect(required).not.toBe(createGenerator)
    const [one, other] = [createGenerator(options), required(options)]
    expect(isAscending(Array.from({ length: 10_000 }, (_, i) => (i % 2 === 0 ? one : other).next()))).toBe(true)
  })

  it('counts in the page from the call that opens it, also for generators that began in the process', () => {
    const options = { engine: 'native', node: 9, namespace: freshNamespace(), onOverflow: 'advance' } as const
    const one = createGenerator({ ...options, state: 'process' })
    const ids = [one.next()]
    const two = createGenerator({ ...options, state: 'host' })
    expect([one, two].map((generator) => generator.state)).toEqual(['host', 'host'])
    ids.push(two.next(), one.next(), two.next())
    expect(isAscending(ids)).toBe(true)
  })

  it('opens a generator with valid arguments', () => {
    expect(binding.open(options())).toBeDefined()
  })

  it.each([
    ['tickMs', 0],
    ['tickMs', 0.5],
    ['tickMs', -1],
    ['tickMs', Number.NaN],
    ['tickMs', '1'],
    ['tickMs', undefined],
    ['epochMs', Number.NaN],
    ['epochMs', Number.POSITIVE_INFINITY],
    ['maxTick', -1n],
    ['maxTick', 2n ** 64n],
    ['maxTick', 2n ** 53n],
    ['maxTick', 2n ** 42n],
    ['nodeBits', 1n],
    ['nodeBits', 2n ** 64n],
    ['sequenceBits', 0],
    ['sequenceBits', 64],
    ['sequenceBits', 256 + 12],
    ['sequenceShift', 63],
    ['sequenceShift', 256],
    ['timestampShift', 64],
    ['timestampShift', 11],
  ])('refuses a layout whose %s is %s', (name, value) => {
    const error = caught(() => binding.open({ ...options(), [name]: value }))
    expect(error).toBeInstanceOf(TypeError)
    expect(error).toMatchObject({ code: 'ERR_LAYOUT_INVALID' })
  })

  it.each([
    ['kind', 5],
    ['clock', -1],
    ['sequenceStart', 3],
    ['seed', 2 ** 32],
    ['reserveTicks', Number.NaN],
    ['key', 7],
    ['history', 'yes'],
  ])('refuses an option %s that is %s', (name, value) => {
    const error = caught(() => binding.open({ ...options(), [name]: value }))
    expect(error).toBeInstanceOf(TypeError)
    expect(error).toMatchObject({ code: 'ERR_OPTION_INVALID', message: expect.stringContaining(name) })
  })

  it('throws the error of a property that throws', () => {
    const own = new Error('mine')
    const forged = Object.defineProperty(options(), 'seed', {
      get() {
        throw own
      },
    })
    expect(caught(() => binding.open(forged))).toBe(own)
  })

  it('can be interrupted by the timeout of node:vm while a property is read', () => {
    const forged = (name: string) =>
      Object.defineProperty(options(), name, {
        get() {
          for (;;);
        },
      })
    for (const name of ['epochMs', 'seed', 'claimFloor']) {
      const context = { open: binding.open, forged: forged(name) }
      const error = caught(() => runInNewContext('open(forged)', context, { timeout: 20 }))
      expect(error).toMatchObject({ code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' })
    }
    expect(binding.open(options())).toBeDefined()
  })

  it.each([
    ['of fewer elements', new BigUint64Array(4), 0, 5],
    ['of smaller elements', new Uint8Array(64), 0, 8],
    ['whose buffer was transferred', transferred(new BigUint64Array(8)), 0, 8],
    ['filled backwards', new BigUint64Array(8), 5, 4],
    ['that is none', {}, 0, 1],
  ])('fills no array %s', (_, array, from, to) => {
    const error = caught(() => binding.fill(array as never, from, to))
    expect(error).toBeInstanceOf(TypeError)
    expect(error).toMatchObject({ code: 'ERR_ARRAY_INVALID' })
  })

  it('has no generator for a number that it never gave', () => {
    const words = new Uint32Array(binding.mailbox)
    for (const handle of [1_000_000, 2 ** 32 - 1]) {
      words[3] = handle
      const awaitCeiling = () => binding.awaitCeiling(0, 0)
      for (const call of [
        binding.next,
        binding.observe,
        binding.exceed,
        binding.grant,
        binding.grantUnused,
        awaitCeiling,
      ]) {
        words[2] = 0
        call()
        expect(words[2]).toBe(4)
      }
      expect(binding.report()).toEqual({ number: 0 })
      expect(binding.raiseFloor(1n, 0, 0)).toBeUndefined()
      expect(binding.raiseCeiling(1n)).toBe(false)
      binding.close()
    }
  })
})

/** Returns the array after the transfer of its buffer. */
function transferred(array: BigUint64Array): BigUint64Array {
  structuredClone(array.buffer, { transfer: [array.buffer as ArrayBuffer] })
  return array
}
