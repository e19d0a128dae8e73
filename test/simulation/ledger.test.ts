import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { rowOf, withRows } from '../../scripts/ledger.ts'
import { findMutants, type Lived, runLine, type Simulation, story, yearMs } from './ledger.ts'
import { simulations } from './simulations.ts'

/** Worlds that last for a second, and go wrong from a seed on. */
const simulationOf = (firstWrong: number): Simulation => ({
  name: 'made-up',
  about: 'nothing',
  load: async () => async (seed, isRecorded) => {
    const lived: Lived = { virtualMs: 1000, kills: 1, faults: 2, ids: 3, moments: [] }
    const moments = isRecorded ? [{ atMs: 5, process: 1, text: 'crashes' }] : []
    return { ...lived, moments, ...(seed >= firstWrong && { violation: { text: 'an id twice' } }) }
  },
  mutants: [
    { defect: 'is found', isFound: async () => true },
    { defect: 'is not found', isFound: async () => false },
  ],
})

describe('a line', () => {
  it('has the sums of its worlds', async () => {
    const line = await runLine(simulationOf(100), 7, { worlds: 5 })
    expect(line).toMatchObject({ first: 7, worlds: 5, virtualMs: 5000, kills: 5, faults: 10, ids: 15 })
    expect((await runLine(simulationOf(100), 7, { virtualMs: 2500 })).worlds).toBe(3)
  })

  it('is none if a world goes wrong; the error has its events, and the command that repeats it', async () => {
    const lines = runLine(simulationOf(9), 7, { worlds: 5 }).catch((error: Error) => error.message.split('\n'))
    expect(await lines).toEqual([
      '    0.005 s  process 1   crashes',
      'made-up, seed 9: an id twice; 1.000 s, 1 kills, 2 faults, 3 ids',
      'again: npm run ledger -- --simulation made-up --seed 9',
    ])
  })

  it('counts the defects that are found, and names the others', async () => {
    const line = await runLine(simulationOf(9), 1, { worlds: 1 })
    expect(await findMutants(simulationOf(9), line)).toEqual(['is not found'])
    expect(line).toMatchObject({ found: 1, mutants: 2 })
  })
})

describe('the ledger', () => {
  const page = readFileSync(new URL('../../docs/ledger.md', import.meta.url), 'utf8')

  it('has each simulation in its first table', () => {
    const [table = ''] = page.split('## How to read')
    expect([...table.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name)).toEqual(simulations.map(({ name }) => name))
  })

  it('gets a row and new sums, and keeps its other rows', () => {
    const line = { simulation: 'lease', first: 5, worlds: 10, virtualMs: yearMs / 4, kills: 1, faults: 2, ids: 3 }
    const row = rowOf({ ...line, cpuMs: 86_400_000, found: 1, mutants: 2 }, '2026-01-01', '1.0.0 (abc)')
    expect(row).toBe('| 2026-01-01 | 1.0.0 (abc) | lease | 5..14 | 10 | 0.250 | 1 | 2 | 3 | 1/2 | 86400.0 | 0.3 |\n')
    const [before = ''] = page.split('## Lines')
    const twice = withRows(withRows(before.concat(page.slice(before.length).split('-->')[0] ?? '', '-->\n'), [row]), [
      row,
    ])
    expect(twice.endsWith(row + row)).toBe(true)
    expect(twice.startsWith(before)).toBe(true)
    expect(twice).toContain('All lines together: 20 worlds, 0.50 virtual years, 2 kills, 4 faults and 6 ids')
    expect(twice).toContain('a core-day is 0.3 virtual years of leases')
  })

  it('has the sums of its rows', () => {
    expect(withRows(page, [])).toBe(page)
  })

  it.each(
    simulations.filter(({ name }) => name !== 'hosts').map((simulation) => [simulation.name, simulation] as const),
  )('repeats a world: %s', async (_name, simulation) => {
    const first = await story(simulation, 3)
    expect(first).toMatch(/seed 3: nothing went wrong; \d+\.\d{3} s, \d+ kills, \d+ faults, \d+ ids/)
    expect(await story(simulation, 3)).toBe(first)
  })
})
