import { join } from 'node:path'
import { afterAll, describe, it } from 'vitest'
import { headersOfThisNode } from '../../scripts/node-headers.js'
import { build, core, coreObjects, removeFolder, run, timeout, whyNot } from './compile.js'

// Builds native/binding without Node, on a Node-API whose calls fail as binding_test.cc tells them.

const binding = join(core, '../binding')
const sources = ['addon.cc', 'calls.cc', 'environment.cc', 'options.cc'].map((file) => join(binding, file))
const configuration = 'address and undefined behaviour sanitizers'

/** Where Node is, or where npm has been told that it is. */
const node = process.env['npm_config_nodedir'] ?? headersOfThisNode()

afterAll(removeFolder)

describe('native/binding', () => {
  it('releases what it has taken, whichever call of Node-API fails', { timeout }, async ({ skip }) => {
    const missing = node === undefined ? 'the headers of this Node are not beside it' : undefined
    const reason = (await whyNot(configuration)) ?? missing
    if (reason !== undefined) {
      // What nobody looks at must not pass by being skipped.
      if (process.env['CI'] && process.platform !== 'win32') throw new Error(reason)
      skip(reason)
    }
    const flags = ['-isystem', join(node ?? '', 'include/node'), '-DNAPI_VERSION=8']
    await run(await build('binding_test', configuration, [...flags, ...sources, ...(await coreObjects(configuration))]))
  })
})
