import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { layouts } from 'graupel'
import { describe, expect, it } from 'vitest'
import { build } from '../../scripts/build.js'
import { repository } from '../support/documents.js'

await build('types')

// The compiler of the project has no API for JavaScript; the one of the tool that makes docs/api.md has.
const ts: typeof import('../../scripts/docs/node_modules/typescript/lib/typescript.js') = createRequire(
  join(repository, 'scripts/docs/package.json'),
)('typescript')

const names = Object.keys(layouts).map((name) => [name, `layouts.${name[0]?.toUpperCase()}${name.slice(1)}`] as const)

const program = `import { connect } from 'graupel/client'
import { defineKind } from 'graupel/kind'
import { acquireLease } from 'graupel/lease'
import { memoryStore } from 'graupel/stores'
import { createGenerator, decode, defineLayout, defineSerial, layouts, type IdGenerator, type Layout } from 'graupel'
${names.map(([name]) => `layouts.${name}`).join('\n')}
const usual = createGenerator({ node: 7 })
const discord = createGenerator({ node: 7, layout: layouts.discord })
const small = createGenerator({ node: 7, layout: layouts.js53 })
const parts = decode(1n, layouts.sonyflake)
const fields = parts.fields
const client = await connect({ url: '', layout: layouts.tsid })
const lease = await acquireLease({ store: memoryStore() })
const leased = createGenerator({ lease })
const serial = defineSerial({ pattern: '', layout: layouts.wide })
const changed = defineLayout({ ...layouts.leaf, epochMs: 0 })
const own = defineLayout({ name: 'own', epochMs: 0, tickMs: 1, fields: [['timestamp', 41], ['sequence', 12]] })
const ofOwn = createGenerator({ node: 0, layout: own })
const order = defineKind({ prefix: 'ord', layout: layouts.twitter })
const orderIds = order.ids(usual)
const typedId = orderIds.next()
usual.nextNumber()
export const exported = createGenerator({ node: 7, layout: layouts.tsid })
const wrong: IdGenerator<typeof layouts.twitter.fields> = discord
const wrongLayout: Layout<typeof layouts.tsid.fields> = layouts.leaf
`

const file = join(repository, 'test/api/program.mts')
const isProgram = (path: string) => path === file
const service = ts.createLanguageService({
  getCompilationSettings: () => ({
    strict: true,
    declaration: true,
    emitDeclarationOnly: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    lib: ['lib.es2024.d.ts', 'lib.esnext.disposable.d.ts'],
    types: [],
  }),
  getScriptFileNames: () => [file],
  getScriptVersion: () => '1',
  getScriptSnapshot: (path) =>
    existsSync(path) || isProgram(path)
      ? ts.ScriptSnapshot.fromString(isProgram(path) ? program : readFileSync(path, 'utf8'))
      : undefined,
  getCurrentDirectory: () => repository,
  getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
  fileExists: (path) => isProgram(path) || existsSync(path),
  readFile: (path) => readFileSync(path, 'utf8'),
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
})

/** Returns the text that an editor shows if the pointer is at the end of `text`. */
function hover(text: string): { type: string; docs: string } {
  const info = service.getQuickInfoAtPosition(file, program.indexOf(text) + text.length - 1)
  return { type: ts.displayPartsToString(info?.displayParts), docs: ts.displayPartsToString(info?.documentation) }
}

describe('an editor', () => {
  it('has a program without mistakes but those that are meant', () => {
    const found = service
      .getSemanticDiagnostics(file)
      .map(({ start = 0 }) => program.slice(0, start).split('\n').length)
    const meant = ['usual.nextNumber', 'const wrong:', 'const wrongLayout:']
    expect(found).toEqual(meant.map((text) => program.slice(0, program.indexOf(text)).split('\n').length))
  })

  it.each(names)('shows layouts.%s as Layout<%s>, with its description', (name, type) => {
    const { expiresAt, epochMs, fields, bits, unsigned, tickMs, timestamp } = layouts[name as keyof typeof layouts]
    const shown = hover(`\nlayouts.${name}`)
    expect(shown.type).toBe(`(property) ${name}: Layout<${type}>`)
    const tick = tickMs < 1000 ? `${tickMs} ms` : `${tickMs / 1000} s`
    const day = (ms: number) => new Date(ms).toISOString().replace(/^\+0*/, '').split('T')[0]
    const signedUntil = day(epochMs + 2 ** (timestamp.bits - 1) * tickMs)
    expect(shown.docs).toMatch(/^[A-Z].*\./)
    expect(shown.docs).toContain(`- fields: ${fields.map(([field, width]) => `${field} ${width}`).join(', ')}\n`)
    expect(shown.docs).toContain(
      `- width: ${bits} bits${unsigned ? `, unsigned; they fit a signed column of 64 bits until ${signedUntil}` : ''}\n`,
    )
    expect(`${shown.docs}\n`).toContain(
      `- time: ticks of ${tick} from ${new Date(epochMs).toISOString()} to ${day(expiresAt.getTime())}\n`,
    )
    expect(/- source:\s+\[[^\]]+\]\(https:.+\)/.test(shown.docs)).toBe(name !== 'js53' && name !== 'wide')
  })

  it.each([
    ['usual', 'IdGenerator<layouts.Twitter>'],
    ['discord', 'IdGenerator<layouts.Discord>'],
    ['small', 'IdGenerator<layouts.Js53>'],
    ['parts', 'DecodedId<layouts.Sonyflake>'],
    ['fields', '{\n    machine: number;\n}'],
    ['client', 'IdClient<layouts.Tsid>'],
    ['lease', 'Lease<layouts.Twitter>'],
    ['leased', 'IdGenerator<layouts.Twitter>'],
    ['serial', 'Serial<layouts.Wide>'],
    ['changed', 'Layout<layouts.Leaf>'],
    ['orderIds', 'KindIds<"ord", IdGenerator<layouts.Twitter>>'],
    ['typedId', 'KindId<"ord", bigint>'],
    ['own', 'Layout<readonly [readonly ["timestamp", 41], readonly ["sequence", 12]]>'],
    ['ofOwn', 'IdGenerator<readonly [readonly ["timestamp", 41], readonly ["sequence", 12]]>'],
  ])('shows %s as %s', (name, type) => {
    expect(hover(`const ${name}`).type).toBe(`const ${name}: ${type}`)
  })

  it('shows the docstrings of a generator that belongs to a kind', () => {
    expect(hover('orderIds.next')).toEqual({
      type: '(method) next(this: void): KindId<"ord", bigint>',
      docs: expect.stringContaining('Makes one id. Blocks if the policy says to wait'),
    })
  })

  it('names the layout in the declarations of a library', () => {
    expect(service.getProgram()?.getDeclarationDiagnostics()).toEqual([])
    const [output] = service.getEmitOutput(file).outputFiles
    expect(output?.text).toContain('const exported: IdGenerator<layouts.Tsid>;')
  })

  it('names the layouts in errors', () => {
    const messages = service
      .getSemanticDiagnostics(file)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
    expect(messages[0]).toBe(
      `The 'this' context of type 'IdGenerator<Twitter>' is not assignable to method's 'this' of type '"ids of this layout have more than 53 bits; use next() or nextString(), or layouts.js53"'.`,
    )
    expect(messages[1]).toMatch(/^Type 'IdGenerator<Discord>' is not assignable to type 'IdGenerator<Twitter>'\.\n/)
    expect(messages[2]).toMatch(/^Type 'Layout<Leaf>' is not assignable to type 'Layout<Tsid>'\.\n/)
  })
})
