import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { runWorld } from './world.ts'

/** A defect that is put into the source. */
export interface Mutation {
  readonly defect: string
  /** Below `src`. */
  readonly file: string
  /** Occurs exactly once, or the mutation says nothing. */
  readonly from: string
  readonly to: string
}

/**
 * The world as one script, with the source as it is, or with a defect. A script of its own is three times as fast as modules under
 * vitest, and needs no AbortController for each call, which is the dearest thing in it: the simulated store looks at no signal.
 */
export async function loadWorld(mutation?: Mutation): Promise<typeof runWorld> {
  const mutated = mutation && fileURLToPath(new URL(`../../../src/${mutation.file}`, import.meta.url))
  let isApplied = mutation === undefined
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('world.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    banner: { js: 'class AbortController { abort() {} }' },
    plugins: [
      {
        name: 'defect',
        setup: ({ onLoad }) => {
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
  if (!isApplied) throw new Error(`${mutation?.file} is no part of the world`)
  const module: { exports: Partial<{ runWorld: typeof runWorld }> } = { exports: {} }
  new Function('module', 'exports', outputFiles[0]?.text ?? '')(module, module.exports)
  return module.exports.runWorld as typeof runWorld
}
