import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGenerator } from 'graupel'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { freshNamespace } from '../support/engines.js'
import { describeWith } from '../support/needs.ts'

const folder = mkdtempSync(join(tmpdir(), 'graupel-followed-'))
beforeAll(() => {
  vi.stubEnv('GRAUPEL_STATE_FOLDER', folder)
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

describeWith(['native'], 'a generator of the process', () => {
  it('follows its word into a page beside the claim of a js engine, also if the page is no longer open', () => {
    const own = { node: 7, namespace: freshNamespace() }
    const ids: bigint[] = []
    {
      using js = createGenerator({ ...own, engine: 'js' })
      ids.push(js.next())
    }
    using ofProcess = createGenerator({ ...own, engine: 'native', state: 'process' })
    ids.push(ofProcess.next())
    for (let round = 0; round < 2; round++) {
      using ofHost = createGenerator({ ...own, engine: 'native' })
      ids.push(ofHost.next())
      ofHost.close()
      ids.push(ofProcess.next(), ofProcess.next())
    }
    expect(ids.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(ids)
    expect(new Set(ids).size).toBe(ids.length)
  })
})
