import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGenerator } from 'graupel'
import { afterAll, expect, it, vi } from 'vitest'
import { platform } from '#platform'
import { freshNamespace } from '../support/engines.js'

const folder = mkdtempSync(join(tmpdir(), 'graupel-clocks-'))

afterAll(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

it('the ceiling of a claim is above the clock of each generator, also of one that is ahead', () => {
  vi.stubEnv('GRAUPEL_STATE_FOLDER', folder)
  const time = { wallMs: Date.UTC(2026, 0), monotonicMs: 0, readings: 0 }
  vi.spyOn(platform, 'wallMs').mockImplementation(() => {
    // A call that reads the clock again and again would not end.
    if (++time.readings > 1000) throw new Error('the clock was read too often')
    return time.wallMs
  })
  vi.spyOn(platform, 'monotonicMs').mockImplementation(() => time.monotonicMs)
  const options = { engine: 'js', node: 7, namespace: freshNamespace() } as const
  const open = (clock: 'wall' | 'steady') => createGenerator({ ...options, clock })
  vi.spyOn(platform, 'sleep').mockImplementation((ms) => {
    time.wallMs += ms
    time.monotonicMs += ms
    return true
  })
  using wall = open('wall')
  using steady = open('steady')
  const ids = [wall.next(), steady.next()]
  // The clock of the system steps back, and the steady clock does not.
  time.wallMs -= 3_600_000
  time.monotonicMs += 2000
  ids.push(steady.next())
  time.monotonicMs += 2000
  ids.push(steady.next())
  expect(ids.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(ids)
  expect(new Set(ids).size).toBe(4)
  const claims = readdirSync(folder, { recursive: true }).filter((name) => `${name}`.includes('.claim/'))
  expect(claims.length).toBeLessThan(4)
})
