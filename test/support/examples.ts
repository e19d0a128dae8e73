import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// The examples of documents and docstrings, as programs.

const source = fileURLToPath(new URL('../../src', import.meta.url))

/** Comments behind a line that are what the line comes to, and not a remark. */
const literal = /^(.*\S)\s+\/\/ ('[^']*'|-?\d+n?|true|false|undefined|\{.*\}|\[.*\])$/

/** A program from an example: each line with a value behind it becomes a check of that value. */
export function program(code: string): string {
  const lines = code.split('\n').map((line) => {
    const match = literal.exec(line)
    if (match === null || /^\s*(const|let|import|return)\b/.test(line)) return line
    return `${(match[1] as string).match(/^\s*/)?.[0]}__equal(${(match[1] as string).trim()}, ${match[2]})`
  })
  return `import { deepStrictEqual as __equal } from 'node:assert'\n${lines.join('\n')}`
}

/** The example in the docstring of each thing that a module of src exports, by its name. */
export function docstringExamples(): Map<string, string> {
  const examples = new Map<string, string>()
  for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue
    const text = readFileSync(join(source, file), 'utf8')
    for (const [, comment, name] of text.matchAll(
      /\/\*\*((?:(?!\*\/)[\s\S])*?)\*\/\nexport (?:(?:async )?function|const|class|interface|type) (\w+)/g,
    )) {
      const example = /@example\n([\s\S]*)$/.exec(comment as string)?.[1]
      if (example !== undefined) examples.set(name as string, example.replace(/^ \* ?/gm, '').trim())
    }
  }
  return examples
}

/** Those of stores that need a database, which run where there is one: test/stores/examples.long.test.ts. */
export const examplesWithDatabase = [
  'consulStore',
  'etcdStore',
  'kubernetesStore',
  'leafAllocStore',
  'mysqlStore',
  'postgresStore',
  'redisStore',
  'sqliteStore',
  'zookeeperStore',
]
