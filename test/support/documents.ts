import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const repository = fileURLToPath(new URL('../..', import.meta.url))

export const read = (file: string) => readFileSync(join(repository, file), 'utf8')

/** A block of code in a document. */
export interface Block {
  file: string
  line: number
  language: string
  code: string
}

export function blocksOf(file: string): Block[] {
  const text = read(file)
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    file,
    line: text.slice(0, match.index).split('\n').length,
    language: match[1] as string,
    code: match[2] as string,
  }))
}

/** The documents of the service. test/server/docs.long.test.ts runs their code. */
export const serviceDocuments = ['docs/service.md', 'docs/service-operations.md', 'docs/service-deployment.md']

/** Returns whether a block needs a server of a store. test/stores/examples.long.test.ts runs such a block. */
export const needsServer = ({ code }: Block) => /from '(ioredis|pg)'/.test(code)

/** The module that programs of the documents import as `./store.js`. */
export const storeModule = `
  import { memoryStore } from 'graupel/stores'
  export const store = memoryStore({ assumeOneProcess: true })`

/** Documents whose code needs servers or other packages. Long tests run it. */
export const documentsRunElsewhere = [
  ...serviceDocuments,
  'docs/databases.md',
  'docs/orms.md',
  'docs/testing.md',
  'docs/wire.md',
  'docs/redis-protocol.md',
  // Made by the templates of the page, which test/web/code.long.test.ts runs.
  'docs/how-it-works.md',
  // Made of the docstrings, whose examples test/api/docs.test.ts runs. `npm run check` compares them.
  'docs/api.md',
]
