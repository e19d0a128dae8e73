// Writes docs/api.md of the docstrings of all that the package exports (`npm run docs`). With --check it compares the file with what it would
// write, and fails where they differ (part of `npm run check`).
import { readFileSync, writeFileSync } from 'node:fs'
import { Application, Converter, type Reflection } from 'typedoc'
import { declarationTexts } from './declarations.ts'
import { pageOf } from './page.ts'

const file = 'docs/api.md'

/** The name by which each entry is imported, by its source. */
const entries = new Map<string, string>()
const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
for (const [path, { import: esm }] of Object.entries<{ import?: { default: string } }>(exports)) {
  if (esm !== undefined)
    entries.set(esm.default.replace(/^\.\/dist\/(.*)js$/, 'src/$1ts'), path.replace('.', 'graupel'))
}

/** Types that the page does not have: the docstrings of those that are made of them say in words what they are. */
const unnamed = [
  // Lists of values, and sums of widths.
  ...['engineOptions', 'overflowActions', 'radixes', 'resets', 'rollbackActions', 'startModes'],
  ...['AtMost53', 'NumbersOf', 'Sum'],
  // What is used of the clients of other packages.
  ...['Answer', 'CallbackPool', 'GlideClient', 'IoredisClient'],
  ...['NodeRedisClient', 'PgClient', 'PostgresJsClient', 'PromisePool'],
]

const app = await Application.bootstrap({
  entryPoints: [...entries.keys()],
  tsconfig: 'tsconfig.json',
  basePath: process.cwd(),
  sort: ['source-order'],
  excludeInternal: true,
  excludeExternals: true,
  // Links to sources, which the page has none of, would need a remote.
  disableGit: true,
  sourceLinkTemplate: '{path}',
  intentionallyNotExported: unnamed,
  // tsc has found what is wrong with the types.
  skipErrorChecking: true,
})
const texts = new Map<Reflection, string[]>()
app.converter.on(Converter.EVENT_CREATE_DECLARATION, (context, reflection) => {
  const symbol = context.getSymbolFromReflection(reflection)
  if (symbol !== undefined) texts.set(reflection, declarationTexts(symbol, context.checker, unnamed))
})
const project = await app.convert()
if (project === undefined) throw new Error('typedoc cannot read the sources')
app.validate(project)
const text = pageOf(project, { entries, texts, fault: (message) => app.logger.error(message) })

if (app.logger.hasErrors() || app.logger.hasWarnings()) process.exitCode = 1
else if (!process.argv.includes('--check')) writeFileSync(file, text)
else if (readFileSync(file, 'utf8') === text) console.log(`docs: ${file} is what the docstrings say`)
else {
  console.error(`docs: ${file} is not what the docstrings say; run npm run docs`)
  process.exitCode = 1
}
