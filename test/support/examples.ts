import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// The examples of documents and docstrings, as programs.

const source = fileURLToPath(new URL('../../src', import.meta.url))

/** A line with a comment that is the value of the line, and not a remark. */
const literal = /^(.*\S)\s+\/\/ ('[^']*'|-?\d+n?|true|false|undefined|\{.*\}|\[.*\])$/

/** Makes a program of an example. Each line with a value in its comment becomes a check of that value. */
export function program(code: string): string {
  const lines = code.split('\n').map((line) => {
    const match = literal.exec(line)
    if (match === null || /^\s*(const|let|import|return)\b/.test(line)) return line
    return `${(match[1] as string).match(/^\s*/)?.[0]}__equal(${(match[1] as string).trim()}, ${match[2]})`
  })
  return `import { deepStrictEqual as __equal } from 'node:assert'\n${lines.join('\n')}`
}

/** Returns the example in the docstring of each export of src, by name. */
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

/** Exports whose example needs a database. test/stores/examples.long.test.ts runs their examples. */
export const examplesWithDatabase = [
  'consulStore',
  'dynamodbStore',
  'etcdStore',
  'kubernetesStore',
  'leafAllocStore',
  'mongodbStore',
  'mysqlStore',
  'objectStore',
  'postgresStore',
  'redisStore',
  'serviceStore',
  'sqliteStore',
  'zookeeperStore',
]
