// Says why a clone cannot be built if npm has left out the devDependencies (part of `prepare`). It is
// JavaScript, and imports only Node's modules, because the programs that run TypeScript are among them.
import { existsSync } from 'node:fs'

if (!existsSync(new URL('../node_modules/tsx/package.json', import.meta.url))) {
  console.error(
    'graupel: npm has left out the devDependencies, which build this clone, because of NODE_ENV=production or --omit=dev; run: npm ci --include=dev',
  )
  process.exit(1)
}
