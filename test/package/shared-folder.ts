import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** A temporary folder for files that all test files of a run share. */
    sharedFolder: string
  }
}

/** Vitest's global set-up. */
export default function setUp({ provide }: TestProject): () => void {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'graupel shared ')))
  provide('sharedFolder', folder)
  return () => rmSync(folder, { recursive: true, force: true })
}
