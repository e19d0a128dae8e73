// Copies the headers of node-addon-api into native/vendor before the package is packed: whoever installs it can then
// build it from source, although it depends on node-gyp-build alone (scripts/addon-include.js chooses between the two).
import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const from = dirname(createRequire(import.meta.url).resolve('node-addon-api/package.json'))
const to = join(dirname(fileURLToPath(import.meta.url)), '..', 'native/vendor')

rmSync(to, { recursive: true, force: true })
mkdirSync(to, { recursive: true })
for (const name of ['napi.h', 'napi-inl.h', 'napi-inl.deprecated.h', 'LICENSE.md']) {
  copyFileSync(join(from, name), join(to, name))
}
