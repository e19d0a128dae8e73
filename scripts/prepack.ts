// npm runs this before it packs the package (`prepack`), and with --undo afterwards (`postpack`). npm 11 and
// newer warn of a tarball whose manifest has a script `prepare`, Yarn warns of `workspaces`, and npm runs
// node-gyp for a binding.gyp in the root of a package. So the package has none of them. Users who compile
// have no devDependencies, so the headers of node-addon-api are with the sources. All are compressed to a
// seventh, in one file, because few users compile; `graupel build` unpacks them.
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import { build } from './build.ts'
import { filesIn } from './bundle.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const manifest = join(root, 'package.json')
const ownManifest = join(root, 'build/package.json.own')
const sources = join(root, 'native/sources.json.br')
const headersLicence = join(root, 'native/LICENSE.node-addon-api.md')

if (process.argv.includes('--undo')) {
  renameSync(ownManifest, manifest)
  for (const made of [sources, headersLicence]) rmSync(made)
} else if (existsSync(ownManifest)) {
  // Packing again would keep the packed manifest as the own one.
  throw new Error('an earlier npm pack did not end; run: npm run postpack')
} else {
  await build('library', 'types')
  const headers = join(root, 'node_modules/node-addon-api')
  const own = filesIn(join(root, 'native')).filter((file) => /\.(cc|h|map)$/.test(file))
  const files = [
    ['binding.gyp', join(root, 'binding.gyp')],
    ...own.map((file) => [`native/${file}`, join(root, 'native', file)]),
    ...filesIn(headers).flatMap((file) =>
      /^[^/]*\.h$/.test(file) ? [[`native/node-addon-api/${file}`, join(headers, file)]] : [],
    ),
  ] as [string, string][]
  // Sorted, because a second packing has to make the same bytes.
  const texts = Object.fromEntries(files.sort().map(([name, file]) => [name, readFileSync(file, 'utf8')]))
  writeFileSync(sources, brotliCompressSync(JSON.stringify(texts)))
  copyFileSync(join(headers, 'LICENSE.md'), headersLicence)
  mkdirSync(join(root, 'build'), { recursive: true })
  copyFileSync(manifest, ownManifest)
  const { scripts, workspaces: _workspaces, ...rest } = JSON.parse(readFileSync(manifest, 'utf8'))
  const { prepare: _prepare, ...others } = scripts
  // Moved in one step, because a test run may read the manifest meanwhile.
  const packed = join(root, 'build/package.json.packed')
  writeFileSync(packed, `${JSON.stringify({ ...rest, scripts: others }, undefined, 2)}\n`)
  renameSync(packed, manifest)
}
