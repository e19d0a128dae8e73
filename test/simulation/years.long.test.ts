import { expect, it } from 'vitest'
import { repetitions } from '../support/short.ts'
import { runLine, yearMs } from './ledger.ts'
import { simulations } from './simulations.ts'

// A year of leases takes some twenty minutes of one processor. The nightly workflow runs ten.
const years = Number(process.env['GRAUPEL_VIRTUAL_YEARS'] ?? repetitions(0.1, 0.001))

it(`no id is issued twice in ${years} virtual years of leases`, { timeout: 0 }, async () => {
  const first = Number(process.env['GRAUPEL_SEED'] ?? Math.floor(Math.random() * 1e9))
  console.info(`${years} virtual years: GRAUPEL_SEED=${first}`)
  const leases = simulations.filter(({ name }) => name.startsWith('lease'))
  let sumMs = 0
  for (const simulation of leases) {
    const line = await runLine(simulation, first, { virtualMs: (years * yearMs) / leases.length })
    const { worlds, virtualMs, kills, faults, ids, cpuMs } = line
    console.info(
      `${simulation.name}: ${worlds} worlds, ${(virtualMs / yearMs).toPrecision(3)} virtual years, ${kills} kills, ${faults} faults, ${ids} ids in ${Math.round(cpuMs / 1000)} s of processor time`,
    )
    sumMs += virtualMs
  }
  expect(sumMs / yearMs).toBeGreaterThanOrEqual(years)
})
