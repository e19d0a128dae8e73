import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Outcome, RunOptions, Subject, Workload } from '../contract.ts'
import { inFreshProcess } from '../measure/fresh.ts'
import { spread } from '../measure/rounds.ts'
import type { InTurnsTask } from './in-turns-probe.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

export const views: readonly Workload[] = [
  {
    name: 'view-next',
    title: 'next() of a view',
    section: 'Views',
    of: 'graupel',
    unit: 'ns/id',
    yardstick: 'next() of its generator',
    run: (subject, options) => inTurns('view', subject, options),
  },
]

/**
 * Measures in fresh processes. In every second process the timed generator and the plain one change places.
 */
export async function inTurns(
  timed: InTurnsTask['timed'],
  { name, build = root }: Subject,
  { isQuick }: RunOptions,
): Promise<Outcome> {
  const copy = copyOf(build)
  const engine = name === 'graupel-js' ? 'js' : 'native'
  const rounds: { outcome: Required<Outcome>; isSwapped: boolean }[] = []
  try {
    for (let round = 0; round < (isQuick ? 2 : 8); round++) {
      const isSwapped = round % 2 === 1
      const task: InTurnsTask = { engine, timed, builds: [build, copy], isSwapped, isQuick }
      rounds.push({ outcome: await inFreshProcess('workloads/in-turns-probe.ts', task), isSwapped })
    }
  } finally {
    rmSync(copy, { recursive: true })
  }
  const over = (value: (outcome: Required<Outcome>, isSwapped: boolean) => number) =>
    spread(rounds.map(({ outcome, isSwapped }) => value(outcome, isSwapped)))
  const total = (what: 'ids' | 'repeats' | 'outOfOrder' | 'future') =>
    rounds.reduce((sum, { outcome }) => sum + outcome.check[what], 0)
  return {
    figure: over((one, isSwapped) => (isSwapped ? one.yardstick : one.figure).median),
    yardstick: over((one, isSwapped) => (isSwapped ? one.figure : one.yardstick).median),
    ratio: over((one, isSwapped) => (isSwapped ? 1 / one.ratio.median : one.ratio.median)),
    check: {
      ids: total('ids'),
      repeats: total('repeats'),
      outOfOrder: total('outOfOrder'),
      future: total('future'),
    },
  }
}

/** Copies the build to another folder, for a second instance in one process. */
function copyOf(build: string) {
  const copy = mkdtempSync(join(tmpdir(), 'graupel-bench-'))
  for (const part of ['dist', 'package.json']) cpSync(join(build, part), join(copy, part), { recursive: true })
  for (const part of ['build', 'node_modules']) symlinkSync(join(build, part), join(copy, part))
  return copy
}
