import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, type ExpectStatic, it } from 'vitest'
import { SteadyTime } from '../../src/engine/steady.js'
import {
  build,
  type Configuration,
  core,
  coreObjects,
  plain,
  removeFolder,
  run,
  timeout,
  unloadable,
  whyNot,
} from './compile.js'

// Builds the programs beside this file with the real headers and sources of native/core, and runs them.

const sanitized: Configuration[] = [
  ...(['address and undefined behaviour sanitizers', 'thread sanitizer'] as const),
  plain,
]

afterAll(removeFolder)

describe.each(sanitized)('native/core with %s', (configuration) => {
  const isPlain = configuration === plain
  const isThread = configuration === 'thread sanitizer'

  /** A test that needs the compiler; they run beside each other, two jobs at a time. */
  const proves = (behaviour: string, prove: (expect: ExpectStatic) => Promise<void>) =>
    it.concurrent(behaviour, { timeout }, async ({ expect, skip }) => {
      const reason = await whyNot(configuration)
      if (reason !== undefined) {
        // What nobody looks at must not pass by being skipped.
        if (process.env['CI'] && process.platform !== 'win32') throw new Error(reason)
        skip(reason)
      }
      await prove(expect)
    })

  proves('knows the layouts that it can count with', async () => {
    await run(await build('layout_test', configuration))
  })

  proves('reserves, leases and reuses as said, up to the last slot', async () => {
    await run(await build('reserve_test', configuration))
  })

  proves('ends at ceilings, sealed words and pages that are gone', async () => {
    await run(await build('bounds_test', configuration))
  })

  proves('agrees with a model of it on random operations', async () => {
    await run(await build('fuzz_test', configuration), ['--iterations', isPlain ? '3000' : isThread ? '20' : '400'])
  })

  proves('never makes an id twice in threads whose clocks step back and forth', async () => {
    const rounds = isPlain ? '1600' : isThread ? '160' : '400'
    await run(await build('threads_test', configuration), ['--rounds', rounds])
  })

  proves('never makes an id twice in any interleaving with few preemptions', async () => {
    const program = await build('interleave_test', configuration)
    await run(program, ['--preemptions', isPlain ? '2' : '1'])
  })

  proves(
    'issues no slot that a loss of the memory would bring again, wherever a process dies or power fails',
    async () => {
      const program = await build('ceiling_model_test', configuration)
      await run(program, ['--preemptions', isPlain ? '1' : '0'])
    },
  )

  proves('opens one page for all who come at once, and refuses files that are damaged or unsafe', async () => {
    await run(await build('shared_state_test', configuration, await coreObjects(configuration)))
  })

  proves('says in a page who has it open, and leaves one alone that another engine claims', async () => {
    await run(await build('users_test', configuration, await coreObjects(configuration)))
  })

  proves('repeats nothing where pages and files are deleted or replaced, and processes killed', async () => {
    await run(await build('home_test', configuration, await coreObjects(configuration)))
  })

  proves('gives out nothing twice where a page is deleted in the very tick in which others make it', async () => {
    await run(await build('deletion_test', configuration, await coreObjects(configuration)))
  })

  proves('has clocks that do not go back', async () => {
    await run(await build('clock_test', configuration, [join(core, 'clock.cc')]))
  })

  proves('counts with one word in two copies of the module, also after both were closed', async () => {
    const shared = ['-shared', '-fPIC', '-fvisibility=hidden', ...(await unloadable())]
    const first = await build('copies_library', configuration, [...(await coreObjects(configuration)), ...shared])
    const second = `${first}-second`
    await copyFile(first, second)
    const program = await build('copies_test', configuration, process.platform === 'linux' ? ['-ldl'] : [])
    for (const part of ['share', 'outlive']) await run(program, [part, first, second])
  })

  if (!isPlain) return

  proves('has the steady clock that the TypeScript engine has', async (expect) => {
    const program = await build('clock_test', configuration, [join(core, 'clock.cc')])
    for (const seed of [1, 2, 0x9e3779b9]) {
      const native = (await run(program, ['--steady-script', `${seed}`, '20000'])).trim().split('\n').map(Number)
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
