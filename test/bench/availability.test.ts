import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Figures, Run } from '../../bench/availability/measure.ts'
import { type Kept, page, pageOf, type Rates, rates, readKept, tables } from '../../bench/availability/page.ts'
import { repository } from '../support/documents.ts'

const tsx = join(repository, 'node_modules/tsx/dist/cli.mjs')

function figures(windowMs: number, holderS: number, more: Partial<Figures> = {}): Figures {
  return { windowMs, holderS, codes: [], leftS: 5, lost: 0, starterS: 301, ...more }
}

function run(store: string, event: Run['event'], byDefault: Figures, longest: Figures): Run {
  const windows = { default: byDefault, longest }
  return { store, event, at: '2026-01-01T00:00:00.000Z', awayS: 300, windows, noiseS: 0.1 }
}

const none = Object.fromEntries(Object.keys(rates).map((event) => [event, 0])) as Rates

describe('the tables of availability', () => {
  const partition = run('etcd', 'partition-5m', figures(6000, 295, { renewedS: 301 }), figures(3_600_000, 0))
  const kept: Kept = { runs: [partition], service: [] }

  it('have the worst moment beside what was measured', () => {
    expect(tables(kept, none)).toContain('| etcd | 295 (297) |')
  })

  it('have the minutes of a year at the rates of the reader, and who reaches 99.999 %', () => {
    // 297 s without ids, less 0.1 s of the machine, are 4.9 minutes once a year.
    expect(tables(kept, { ...none, 'partition-5m': 1 })).toMatch(
      /\| etcd \| 4\.9 \(99\.9991 %\) \|.*these settings reach it: all with a window of 6 s; all with a window of 1 h\./s,
    )
    expect(tables(kept, { ...none, 'partition-5m': 2 })).toMatch(
      /these settings reach it: all with a window of 1 h\..*do not reach it: all with a window of 6 s\./s,
    )
  })

  it('take a kill in place of a failover that no test starts', () => {
    const kill = run('consul', 'kill', figures(6000, 30, { renewedS: 34 }), figures(3_600_000, 0))
    expect(tables({ runs: [kill], service: [] }, { ...none, failover: 4 })).toContain('| Consul | 2.0 (99.9996 %) |')
  })
})

it('docs/availability.md is what the generator makes from the kept runs', () => {
  const text = readFileSync(page, 'utf8')
  expect(pageOf(readKept(), text)).toBe(text)
})

it('bench/availability.ts measures a store that is locked for a second, from end to end', () => {
  const words = ['--store', 'sqlite', '--event', 'pause', '--seconds', '1', '--repeats', '1']
  const { status, stdout, stderr } = spawnSync(process.execPath, [tsx, 'bench/availability.ts', ...words], {
    cwd: repository,
    encoding: 'utf8',
  })
  expect(status, stderr).toBe(0)
  const [line = ''] = stdout.split('\n')
  const { windows, ...rest } = JSON.parse(line) as Run
  expect(rest).toMatchObject({ store: 'sqlite', event: 'pause' })
  expect([windows.default.windowMs, windows.longest.windowMs]).toEqual([6000, 3_600_000])
  for (const { starterS } of Object.values(windows)) expect(starterS).toBeGreaterThanOrEqual(1)
  expect(stdout).toMatch(/\| SQLite \|/)
})
