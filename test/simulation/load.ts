import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** A defect that is put into the source. */
export interface Mutation {
  readonly defect: string
  /** The path below `src`. */
  readonly file: string
  /** The text that is replaced. It has to occur exactly once. */
  readonly from: string
  readonly to: string
}

/** The replacements for the parts of a platform that the source uses. */
interface Parts {
  readonly mutation?: Mutation | undefined
  /** Globals of the script, by their names. */
  readonly globals?: Readonly<Record<string, unknown>>
  /** A module whose exports replace globals. */
  readonly inject?: URL
  /** Expressions, and the names that replace them. */
  readonly define?: Record<string, string>
  /** The module that `#platform` is. */
  readonly platform?: URL
}

/** Runs a module and all its imports as one script, with or without a defect. */
export async function loadModule<T>(entry: URL, parts: Parts = {}): Promise<T> {
  const { globals = {} } = parts
  const module: { exports: Partial<T> } = { exports: {} }
  const script = await bundle(entry, parts)
  new Function('module', 'exports', ...Object.keys(globals), script)(module, module.exports, ...Object.values(globals))
  return module.exports as T
}

/** Bundles the text of the script. */
export async function bundle(entry: URL, { mutation, inject, define, platform }: Parts): Promise<string> {
  const mutated = mutation && fileURLToPath(new URL(`../../src/${mutation.file}`, import.meta.url))
  let isApplied = mutation === undefined
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    // src/platform/binary.ts reads `import.meta`, and has another way where that is empty.
    logOverride: { 'empty-import-meta': 'silent' },
    // Leads `#platform` to its source.
    tsconfig: fileURLToPath(new URL('../../scripts/tsconfig.sources.json', import.meta.url)),
    inject: inject === undefined ? [] : [fileURLToPath(inject)],
    define: define ?? {},
    plugins: [
      {
        name: 'defect',
        setup: ({ onLoad, onResolve }) => {
          if (platform !== undefined) onResolve({ filter: /^#platform$/ }, () => ({ path: fileURLToPath(platform) }))
          onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
            if (mutation === undefined || path !== mutated) return undefined
            const parts = (await readFile(path, 'utf8')).split(mutation.from)
            if (parts.length !== 2) {
              throw new Error(`${mutation.file} has ${parts.length - 1} times what is mutated:\n${mutation.from}`)
            }
            isApplied = true
            return { contents: parts.join(mutation.to), loader: 'ts' }
          })
        },
      },
    ],
  })
  if (!isApplied) throw new Error(`${mutation?.file} is no part of the script`)
  return outputFiles[0]?.text ?? ''
}
