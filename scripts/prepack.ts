// npm runs this before it packs the package (`prepack`), and with --undo afterwards (`postpack`). npm 11 and
// newer warn of a tarball whose manifest has a script `prepare`, Yarn warns of `workspaces`, and npm runs
// node-gyp for a binding.gyp in the root of a package. So the package has none of them. Users who compile
// have no devDependencies, so binding.gyp and the headers of node-addon-api are beside the sources. The
// headers are compressed to a tenth, because few users compile; `graupel build` unpacks them.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
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
  const names = readdirSync(from).filter((name) => name.endsWith('.h'))
  const texts = Object.fromEntries(names.map((name) => [name, readFileSync(join(from, name), 'utf8')]))
  mkdirSync(headers, { recursive: true })
  writeFileSync(join(headers, 'headers.json.br'), brotliCompressSync(JSON.stringify(texts)))
  copyFileSync(join(from, 'LICENSE.md'), join(headers, 'LICENSE.md'))
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
