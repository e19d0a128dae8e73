import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, it, vi } from 'vitest'
import { claimIn, pageBeside, pagesFolder } from '../../src/host/folder.js'
import { createGenerator, layouts } from '../../src/index.js'
import { makeKey } from '../../src/state/key.js'
import { engines, freshNamespace } from '../support/engines.js'

// C++ and TypeScript each determine the folder of pages: src/host/folder.ts says why. If they disagreed, the
// engines would not meet, and the command line would show nothing.

const chosen = mkdtempSync(join(tmpdir(), 'graupel-chosen-'))
afterAll(() => rmSync(chosen, { recursive: true }))
afterEach(() => {
  vi.unstubAllEnvs()
})

it.runIf(engines.includes('native')).each([
  ['that is the usual one', ''],
  ['that GRAUPEL_STATE_FOLDER chooses', chosen],
])('both engines take the folder %s, and one name for a key', (_, folder) => {
  vi.stubEnv('GRAUPEL_STATE_FOLDER', folder)
  const namespace = freshNamespace()
  const claim = claimIn(pagesFolder(), makeKey(layouts.twitter, 5, namespace, 'real'))
  const page = pageBeside(claim)
  using ids = createGenerator({ engine: 'native', state: 'host', node: 5, namespace })
  expect([ids.state, existsSync(page)]).toEqual(['host', true])
  rmSync(page)
})
