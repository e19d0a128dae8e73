import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { repository } from './documents.ts'

// scripts/check-comments.ts, on trees that have one fault.

const root = mkdtempSync(join(tmpdir(), 'graupel-comments-'))
afterEach(() => rmSync(root, { recursive: true, force: true }))

const folders = [
  ...['.', 'src', 'native', 'server/src', 'web/src', 'test', 'bench', 'scripts', 'examples', 'model'],
  ...['.ci', '.github'],
]
const words = (count: number) => `${'word '.repeat(count - 1)}end`
/** A comment of lines of five words, such as `// word word word word end`. */
const lines = (count: number, mark: string) => `${mark} ${words(5)}\n`.repeat(count / 5)

/** Runs the check on a tree with these files, and with a file without faults in each folder of `others`. */
function check(files: Record<string, string>, others = folders) {
  mkdirSync(join(root, 'src'), { recursive: true })
  for (const folder of others) write(`${folder}/clean.ts`, '// Counts.\nexport const a = 1\n')
  for (const [path, text] of Object.entries(files)) write(path, text)
  const script = join(repository, 'scripts/check-comments.ts')
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', script, root], {
    cwd: repository,
    encoding: 'utf8',
  })
  return { status, stdout, faults: stderr.trim().split('\n').filter(Boolean) }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

test('passes comments at both limits, and counts characters, not bytes', () => {
  const { status, stdout, faults } = check({
    'src/limits.ts': `// ${'ü'.repeat(107)}\n\n${lines(60, '//')}export const b = 2\n`,
    'native/core/limits.h': `/*\n${lines(60, ' *')} */\n`,
    'src/wide-code.ts': `export const c = '${'x'.repeat(200)}'\n`,
    'test/long-comment.ts': lines(100, '//'),
    '.ci/limits': `# ${'x'.repeat(108)}\nrun 'the # ${'x'.repeat(108)}'\n`,
    'src/node_modules/other/index.js': `// ${'x'.repeat(200)}\n`,
  })
  expect(faults).toEqual([])
  expect(stdout).toMatch(/^check-comments: 17 files/)
  expect(status).toBe(0)
})

test('names each comment that is too wide or too long', () => {
  const wide = 'x'.repeat(108)
  const tags = ` * @param a - ${words(15)}\n${lines(70, ' *  ')} * @example\n${lines(70, ' *')}`
  const items = ` * - ${words(15)}\n`.repeat(5)
  const { status, faults } = check({
    'a.config.ts': `// ${wide}\n`,
    'src/1-wide.ts': `export const a = 1\n  // ${wide.slice(2)}\n`,
    'src/2-long.ts': `\nconst a = 1\n${lines(65, '//')}const b = 2\n`,
    'src/3-entry.ts': `/**\n${lines(60, ' *')} *\n${lines(60, ' *')} *\n${tags} */\n`,
    'src/4-long-entry.ts': `/**\n${lines(65, ' *')} *\n${tags} */\n`,
    'src/5-list.ts': `/**\n${lines(60, ' *')}${items} */\n`,
    'src/6-long-item.ts': `/**\n${items} * - ${words(15)}\n${lines(50, ' *  ')} */\n`,
    'native/1-wide.cc': `/* ${wide}\n   ${wide} */\nint c;\n`,
    'native/2-long.h': `${lines(30, '//')}//\n${lines(35, '//')}`,
    'server/src/1-long.ts': `/**\n${lines(30, ' *')} *\n${lines(35, ' *')} */\nexport const c = 1\n`,
    'test/1-wide.mjs': `/**\n * ${wide}\n */\n`,
    'model/1-wide.pml': `/* ${wide} */\n`,
    '.ci/1-wide': `#!/bin/sh\n# ${wide}x\n`,
    '.github/workflows/1-wide.yml': `jobs:\n  # ${wide}\n`,
  })
  const tooLong = 'a comment of 65 words; shorten it to 60, or move the reason to a document in docs'
  const tooWide = (width: number) => `a comment ${width} characters wide; wrap it at 110`
  expect(faults).toEqual([
    `a.config.ts:1: ${tooWide(111)}`,
    `src/1-wide.ts:2: ${tooWide(111)}`,
    `src/2-long.ts:3: ${tooLong}`,
    `src/4-long-entry.ts:1: ${tooLong}`,
    `src/6-long-item.ts:1: ${tooLong}`,
    `native/1-wide.cc:1: ${tooWide(111)}`,
    `native/1-wide.cc:2: ${tooWide(114)}`,
    `native/2-long.h:1: ${tooLong}`,
    `server/src/1-long.ts:1: ${tooLong}`,
    `test/1-wide.mjs:2: ${tooWide(111)}`,
    `model/1-wide.pml:1: ${tooWide(114)}`,
    `.ci/1-wide:2: ${tooWide(111)}`,
    `.github/workflows/1-wide.yml:2: ${tooWide(112)}`,
  ])
  expect(status).toBe(1)
})

test('fails if a folder has no sources', () => {
  const others = folders.filter((folder) => folder !== 'src')
  const { status, faults } = check({}, others)
  expect(faults).toEqual(['src: no source files found'])
  expect(status).toBe(1)
})
