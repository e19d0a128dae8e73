import { SteadyTime } from '../../src/engine/js/clock.js'
import { build, run, withoutExceptions } from './compile.js'
import { describeWith, proveCore, proveStress } from './programs.js'

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
