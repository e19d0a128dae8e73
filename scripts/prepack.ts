// npm runs this before it packs the package (`prepack`), and with --undo afterwards (`postpack`). npm 11 and
// newer warn of a tarball whose manifest has a script `prepare`, Yarn warns of `workspaces`, and npm runs
// node-gyp for a binding.gyp in the root of a package. So the package has none of them. Users who compile
// have no devDependencies, so binding.gyp and the headers of node-addon-api are beside the sources.
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from './build.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const manifest = join(root, 'package.json')
const ownManifest = join(root, 'build/package.json.own')
const headers = join(root, 'native/node-addon-api')
const recipe = join(root, 'native/binding.gyp')

if (process.argv.includes('--undo')) {
  renameSync(ownManifest, manifest)
  for (const copy of [headers, recipe]) rmSync(copy, { recursive: true })
} else {
  await build('library', 'types')
  const from = join(root, 'node_modules/node-addon-api')
  for (const name of readdirSync(from)) {
    if (/\.h$|^LICENSE/.test(name)) cpSync(join(from, name), join(headers, name))
  }
  copyFileSync(join(root, 'binding.gyp'), recipe)
  mkdirSync(join(root, 'build'), { recursive: true })
  copyFileSync(manifest, ownManifest)
  const { scripts, workspaces: _workspaces, ...rest } = JSON.parse(readFileSync(manifest, 'utf8'))
  const { prepare: _prepare, ...others } = scripts
  // Moved in one step, because a test run may read the manifest meanwhile.
  const packed = join(root, 'build/package.json.packed')
  writeFileSync(packed, `${JSON.stringify({ ...rest, scripts: others }, undefined, 2)}\n`)
  renameSync(packed, manifest)
}
