import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { repository } from '../support/documents.ts'

// All other tests of the library import its sources. This file proves that `dist`, which users load, has the
// same exports.

const entries = Object.keys(manifest.exports)
  .filter((entry) => entry !== './package.json')
  .map((entry) => entry.replace('.', 'graupel'))

/** Returns the names and kinds of the exports of all entries, as a process loads them from `dist`. */
function loaded(form: 'import' | 'require'): Record<string, Record<string, string>> {
  const program = `
    const entries = ${JSON.stringify(entries)}
    const load = ${form === 'import' ? '(entry) => import(entry)' : 'require'}
    const kinds = (exports) => Object.fromEntries(Object.keys(exports).sort().map((name) => [name, typeof exports[name]]))
    Promise.all(entries.map(async (entry) => [entry, kinds(await load(entry))]))
      .then((rows) => console.log(JSON.stringify(Object.fromEntries(rows))))`
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', program], { cwd: repository, encoding: 'utf8' })
  // Node warns of a circular import in which a name is read too early.
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

/** The same of the sources. */
async function ofSources(): Promise<Record<string, Record<string, string>>> {
  const rows = entries.map(async (entry) => {
    const path = join(repository, entry.replace('graupel', 'src'))
    const exports = await import(/* @vite-ignore */ existsSync(`${path}.ts`) ? `${path}.ts` : `${path}/index.ts`)
    const kinds = Object.keys(exports)
      .sort()
      .map((name) => [name, typeof exports[name]])
    return [entry, Object.fromEntries(kinds)]
  })
  return Object.fromEntries(await Promise.all(rows))
}

it.each(['import', 'require'] as const)('every entry has the exports of its source by %s', async (form) => {
  const sources = await ofSources()
  expect(Object.keys(sources)).toHaveLength(entries.length)
  for (const exports of Object.values(sources)) expect(Object.keys(exports)).not.toEqual([])
  expect(loaded(form)).toEqual(sources)
})
