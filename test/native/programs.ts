import { copyFile } from 'node:fs/promises'
import { afterAll, describe, it, type TestContext } from 'vitest'
import { needsAll } from '../support/bare.ts'
import {
  build,
  buildBinding,
  type Configuration,
  coreObject,
  link,
  nodeFolder,
  object,
  removeFolder,
  run,
  timeout,
  whyNot,
} from './compile.js'

// The programs beside this file, built with the real headers and sources of native/.

type Prove = (behaviour: string, prove: (context: TestContext) => Promise<unknown>) => void

/** Tests that need the compiler of a configuration. They run side by side, two jobs at a time. */
export function describeWith(configuration: Configuration, body: (proves: Prove) => void): void {
  afterAll(removeFolder)
  describe(`the native sources with ${configuration}`, () => {
    body((behaviour, prove) =>
      it.concurrent(behaviour, { timeout }, async (context) => {
        leaveOut(context, await whyNot(configuration))
        await prove(context)
      }),
    )
  })
}

/** Skips a test for a reason, or fails it if everything has to be proven. */
export function leaveOut({ skip }: TestContext, reason: string | undefined): void {
  if (reason === undefined) return
  if (needsAll && process.platform !== 'win32') throw new Error(reason)
  skip(reason)
}

/** The tests of native/core. */
export function proveCore(configuration: Configuration, proves: Prove): void {
  const passes = async (test: string) => run(await build('core', configuration), [test])

  proves('knows the layouts that it can count with', () => passes('layout'))
  proves('writes ids as UUIDs, each bit in its place', () => passes('uuid'))
  proves('reserves slot ranges, hands out runs and reuses slots, up to the last slot', () => passes('reserve'))
  proves('makes ids of views, with their tags, from the slots of one thread', () => passes('views'))
  proves('finds the least slot above an observed id, and goes on from there', () => passes('observed'))
  proves('ends at ceilings, sealed words and pages that are gone', () => passes('bounds'))
  proves('has clocks that do not go back', () => passes('clock'))
}

/** Pages and files, by real processes, and copies of the module. */
export function provePages(configuration: Configuration, proves: Prove): void {
  const passes = async (test: string) => run(await build('pages', configuration), [test])

  proves('opens one page for processes that come at once, and refuses files that are damaged or unsafe', () =>
    passes('files'),
  )
  proves('names in a page the processes that have it open, and leaves one alone that another engine claims', () =>
    passes('users'),
  )
  proves('repeats no id where pages and files are deleted or replaced, and processes killed', () => passes('home'))
  proves('makes no id twice where a page is deleted in the very tick in which others make it', () => passes('deletion'))

  proves('counts with one word in two copies of the module, also after both were closed', async () => {
    const [core, library, test] = await Promise.all([
      coreObject(configuration),
      object('copies_library', configuration, ['test/native/copies_library.cc']),
      object('copies', configuration, ['test/native/copies_test.cc']),
    ])
    const first = await link('copies_library', configuration, [library, core], ['-shared'])
    const second = `${first}-second`
    await copyFile(first, second)
    const copies = await link('copies', configuration, [test], process.platform === 'linux' ? ['-ldl'] : [])
    for (const part of ['share', 'outlive']) await run(copies, [part, first, second])
  })
}

/** The limits of the tests that have no end of their own. */
export interface Effort {
  readonly fuzzIterations: number
  readonly threadRounds: number
}

/** Random operations and real threads. */
export function proveStress(configuration: Configuration, proves: Prove, effort: Effort): void {
  proves('agrees with a model of it on random operations', async () =>
    run(await build('core', configuration), ['fuzz', '--iterations', `${effort.fuzzIterations}`]),
  )
  proves('never makes an id twice in threads whose clocks step back and forth', async () =>
    run(await build('core', configuration), ['threads', '--rounds', `${effort.threadRounds}`]),
  )
}

/** The number of times that a schedule may interrupt a thread. */
export interface Preemptions {
  readonly interleave: number
  readonly ceiling: number
}

/** All schedules of a few threads, over the real headers. */
export function proveModels(configuration: Configuration, proves: Prove, preemptions: Preemptions): void {
  const { interleave, ceiling } = preemptions
  proves(`never makes an id twice in any interleaving with ${interleave} preemptions`, async () =>
    run(await build('models', configuration), ['interleave', '--preemptions', `${interleave}`]),
  )
  proves(`issues no slot again after a crash or a loss of power, with ${ceiling} preemptions`, async () =>
    run(await build('models', configuration), ['ceiling', '--preemptions', `${ceiling}`]),
  )
}

/** The program of `native/binding`, on a Node-API whose calls fail on request of binding_test.cc. */
export function proveBinding(configuration: Configuration, proves: Prove, behaviour: string): void {
  proves(behaviour, async (context) => {
    const node = nodeFolder()
    leaveOut(context, node === undefined ? 'the headers of this Node are not beside it' : undefined)
    await run(await buildBinding(configuration, node ?? ''), ['binding'])
  })
}
