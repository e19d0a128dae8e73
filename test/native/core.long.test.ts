import { SteadyTime } from '../../src/engine/js/clock.js'
import { isShort, repetitions } from '../support/short.ts'
import { build, run, sanitizers, withoutExceptions } from './compile.js'
import { describeWith, proveBinding, proveCore, proveModels, provePages, proveStress } from './programs.js'

// All programs with and without the sanitizers, and the models, which run one thread at a time: the thread
// sanitizer has nothing to find there. The short form has only the tests of native/core;
// mutations.long.test.ts then runs the others.

describeWith(sanitizers.address, (proves) => {
  const effort = { fuzzIterations: repetitions(250, 10), threadRounds: repetitions(250, 10) }
  proveCore(sanitizers.address, proves)
  proveStress(sanitizers.address, proves, effort)
  if (isShort) return
  provePages(sanitizers.address, proves)
  proveModels(sanitizers.address, proves, { interleave: 1, ceiling: 0 })
  proveBinding(sanitizers.address, proves, 'releases what it has taken, whichever call of Node-API fails')
})

describeWith(sanitizers.thread, (proves) => {
  const effort = { fuzzIterations: repetitions(12, 1), threadRounds: repetitions(100, 10) }
  proveCore(sanitizers.thread, proves)
  proveStress(sanitizers.thread, proves, effort)
  if (isShort) return
  provePages(sanitizers.thread, proves)
})

describeWith(withoutExceptions, (proves) => {
  proveCore(withoutExceptions, proves)
  proveStress(withoutExceptions, proves, { fuzzIterations: 1000, threadRounds: 400 })

  proves('has the steady clock that the TypeScript engine has', async ({ expect }) => {
    const program = await build('core', withoutExceptions)
    for (const seed of [1, 2, 0x9e3779b9]) {
      const native = (await run(program, ['clock', '--steady-script', `${seed}`, '20000']))
        .trim()
        .split('\n')
        .map(Number)
      expect(native).toEqual(steadyScript(seed, 20_000))
    }
  })
  if (isShort) return
  provePages(withoutExceptions, proves)
  proveBinding(withoutExceptions, proves, 'can be called again, whichever call of Node-API fails')
  proveModels(withoutExceptions, proves, { interleave: 2, ceiling: 1 })
})

/** The script of `clock_test.cc`: sixteenths of a millisecond, which both engines hold exactly. */
function steadyScript(seed: number, count: number): number[] {
  let random = seed
  const xorShift = () => {
    random ^= random << 13
    random ^= random >>> 17
    random ^= random << 5
    random >>>= 0
    return random
  }
  let wallMs = 1_700_000_000_000
  let monotonicMs = 1000
  const time = new SteadyTime()
  return Array.from({ length: count }, () => {
    const passed = xorShift() % 40
    monotonicMs += passed
    wallMs += passed
    if (xorShift() % 50 === 0) wallMs += (xorShift() % 20_001) - 10_000
    return time.read(wallMs, monotonicMs) * 16
  })
}
