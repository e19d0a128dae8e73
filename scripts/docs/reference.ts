// Writes docs/api.md from the docstrings of all exports of the package (`npm run docs`). With --check it
// writes nothing, and fails if the file is not up to date (part of `npm run check`).
import { readFileSync, writeFileSync } from 'node:fs'
import { Application, Converter, type Reflection } from 'typedoc'
import { declarationTexts } from './declarations.ts'
import { pageOf } from './page.ts'

const file = 'docs/api.md'

/** The names by which entries are imported, by their sources. */
const entries = new Map<string, string>()
const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
for (const [path, { import: esm }] of Object.entries<{ import?: { default: string } }>(exports)) {
  if (esm !== undefined)
    entries.set(esm.default.replace(/^\.\/dist\/(.*)js$/, 'src/$1ts'), path.replace('.', 'graupel'))
}

/** Types that the page leaves out, because docstrings of other types describe them in words. */
const unnamed = [
  // Lists of values, and sums of widths.
  ...['engineOptions', 'overflowActions', 'radixes', 'resets', 'rollbackActions', 'startModes'],
  ...[
    'AtMost53',
    'BrandedCall',
    'BrandedView',
    'Checked',
    'ClientTagsOf',
    'FormatOf',
    'BrandedName',
    'MakingCall',
    'NumbersOf',
    'OwnId',
    'Sum',
    'TagsOf',
  ],
  // The calls that are used of clients of other packages.
  ...['Answer', 'CallbackPool', 'DynamodbDocument', 'DynamodbPlain', 'GlideClient', 'IoredisClient', 'MongodbDb'],
  ...['NodeRedisClient', 'PgClient', 'PgPool', 'PostgresJsClient', 'PromisePool'],
  ...['AzureContainer', 'GoogleBucket', 'S3Methods', 'SigningClient'],
]

const app = await Application.bootstrap({
  entryPoints: [...entries.keys()],
  tsconfig: 'tsconfig.json',
  basePath: process.cwd(),
  sort: ['source-order'],
  excludeInternal: true,
  excludeExternals: true,
  // Links to sources need a git remote, and the page has no such links.
  disableGit: true,
  sourceLinkTemplate: '{path}',
  intentionallyNotExported: unnamed,
  // tsc has checked the types.
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
