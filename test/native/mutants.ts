import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { here, native, type Tree } from './compile.js'
import type { Mutation } from './mutations.js'

/** A part of a source, and what each mutant has in its place. */
interface Place {
  start: number
  end: number
  readonly edits: { readonly number: number; readonly start: number; readonly end: number; readonly to: string }[]
}

/**
 * Copies native and test/native. The copy has all defects, and the environment variable GRAUPEL_MUTANT
 * chooses one: the number of a mutation, beginning with 1.
 */
export async function copyWithMutants(root: string, mutations: readonly Mutation[]): Promise<Tree> {
  const tests = join(root, 'test/native')
  await mkdir(tests, { recursive: true })
  await cp(native, join(root, 'native'), { recursive: true })
  await cp(here, tests, { recursive: true })
  for (const file of new Set(mutations.map((mutation) => mutation.file))) {
    const path = join(root, 'native', file)
    await writeFile(path, withMutants(await readFile(path, 'utf8'), file, mutations))
  }
  return { root, products: root, flags: ['-include', join(tests, 'mutant.h')] }
}

/** Returns the source of a file with all its defects, each behind a condition. */
function withMutants(source: string, file: string, mutations: readonly Mutation[]): string {
  let text = ''
  let done = 0
  for (const place of placesOf(source, file, mutations)) {
    text += source.slice(done, place.start) + choiceOf(source, place)
    done = place.end
  }
  return text + source.slice(done)
}

/** The places in their order. Mutations that overlap share a place. */
function placesOf(source: string, file: string, mutations: readonly Mutation[]): Place[] {
  const edits = mutations.flatMap((mutation, i) => {
    if (mutation.file !== file) return []
    const start = source.indexOf(mutation.from)
    if (start < 0 || source.indexOf(mutation.from, start + 1) >= 0) {
      throw new Error(`${file} must have this text once, for the defect that ${mutation.defect}:\n${mutation.from}`)
    }
    return [{ number: i + 1, start, end: start + mutation.from.length, to: mutation.to }]
  })
  edits.sort((a, b) => a.start - b.start)
  const places: Place[] = []
  for (const edit of edits) {
    const last = places.at(-1)
    if (last === undefined || edit.start >= last.end) places.push({ start: edit.start, end: edit.end, edits: [edit] })
    else {
      last.end = Math.max(last.end, edit.end)
      last.edits.push(edit)
    }
  }
  return places
}

/** C++ that has the text of the mutant in effect: statements, or an expression without a semicolon. */
function choiceOf(source: string, { start, end, edits }: Place): string {
  const original = source.slice(start, end)
  const variants = edits.map((edit) => ({
    condition: `::graupel::mutant == ${edit.number}`,
    text: source.slice(start, edit.start) + edit.to + source.slice(edit.end, end),
  }))
  if (!/[;}]\s*$/.test(original)) {
    return `(${variants.map(({ condition, text }) => `${condition} ? (${text}) : `).join('')}(${original}))`
  }
  return `${variants.map(({ condition, text }) => `if (${condition}) {\n${text}\n} else `).join('')}{\n${original}\n}\n`
}
