// Prints where the headers of node-addon-api are: in node_modules while this
// project is developed, beside the sources in the published package, which has
// no dependency but node-gyp-build.
import { createRequire } from 'node:module'

try {
  process.stdout.write(createRequire(import.meta.url)('node-addon-api').include_dir)
} catch {
  process.stdout.write('native/vendor')
}
