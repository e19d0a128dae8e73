// Makes the JavaScript of `dist` from `src`: each module once as an ES module and once as CommonJS. The
// modules that `graupel` needs are in `dist/core.js`, and others that several entries need in
// `dist/shared.js`. Also makes the JavaScript of the service, a file for each source.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, posix, resolve } from 'node:path'
import { type InputOptions, type OutputOptions, type Plugin, rolldown } from 'rolldown'

const { version, exports, bin } = JSON.parse(readFileSync('package.json', 'utf8'))

/** Modules that programs import, by their paths in `src` and in `dist`. */
export const entries = Object.values<{ import?: { default: string } }>(exports).flatMap(({ import: esm }) => {
  return esm === undefined ? [] : [nameOf(esm.default)]
})
/** Modules that `#platform` and `#cipher` of package.json lead to. */
const platforms = ['platform/node', 'platform/browser', 'platform/noble']
const command = nameOf(bin.graupel)

export async function bundleLibrary(): Promise<void> {
  // `core` has no modules that `graupel` does not need on Node, because code that is not used takes time to
  // load.
  const core = await modulesOf(['index', 'platform/node'])
  await replace('dist', /\.c?js(\.map)?$/, async (folder) => {
    // The command line is built with the ES modules, to share their core.
    await bundle('esm', [...entries, ...platforms, command], core, folder)
    await bundle('cjs', [...entries, ...platforms], core, folder)
    // Only read by other tools: its paths have to stay as they are written.
    copyFileSync('src/platform/binaries.cjs', join(folder, 'platform/binaries.cjs'))
  })
}

export async function bundleServer(): Promise<void> {
  await replace('server/dist', /^(?!page\/).*\.js$/, async (folder) => {
    const options = optionsOf(['main'], 'server/src')
    const external = [/^[^./]/]
    await write({ ...options, external }, { dir: folder, preserveModules: true, preserveModulesRoot: 'server/src' })
    // The service suggests names as the library does, reads key files as the command does, and has limits and
    // defaults of the library's options, but the library exports none of these.
    for (const [module, name] of [
      ['core/suggestion', 'suggestion'],
      ['cli/key-file', 'key-file'],
      ['lease/options', 'lease-options'],
      ['stores/options', 'store-options'],
    ] as const) {
      await write(optionsOf([module]), { file: `${folder}/${name}.js` })
    }
  })
}

/**
 * Makes files in a folder beside `folder`, and moves them into it one by one: processes of tests may load the
 * files meanwhile. Then removes the files whose source was deleted.
 *
 * @param kind - The names of the files that `make` makes, as paths in the folder.
 */
export async function replace(folder: string, kind: RegExp, make: (folder: string) => Promise<void>): Promise<void> {
  const fresh = `${folder}/.fresh-${process.pid}`
  try {
    await make(fresh)
    const files = filesIn(fresh).filter((file) => kind.test(file))
    for (const file of files) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      renameSync(join(fresh, file), join(folder, file))
    }
    const deleted = filesIn(folder).filter((file) => kind.test(file) && !files.includes(file))
    for (const file of deleted) rmSync(join(folder, file))
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

async function bundle(
  format: 'esm' | 'cjs',
  names: readonly string[],
  core: ReadonlySet<string>,
  dir: string,
): Promise<void> {
  const fileNames = `[name].${format === 'cjs' ? 'cjs' : 'js'}`
  await write(
    {
      ...optionsOf(names),
      plugins: [entriesOfTheCommand(), plainExports()],
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
      dir,
      format,
      exports: 'named',
      entryFileNames: fileNames,
      chunkFileNames: fileNames,
      codeSplitting: {
        groups: [
          { name: 'core', test: (id) => core.has(id), priority: 1 },
          { name: 'shared', minShareCount: 2 },
        ],
      },
      // Hidden: no file names its map, because the package has neither the maps nor their sources.
      sourcemap: 'hidden',
      sourcemapExcludeSources: true,
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

function optionsOf(names: readonly string[], folder = 'src'): InputOptions {
  return {
    input: Object.fromEntries(names.map((name) => [name, `${folder}/${name}.ts`])),
    checks: { bundlerTimings: false, pluginTimings: false },
    platform: 'neutral',
    resolve: { extensionAlias: { '.js': ['.ts'] } },
    external: ['#platform', '#cipher', './binaries.cjs', /^@noble\/ciphers\//, /^node:/],
    // No comments with the paths of sources.
    experimental: { attachDebugInfo: 'none' },
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
 * Replaces the getters by which a file of CommonJS exports its bindings to other files, because each takes
 * six lines. A binding that may change keeps its getter.
 */
function plainExports(): Plugin {
  const getter =
    /Object\.defineProperty\(exports, "([\w$]+)", \{\s+enumerable: true,\s+get: function \(\) \{\s+return ([\w$]+);\s+\}\s+\}\);/g
  return {
    name: 'plain-exports',
    renderChunk(code) {
      const plain = code.replace(getter, (whole, name: string, binding: string) =>
        code.includes(`\nlet ${binding}`) ? whole : `exports.${name} = ${binding};`,
      )
      // The exports are below all sources, so the map stays right.
      return { code: plain, map: null }
    },
  }
}

/** Shortens `./dist/cli/main.js` to `cli/main`. */
function nameOf(file: string): string {
  return posix
    .normalize(file)
    .replace(/^dist\//, '')
    .replace(/\.js$/, '')
}

/**
 * Returns the paths of all files in a folder, as paths in the folder. Leaves out folders with a hyphen: a
 * test puts programs into such a folder of the package, and may remove it meanwhile.
 */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isFile()) return [entry.name]
    if (!entry.isDirectory() || entry.name.includes('-')) return []
    return filesIn(join(folder, entry.name)).map((file) => `${entry.name}/${file}`)
  })
}
