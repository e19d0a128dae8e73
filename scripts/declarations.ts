// Makes the declarations of `dist` from `src`: tsc makes a file for each module, and rollup joins the
// modules, a file for each entry. `dist/core.d.cts` has what `graupel` and the other entries without types of
// a system share with any entry, and `dist/shared.d.cts` what the rest shares, such as `AbortSignal`.
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { type PluginContext, type RenderedChunk, rollup } from 'rollup'
import { dts } from 'rollup-plugin-dts'
import { entries, replace } from './bundle.ts'

/** The entries that compile without the types of Node or of browsers. */
const withoutSystem = ['index', 'kind/index', 'mask/index', 'testing/index', 'uuid/index']

export async function writeDeclarations(): Promise<void> {
  await replace('dist', /\.d\.c?ts$/, async (folder) => {
    const modules = join(folder, 'modules')
    writeModules(modules)
    await joinModules(modules, folder)
    for (const entry of entries) keepTypes(join(modules, `${entry}.d.ts`), join(folder, `${entry}.d.cts`))
    rmSync(modules, { recursive: true })
    for (const entry of entries) writeEsModule(join(folder, entry))
  })
}

function writeModules(folder: string): void {
  const project = 'scripts/tsconfig.sources.json'
  const words = ['node_modules/typescript/bin/tsc', '-p', project, '--emitDeclarationOnly', '--outDir', folder]
  const { status } = spawnSync(process.execPath, words, { stdio: 'inherit' })
  if (status !== 0) throw new Error('tsc has found errors in src')
}

/**
 * Makes the declarations those of CommonJS, because ES modules can take theirs from CommonJS, and not the
 * other way round. So there is one set, and a layout of one form has the type that the other form asks for.
 */
async function joinModules(modules: string, folder: string): Promise<void> {
  const build = await rollup({
    input: Object.fromEntries(entries.map((name) => [name, `${modules}/${name}.d.ts`])),
    plugins: [dts()],
    onLog(_level, { message }) {
      // An entry may use a type that it does not export.
      if (!message.includes('private shared type exports')) throw new Error(message)
    },
  })
  const bare = withoutSystem.map((name) => resolve(modules, `${name}.d.ts`))
  const manualChunks = (id: string, { getModuleInfo }: Pick<PluginContext, 'getModuleInfo'>) => {
    const users = new Set<string>()
    const seen = new Set([id])
    for (const module of seen) {
      const info = getModuleInfo(module)
      if (info?.isEntry) users.add(module)
      for (const importer of info?.importers ?? []) seen.add(importer)
    }
    if (users.size < 2) return undefined
    return bare.some((entry) => users.has(entry)) ? 'core' : 'shared'
  }
  // rollup leaves these lines below the imports, where they have no effect.
  const banner = ({ moduleIds }: RenderedChunk) => {
    const lines = moduleIds.flatMap((id) => readFileSync(id, 'utf8').match(/^\/\/\/ <reference .*$/gm) ?? [])
    return [...new Set(lines)].join('\n')
  }
  const [entryFileNames, chunkFileNames] = ['[name].d.cts', '[name].d.cts']
  await build.write({ dir: folder, entryFileNames, chunkFileNames, manualChunks, minifyInternalExports: false, banner })
  await build.close()
}

/**
 * Exports as types what the entry exports as types: rollup would export their classes, which are not in the
 * JavaScript.
 */
function keepTypes(entry: string, joined: string): void {
  const exported = [...readFileSync(entry, 'utf8').matchAll(/^export (type )?\{([^}]*)\}/gm)]
  const names = exported.flatMap(([, type, list = '']) =>
    list.split(',').flatMap((name) => (type !== undefined ? name : (name.match(/\btype (.*)/)?.[1] ?? []))),
  )
  const types = new Set(names.map((name) => name.trim()))
  const text = readFileSync(joined, 'utf8').replace(/^export \{([^}]*)\};?$/gm, (_, list: string) => {
    const marked = list.split(',').map((name) => name.trim())
    return `export { ${marked.map((name) => (types.has(name) ? `type ${name}` : name)).join(', ')} };`
  })
  writeFileSync(joined, text)
}

function writeEsModule(entry: string): void {
  writeFileSync(`${entry}.d.ts`, `export * from './${basename(entry)}.cjs'\n`)
}
