import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { compilerOptions, generateClient } from '../orms/project.ts'
import { installOnce } from '../package/consumer.ts'
import { load } from '../stores/kinds/kind.ts'
import { type Block, blocksOf, read, repository, storeModule } from '../support/documents.ts'

// Compiles the blocks of the documents in strict mode, each as a file of its own, in one program with the
// package's types. Programs in JavaScript are compiled as well, because users paste them into files of
// TypeScript.

const files = [
  'README.md',
  'skills/graupel/SKILL.md',
  ...readdirSync(join(repository, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
]
/**
 * Pages whose JavaScript is not compiled. Their programs have parameters without types, and api.md leaves
 * imports out.
 */
const onlyJavaScript = 'api databases how-it-works leaving order testing wire stores/zookeeper'
  .split(' ')
  .map((name) => `docs/${name}.md`)

const blocks = files
  .flatMap(blocksOf)
  .filter(({ file, language }) => language === 'ts' || (language === 'js' && !onlyJavaScript.includes(file)))

/** The modules of a user that blocks import. */
const modules = {
  'store.ts': storeModule,
  'lease.ts': `
import { acquireLease } from 'graupel/lease'
import { store } from './store.js'
export const lease = await acquireLease({ store })`,
}

const lib = ['es2024', 'esnext.disposable', 'dom']

/** The entry of an export, by the headings of docs/api.md, and all names below the entry. */
const entries = read('docs/api.md')
  .split(/^## (?=graupel)/m)
  .slice(1)
  .map((section) => ({
    entry: section.slice(0, section.indexOf('\n')),
    names: [...section.matchAll(/^### (\w+)/gm)].map(([, name]) => name as string),
  }))

/** Names in docs/api.md that no entry exports. */
const unexported = ['declare const brand: unique symbol, idBrand: unique symbol', 'type Checked<V, Of> = V | Of'].join(
  '; ',
)

/** Makes a module of a signature in docs/api.md, which declares again what its entry exports. */
function signature({ code }: Block): string {
  const imports = entries.map(({ entry, names }) => `import { ${names.map((name) => `type ${name}`)} } from '${entry}'`)
  // Parameters with defaults are optional to a caller.
  const declared = code.replace(/(\w+): ([^\n,]+?) = (\{\}|\w+)/g, '$1?: $2')
  return `${imports.join('; ')}; ${unexported}; export declare namespace Documented { ${declared}}`
}

let folder: string
beforeAll(() => {
  load('mysql2')
  const installed = [
    // First, because Prisma brings an older mysql2, whose pool is none for Drizzle.
    join(repository, 'test/stores/clients/node_modules'),
    installOnce('test/orms/packages', ['--ignore-scripts']),
    installOnce('test/orms/prisma', ['--ignore-scripts']),
    installOnce('test/examples/packages', ['--ignore-scripts', '--legacy-peer-deps']),
  ]
  // Inside the package, so that blocks find graupel by its name.
  folder = mkdtempSync(join(repository, 'dist', 'blocks-'))
  for (const path of installed.flatMap(packagesIn)) {
    const link = join(folder, 'node_modules', path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length))
    mkdirSync(dirname(link), { recursive: true })
    if (!existsSync(link)) symlinkSync(path, link)
  }
  cpSync(join(repository, 'examples/orms/prisma/schema.prisma'), join(folder, 'schema.prisma'))
  generateClient(folder)
  for (const [name, code] of Object.entries(modules)) writeFileSync(join(folder, name), code)
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...compilerOptions, lib }, include: ['*.ts'] }),
  )
}, 600_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function packagesIn(installed: string): string[] {
  return readdirSync(installed).flatMap((name) => {
    if (name.startsWith('.')) return []
    return name.startsWith('@')
      ? readdirSync(join(installed, name)).map((one) => join(installed, name, one))
      : [join(installed, name)]
  })
}

it('every block compiles in strict mode', () => {
  const withTypeScript = blocks.filter(({ language }) => language === 'ts').map(({ file }) => file)
  expect(new Set(withTypeScript)).toEqual(new Set(['docs/api.md', 'docs/kinds.md', 'docs/leases.md', 'docs/orms.md']))
  for (const block of blocks) {
    const { file, line, code } = block
    // A line of a file has the number that it has in the document.
    const text = `${'\n'.repeat(line)}${file === 'docs/api.md' ? signature(block) : code}\nexport {}\n`
    writeFileSync(join(folder, `${file.replaceAll('/', '-')}-${line}.ts`), text)
  }
  const compiler = join(repository, 'node_modules/typescript/bin/tsc')
  expect(spawnSync(process.execPath, [compiler], { cwd: folder, encoding: 'utf8' })).toMatchObject({
    stdout: '',
    status: 0,
  })
})
