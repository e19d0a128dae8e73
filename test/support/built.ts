import type { TestProject } from 'vitest/node'
import { build, type PartName, partNames } from '../../scripts/build.ts'

// Tests import the sources. Processes and worker threads that they start load `dist`, as users do.

/**
 * Set for a run that a test of another run starts, such as the parity suite on another Node: it uses what
 * that run has built. Another Node would build all parts again below the tests that load them, and with the
 * variables that hide the compiled engine it would remove that engine.
 */
const builtName = 'GRAUPEL_TEST_BUILT'

/**
 * Global set-up. Builds what the processes load, if a source has changed since, and again before each round
 * of watch mode. The few quick tests that need declarations or the page build these themselves.
 */
export default async function setUp(project: TestProject): Promise<void> {
  const quick: PartName[] = ['library', 'server', 'native']
  const parts = project.vite.config.mode === 'test' ? quick : partNames
  project.onTestsRerun(() => build(...parts))
  if (process.env[builtName] === undefined) await build(...parts)
  process.env[builtName] = 'yes'
}
