import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Block, blocksOf } from '../support/documents.ts'
import { examples } from './project.ts'

// Reads docs/orms.md, which shows programs of examples/orms with lines left out.

export const blocks = blocksOf('docs/orms.md')

/** The files below examples/orms. */
export const exampleFiles = readdirSync(examples, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.includes('.'))
  .toSorted()

/**
 * Finds the example that has all lines of a block, in the same order. An import in a block may have fewer
 * names.
 */
export function exampleOf({ code }: Block): string | undefined {
  return exampleFiles.find((file) => {
    const lines = linesOf(readFileSync(join(examples, file), 'utf8'))
    let at = -1
    return linesOf(code).every((line) => {
      at = lines.indexOf(line, at + 1)
      return at >= 0
    })
  })
}

function linesOf(code: string): string[] {
  return code
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^import \{.*\}/, 'import {}'))
}
