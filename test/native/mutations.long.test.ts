import { join } from 'node:path'
import { afterAll, describe, it } from 'vitest'
import { firstOfEachFile } from '../support/defects.ts'
import { isShort } from '../support/short.ts'
import { build, buildBinding, folder, nodeFolder, removeFolder, run, type Tree, timeout, whyNot } from './compile.js'
import { copyWithMutants } from './mutants.js'
import { type Mutation, mutations } from './mutations.js'
import { leaveOut } from './programs.js'

// The programs must fail if a step of the protocol is left out or moved. A copy of native/ has all defects,
// and a variable of the environment chooses the defect that is in effect. The short form has one defect of
// each file.

const configuration = 'few optimisations'
const chosen = isShort ? firstOfEachFile(mutations) : mutations

let made: Promise<Tree> | undefined
const mutants = () => (made ??= copyWithMutants(join(folder, 'mutants'), mutations))

/** Returns why the program of a mutation cannot be built here, or `undefined`. */
async function whyNotFor({ test }: Mutation): Promise<string | undefined> {
  if (test !== 'binding' || nodeFolder() !== undefined) return whyNot(configuration)
  return 'the headers of this Node are not beside it'
}

const isModel = (test: string) => test === 'ceiling' || test === 'interleave'

/** Runs the test that has to find a defect. Number 0 is the copy without a defect. */
async function runWith(number: number, { test = 'ceiling', scene = 0 }: Mutation): Promise<string> {
  const path =
    test === 'binding'
      ? await buildBinding(configuration, nodeFolder() ?? '', await mutants())
      : await build(isModel(test) ? 'models' : 'mutants', configuration, await mutants())
  const more = isModel(test) ? ['--preemptions', '1', '--scene', `${scene}`] : []
  return run(path, [test, ...more], { GRAUPEL_MUTANT: `${number}` })
}

/** Returns the output of the failed check, or `undefined` if no check failed. */
async function failureOf(number: number, mutation: Mutation): Promise<string | undefined> {
  try {
    await runWith(number, mutation)
    return undefined
  } catch (error) {
    if (!/CHECK\(.*\) failed/.test(`${error}`)) throw error
    return `${error}`
  }
}

afterAll(removeFolder)

describe('the programs of test/native', () => {
  // core.long.test.ts runs all scenes without a defect.
  for (const mutation of firstOfEachFile(mutations)) {
    const { test = 'ceiling', scene } = mutation
    const where = `${test}${scene === undefined ? '' : `, scene ${scene}`}`
    it.concurrent(`find nothing in ${mutation.file} without a defect: ${where}`, { timeout }, async (context) => {
      leaveOut(context, await whyNotFor(mutation))
      await runWith(0, mutation)
    })
  }

  for (const mutation of chosen) {
    it.concurrent(`notice that ${mutation.defect}`, { timeout }, async (context) => {
      leaveOut(context, await whyNotFor(mutation))
      const number = mutations.indexOf(mutation) + 1
      let failure = await failureOf(number, mutation)
      // The scene in which a defect shows may change with the source.
      if (failure === undefined && mutation.scene !== undefined && !isShort) {
        const { scene, ...anyScene } = mutation
        failure = await failureOf(number, anyScene)
        const before = failure?.match(/^ *\d+ schedules: /gm)?.length ?? 0
        console.info(`${mutation.defect}: found in scene ${before + 1} and not ${scene}`)
      }
      context.expect(failure, `the defect that ${mutation.defect}`).toBeDefined()
    })
  }
})
