// Makes the declarations of `dist` from `src`, by tsc.
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { filesIn, replace } from './bundle.ts'

export async function writeDeclarations(): Promise<void> {
  await replace('dist', /\.d\.c?ts$/, async (folder) => {
    const project = 'scripts/tsconfig.sources.json'
    const words = ['node_modules/typescript/bin/tsc', '-p', project, '--emitDeclarationOnly', '--outDir', folder]
    const { status } = spawnSync(process.execPath, words, { stdio: 'inherit' })
    if (status !== 0) throw new Error('tsc has found errors in src')
    for (const file of filesIn(folder)) {
      // No entry has a type of these folders, but for the events.
      if (/^(cli|host|inspect)\/|^platform\/(?!events\.)/.test(file)) rmSync(join(folder, file))
      else makeCommon(join(folder, file))
    }
  })
}

/**
 * Makes the declarations those of CommonJS, because ES modules can take theirs from CommonJS, and not the
 * other way round. So there is one set, and a layout of one form has the type that the other form asks for.
 */
function makeCommon(file: string): void {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file.replace(/ts$/, 'cts'), text.replace(/(?<=['"]\.[^'"\n]*)\.js(?=['"])/g, '.cjs'))
  writeFileSync(file, `export * from './${basename(file, '.d.ts')}.cjs'\n`)
}
