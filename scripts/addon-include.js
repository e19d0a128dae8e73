// Prints where the headers of node-addon-api are, for binding.gyp: in node_modules while this project is developed,
// beside the sources in the published package, which has no dependency but node-gyp-build. Looked for in this package's
// own folder only: another package's node-addon-api, of any age, may lie where Node would look next.
import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

// Not simply one up: scripts/install.js builds in a copy further down.
let root = dirname(fileURLToPath(import.meta.url))
while (!existsSync(join(root, 'package.json'))) root = dirname(root)

const installed = join(root, 'node_modules/node-addon-api')
const folder = existsSync(join(installed, 'napi.h')) ? installed : join(root, 'native/vendor')

// Relative, because gyp takes spaces and backslashes for something else.
process.stdout.write(relative('.', folder).replaceAll('\\', '/'))
