import { execSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as graupel from 'graupel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const folder = fileURLToPath(new URL('../..', import.meta.url))
const read = (file: string) => readFileSync(join(folder, file), 'utf8')
const documents = [
  'README.md',
  ...readdirSync(join(folder, 'docs'))
    .filter((f) => f.endsWith('.md'))
    .map((f) => `docs/${f}`),
]

interface Block {
  file: string
  line: number
  language: string
  code: string
}

function blocksOf(file: string): Block[] {
  const text = read(file)
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    file,
    line: text.slice(0, match.index).split('\n').length,
    language: match[1] as string,
    code: match[2] as string,
  }))
}

const blocks = documents.flatMap(blocksOf)

/** Comments behind a line that are what the line comes to, and not a remark. */
const literal = /^(.*\S)\s+\/\/ ('[^']*'|-?\d+n?|true|false|\{.*\}|\[.*\])$/

/** A program from an example: each line with a value behind it becomes a check of that value. */
function program(code: string): string {
  const lines = code.split('\n').map((line) => {
    const match = literal.exec(line)
    if (match === null || /^\s*(const|let|import|return)\b/.test(line)) return line
    return `${(match[1] as string).match(/^\s*/)?.[0]}__equal(${(match[1] as string).trim()}, ${match[2]})`
  })
  return `import { deepStrictEqual as __equal } from 'node:assert'\n${lines.join('\n')}`
}

let temporary: string
beforeAll(() => {
  // Inside the package, so that an example can import it by its name.
  temporary = mkdtempSync(join(folder, 'dist', 'examples-'))
})
afterAll(() => rmSync(temporary, { recursive: true }))

let count = 0
function runExample(code: string): string {
  const file = join(temporary, `${count++}.mjs`)
  writeFileSync(file, program(code))
  const { status, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8', cwd: folder })
  return status === 0 ? '' : `${stderr}\n${program(code)}`
}

describe('every code block', () => {
  it.each(blocks.filter(({ language }) => language === 'js'))(
    '$file:$line runs, and comes to what it says',
    ({ code }) => {
      expect(runExample(code)).toBe('')
    },
  )

  it.each(blocks.filter(({ language }) => language === 'sh'))(
    '$file:$line is a list of commands that work',
    ({ code }) => {
      for (const line of code.trim().split('\n')) {
        if (line.startsWith('npx graupel ')) {
          const output = execSync(`node dist/cli/main.js ${line.slice('npx graupel '.length)}`, {
            cwd: folder,
            encoding: 'utf8',
          })
          expect(output.length).toBeGreaterThan(10)
        } else if (line === 'npm ci && npm start') {
          // What npm ci does has been done, or this test would not run.
          expect(execSync('npm start', { cwd: folder, encoding: 'utf8' })).toContain('2016-04-30')
        } else {
          // This very run.
          expect(line).toBe('npm ci && npm test')
        }
      }
    },
  )

  it('is of a kind that is run, or a picture', () => {
    expect(blocks.filter(({ language }) => !['js', 'sh', 'text'].includes(language))).toEqual([])
  })
})

describe('every public export', () => {
  const sources = readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' }).filter((f) =>
    f.endsWith('.ts'),
  )
  const examples = new Map<string, string>()
  for (const file of sources) {
    const text = read(`src/${file}`)
    for (const [, comment, name] of text.matchAll(
      /\/\*\*((?:(?!\*\/)[\s\S])*?)\*\/\nexport (?:function|const|class) (\w+)/g,
    )) {
      const example = /@example\n([\s\S]*)$/.exec(comment as string)?.[1]
      if (example !== undefined) examples.set(name as string, example.replace(/^ \* ?/gm, '').trim())
    }
  }

  it.each(Object.keys(graupel))('%s has an example in its docstring, which runs', (name) => {
    const example = examples.get(name)
    expect(example).toBeDefined()
    expect(runExample(`import { ${Object.keys(graupel).join(', ')} } from 'graupel'\n${example}`)).toBe('')
  })
})

describe('docs/errors.md', () => {
  const text = read('docs/errors.md')

  it('describes exactly the codes of the catalogue', () => {
    const described = [...text.matchAll(/^### (\w+)$/gm)].map(([, code]) => code)
    expect(described.toSorted()).toEqual(Object.keys(graupel.errorCodes).toSorted())
  })

  it('has the codes that the source throws, and no other', () => {
    const thrown = new Set<string>()
    for (const file of readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts') || file === 'errors.ts') continue
      for (const [code] of read(`src/${file}`).matchAll(/(?<=')ERR_[A-Z_]+(?=')/g)) thrown.add(code)
    }
    // Node's own, by which the reason is told.
    thrown.delete('ERR_DLOPEN_DISABLED')
    for (const code of thrown) expect(Object.keys(graupel.errorCodes)).toContain(code)
    for (const code of Object.keys(graupel.errorCodes)) expect([...thrown]).toContain(code)
  })
})

describe('docs/layouts.md', () => {
  it('shows the presets as they are', () => {
    const rows = [...read('docs/layouts.md').matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, name, rest]) => [
      name,
      (rest as string).split(' | '),
    ])
    const format = (value: number) => value.toLocaleString('en').replaceAll(',', ' ')
    const tick = (ms: number) => (ms === 1000 ? '1 s' : `${ms} ms`)
    expect(rows).toEqual(
      Object.values(graupel.layouts).map((l) => [
        l.name,
        [
          new Date(l.epochMs).toISOString(),
          tick(l.tickMs),
          l.fields.map(([field, bits]) => `${field} ${bits}`).join(', '),
          String(l.bits),
          format(l.nodes),
          format(l.idsPerSecond),
          l.expiresAt.toISOString().slice(0, 10),
        ],
      ]),
    )
  })
})

describe('README.md', () => {
  it('names every option', () => {
    const table = read('README.md').split('## Options')[1]?.split('\n## ')[0] ?? ''
    const named = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
    const refusal = (() => {
      try {
        graupel.createGenerator({ nonsense: 1 } as never)
      } catch (error) {
        return (error as Error).message
      }
      return ''
    })()
    expect(refusal).toContain(`the options are ${named.join(', ')}`)
  })

  it('shows the bits as the command line draws them', () => {
    const picture = blocks.find(({ language }) => language === 'text')?.code ?? ''
    const [command = '', ...drawing] = picture.split('\n')
    const output = execSync(`node dist/cli/main.js ${command.slice('$ graupel '.length)}`, {
      cwd: folder,
      encoding: 'utf8',
    })
    expect(output).toContain(drawing.join('\n').trimEnd())
  })

  it('has at most 250 lines, and an example within the first 15', () => {
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(250)
    expect((blocks.find(({ file }) => file === 'README.md') as Block).line).toBeLessThan(15)
  })

  it('links to files that exist', () => {
    for (const file of documents) {
      for (const [, target] of read(file).matchAll(/\]\((?!https?:)([^)#]+)\)/g)) {
        expect(() => read(join(file, '..', target as string))).not.toThrow()
      }
    }
  })
})
