import { it } from 'vitest'
import { tell } from '../simulation/report.ts'
import { expectNoViolationIn } from '../simulation/runs.ts'
import { loadProcess } from './programs-simulation/load.ts'
import { type Outcome, runWorld, type Setting } from './programs-simulation/world.ts'

const file = 'test/lease/programs.test.ts'

async function expectNoViolation(name: string, runs: number, setting: Setting): Promise<void> {
  const start = await loadProcess()
  const worlds = {
    run: (seed: number, isRecorded: boolean) => runWorld(start, seed, setting, isRecorded),
    counts: ({ issued, parked }: Outcome) => ({ issued, parked }),
    least: { issued: 20, parked: 2 },
    report: (seed: number, replay: string, { violation, moments }: Outcome) =>
      tell(seed, replay, violation?.text, 'processes with two leases each', moments),
  }
  await expectNoViolationIn(worlds, file, name, runs)
}

const faults =
  'leases that are parked and resumed at any time, in copies and with a store that fails, make no equal ids'
it(faults, { timeout: 0 }, () => expectNoViolation(faults, 40, {}))

const orderly = 'leases of a process that are all parked and then all resumed leave no node behind'
it(orderly, { timeout: 0 }, () => expectNoViolation(orderly, 20, { isOrderly: true }))

const close = 'machines that are copied and parked right after an answer make no equal ids'
it(close, { timeout: 0 }, () => expectNoViolation(close, 20, { copiesAtAnswers: true }))
