// Makes the JavaScript of `dist` from `src`, after tsc has written the declarations there: each module once
// as an ES module and once as CommonJS. The modules that `graupel` needs are in `dist/core.js`, and others
// that several entries need in `dist/shared.js`.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, posix, resolve } from 'node:path'
import { type InputOptions, type OutputOptions, type Plugin, rolldown } from 'rolldown'

const { version, exports, bin, repository } = JSON.parse(readFileSync('package.json', 'utf8'))

/** Modules that programs import, by their paths in `src` and in `dist`. */
const entries = Object.values<{ import?: { default: string } }>(exports).flatMap(({ import: esm }) => {
  return esm === undefined ? [] : [nameOf(esm.default)]
})
/** Modules that `#platform` and `#cipher` of package.json lead to. */
const platforms = ['platform/node', 'platform/browser', 'platform/noble']
const command = nameOf(bin.graupel)

/**
 * The modules that `graupel` needs on Node. `core` has no others, because code that is not used takes time to
 * load.
 */
const ofGraupel = await modulesOf(['index', 'platform/node'])

// Files of deleted sources would stay. The page in server/dist is Vite's.
mkdirSync('server/dist', { recursive: true })
for (const file of [...filesIn('dist'), ...filesIn('server/dist')]) {
  if (/\.c?js(\.map)?$/.test(file) && !file.startsWith('server/dist/page/')) rmSync(file)
}
// The command line is built with the ES modules, to share their core.
await bundle('esm', [...entries, ...platforms, command])
await bundle('cjs', [...entries, ...platforms])

// The service suggests names as the library does, and reads key files as the command does, but the library
// exports neither.
for (const [module, name] of [
  ['core/suggestion', 'suggestion'],
  ['cli/key-file', 'key-file'],
] as const) {
  await write(optionsOf([module]), { file: `server/dist/${name}.js` })
  copyFileSync(`dist/${module}.d.ts`, `server/dist/${name}.d.ts`)
}

writeDeclarations()

async function bundle(format: 'esm' | 'cjs', names: readonly string[]): Promise<void> {
  const fileNames = `[name].${format === 'cjs' ? 'cjs' : 'js'}`
  await write(
    {
      ...optionsOf(names),
      plugins: [entriesOfTheCommand()],
      // An entry with a facade is two files.
      preserveEntrySignatures: 'allow-extension',
      transform: {
        target: 'es2022',
        define: {
          packageVersion: JSON.stringify(version),
          // CommonJS has `__filename` instead, and the modules ask for either.
          ...(format === 'cjs' && { 'import.meta.url': 'undefined' }),
        },
      },
    },
    {
      dir: 'dist',
      format,
      exports: 'named',
      entryFileNames: fileNames,
      chunkFileNames: fileNames,
      codeSplitting: {
        groups: [
          { name: 'core', test: (id) => ofGraupel.has(id), priority: 1 },
          { name: 'shared', minShareCount: 2 },
        ],
      },
      sourcemap: true,
      // With the sources in them, the maps would be half of the package.
      sourcemapExcludeSources: true,
      sourcemapPathTransform: (source, map) => placeOfSource(source, map),
    },
  )
}

/** Finds the modules that entries import, without the entries themselves. */
async function modulesOf(names: readonly string[]): Promise<Set<string>> {
  const build = await rolldown(optionsOf(names))
  const { output } = await build.generate()
  await build.close()
  const all = output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []))
  return new Set(all.filter((id) => !names.some((name) => id === resolve(`src/${name}.ts`))))
}

function optionsOf(names: readonly string[]): InputOptions {
  return {
    input: Object.fromEntries(names.map((name) => [name, `src/${name}.ts`])),
    checks: { bundlerTimings: false, pluginTimings: false },
    platform: 'neutral',
    resolve: { extensionAlias: { '.js': ['.ts'] } },
    external: ['#platform', '#cipher', /^@noble\/ciphers\//, /^node:/],
  }
}

async function write(input: InputOptions, output: OutputOptions): Promise<void> {
  const build = await rolldown(input)
  await build.write({
    minifyInternalExports: false,
    // Node loads a file faster without docstrings, which the declarations have. Bundlers need the marks of
    // pure calls.
    comments: { annotation: true, jsdoc: false, legal: false },
    ...output,
  })
  await build.close()
}

/** Keeps the entries that the command line imports out of its file: it loads the files that programs load. */
function entriesOfTheCommand(): Plugin {
  const root = resolve('src')
  return {
    name: 'entries-of-the-command',
    resolveId(source, importer = '') {
      if (!source.startsWith('.') || !importer.startsWith(join(root, 'cli'))) return null
      const folder = posix.dirname(importer.slice(root.length + 1).replaceAll('\\', '/'))
      const name = nameOf(posix.join(folder, source))
      return entries.includes(name)
        ? { id: posix.relative(posix.dirname(command), `${name}.js`), external: true }
        : null
    },
  }
}

/**
 * Returns the place of a source for debuggers: at the tag of the version if package.json names the
 * repository, otherwise in the clone.
 */
function placeOfSource(source: string, map: string): string {
  if (repository === undefined) return source
  const path = posix.relative(process.cwd(), resolve(map, '..', source)).replaceAll('\\', '/')
  return `${repository.url.replace(/^git\+|\.git$/g, '')}/raw/v${version}/${path}`
}

/**
 * Makes the declarations those of CommonJS, because ES modules can take theirs from CommonJS, and not the
 * other way round. So there is one set, and a layout of one form has the type that the other form asks for.
 */
function writeDeclarations(): void {
  for (const file of filesIn('dist')) {
    if (!file.endsWith('.d.ts') || /^dist\/(cli|host|inspect|platform)\b/.test(file)) continue
    const text = readFileSync(file, 'utf8')
    writeFileSync(file.replace(/ts$/, 'cts'), text.replace(/(?<=['"]\.[^'"\n]*)\.js(?=['"])/g, '.cjs'))
    writeFileSync(file, `export * from './${basename(file, '.d.ts')}.cjs'\n`)
  }
}

/** Shortens `./dist/cli/main.js` to `cli/main`. */
function nameOf(file: string): string {
  return posix
    .normalize(file)
    .replace(/^dist\//, '')
    .replace(/\.js$/, '')
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) =>
    posix.join(folder, file.replaceAll('\\', '/')),
  )
}
