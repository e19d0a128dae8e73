// npm runs this before it packs the package. Removes `dist`, which `prepare` then makes anew, and copies the headers of
// node-addon-api beside the sources: users who compile them have no devDependencies. `postpack` removes the copies, so that
// a clone has the headers of node_modules alone.
import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const from = join(root, 'node_modules/node-addon-api')

rmSync(join(root, 'dist'), { recursive: true, force: true })
for (const name of readdirSync(from)) {
  if (/\.h$|^LICENSE/.test(name)) cpSync(join(from, name), join(root, 'native/node-addon-api', name))
}
