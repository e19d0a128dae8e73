import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

// docs/architecture.md begins with the path of an id: functions, each of which calls those indented below it.

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')

interface Step {
  readonly depth: number
  readonly name: string
  readonly file: string
}

/** Reads the lists of the document. */
function paths(): Step[][] {
  const [, section = ''] = /^## The path of an id\n(.*?)^## /ms.exec(read('docs/architecture.md')) ?? []
  const lists = section.split(/^\*\*From .*$/m).slice(1)
  return lists.map((list) =>
    [...list.matchAll(/^( *)- `([^`]+)` in `([^`]+)` \S.*$/gm)].map(([, indent = '', name = '', file = '']) => ({
      depth: indent.length / 2,
      name,
      file,
    })),
  )
}

/** Returns the text of a function or class, from its first line to the brace that closes it. */
function bodyOf({ name, file }: Step): string {
  const lines = read(file).split('\n')
  const escaped = name.replace(/[#$]/g, '\\$&')
  // A member of a class may be defined inside the class, without the name of the class.
  const short = escaped.replace(/^\w+::/, '')
  const typescript = `^ *(export )?(async |abstract |private )*(function |class )?${escaped}(<.*)?[ (].*|^ *define\\(this, '${escaped}'`
  const definition = new RegExp(file.endsWith('.ts') ? typescript : `^[\\w ].*\\b(${escaped}|${short})\\(`)
  const isCall = /^ *(return|const|if|await|throw|\*|\/\/)|;$/
  const first = lines.findIndex((line) => definition.test(line) && !isCall.test(line))
  expect(first, `${name} is defined in ${file}`).toBeGreaterThanOrEqual(0)
  const [indent = ''] = /^ */.exec(lines[first] as string) ?? []
  const length = lines.slice(first).findIndex((line) => line.startsWith(`${indent}}`) && !/\{$/.test(line))
  return lines.slice(first, first + length + 1).join('\n')
}

const callOf = (name: string) => new RegExp(`(\\b|#|\\.)${name.replace(/^\w+::|^#/, '')}(<\\w+>)?\\(`)

describe.each(paths().map((steps) => [steps[0]?.name ?? '', steps] as const))('the path from %s', (_, steps) => {
  it.each(steps.map((step, at) => [step.name, step.file, at] as const))('%s of %s is called', (_, _file, at) => {
    const step = steps[at] as Step
    const parent = steps.slice(0, at).findLast(({ depth }) => depth < step.depth)
    bodyOf(step)
    if (parent === undefined) return
    expect(parent.depth).toBe(step.depth - 1)
    // A class is called by the function of its engine that opens it.
    const name = step.name === 'NativeCore' ? 'open' : step.name === 'Open' ? 'binding\\.open' : step.name
    const called = step.name === 'Next' ? 'next' : name
    expect(bodyOf(parent)).toMatch(callOf(called))
  })

  it('has at most 15 files, with 2 500 lines', () => {
    const files = [...new Set(steps.map(({ file }) => file))]
    expect(files.length).toBeLessThanOrEqual(15)
    const lines = files.map((file) => read(file).split('\n').length - 1)
    expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(2500)
  })
})

it('has two paths', () => {
  expect(paths().map((steps) => steps[0]?.name)).toEqual(['createGenerator', 'acquireLease'])
})
