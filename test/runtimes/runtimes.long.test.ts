import { rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { afterAll, beforeAll, describe, test, vi } from 'vitest'
import { temporaryFolder } from '../package/consumer.ts'
import { needsAll } from '../support/bare.ts'
import { inChromium, inWorkerd } from './browsers.ts'
import { onArm64, onMusl, onMuslArm64, onWindows } from './foreign.ts'
import { IdService } from './id-service.ts'
import { Project } from './project.ts'
import { Missing, type Outcome } from './run.ts'
import { onBun, onDeno, onNode, onThisNode, whileInstalling } from './suites.ts'

// Runs the installed package on every supported runtime, and prints the results. The runtimes are npm
// packages; Chromium, QEMU, musl and Wine are Debian packages. docs/platforms.md has the commands and the
// variables.

const hour = 3_600_000
vi.setConfig({ maxConcurrency: availableParallelism(), testTimeout: hour, hookTimeout: hour })

/** Needs `scripts/cross/build.ts`, which takes minutes, and a Debian on x64. */
const isForeignWanted = process.env['GRAUPEL_TEST_FOREIGN'] !== undefined
/** The folder of a tarball to test. Without it, the tests use a tarball of this repository. */
const given = process.env['GRAUPEL_TEST_PACKAGE']

const folder = temporaryFolder()
let project: Project
let service: IdService
beforeAll(async () => {
  service = await IdService.start(folder)
  project = await Project.make(folder, given, service.url)
})
afterAll(async () => {
  await service?.stop()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

describe.concurrent('the package runs on', () => {
  // Otherwise this Node is one of the releases below.
  if (given !== undefined) on('this Node', onThisNode)
  for (const version of ['20.19', '22', '24', '26']) on(`Node ${version}`, (project) => onNode(version, project))
  on('Bun', onBun)
  on('Deno', onDeno)
  on('Chromium', inChromium)
  on('workerd', inWorkerd)
})

describe.runIf(isForeignWanted).concurrent('other systems, and each Node', () => {
  on('linux-arm64-glibc', onArm64)
  on('linux-x64-musl', onMusl)
  on('linux-arm64-musl', onMuslArm64)
  on('win32-x64', onWindows)
  for (const version of ['20.19', '22', '24', '26']) {
    on(`Node ${version}, installing`, (project) => whileInstalling(version, project))
  }
})

function on(name: string, run: (project: Project) => Promise<Outcome>): void {
  test(name, async ({ skip }) => {
    try {
      const { runtime, engine, proof } = await run(project)
      console.log(`${runtime}: ${engine}; ${proof}`)
    } catch (error) {
      // In CI, a missing tool is a failure.
      if (error instanceof Missing && !needsAll) skip(error.message)
      throw error
    }
  })
}
