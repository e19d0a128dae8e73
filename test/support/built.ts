import type { TestProject } from 'vitest/node'
import { build, type PartName, partNames } from '../../scripts/build.ts'

// Tests import the sources. Processes and worker threads that they start load `dist`, as users do.

/**
 * Global set-up. Builds what the processes load, if a source has changed since, and again before each round
 * of watch mode. The few quick tests that need declarations or the page build these themselves.
 */
export default async function setUp(project: TestProject): Promise<void> {
  const quick: PartName[] = ['library', 'server', 'native']
  const parts = project.vite.config.mode === 'test' ? quick : partNames
  project.onTestsRerun(() => build(...parts))
  await build(...parts)
}
