import { readdirSync } from 'node:fs'
import type { TestProject } from 'vitest/node'

const ending = '.long.test.ts'

/**
 * Global set-up of `npm test`. Lists the long tests, which `npm test` leaves out. Printed first, so that the
 * counts of the tests are the last lines.
 */
export default function setUp({ vite }: TestProject): void {
  if (vite.config.mode !== 'test') return
  const files = readdirSync(new URL('..', import.meta.url), { recursive: true, encoding: 'utf8' })
  const long = files.filter((file) => file.endsWith(ending) && !file.includes('node_modules'))
  const subjects = long.map((file) => file.slice(0, -ending.length).replaceAll('\\', '/')).sort()
  console.log(`Left to 'npm run test:all', which takes minutes: the long tests of ${subjects.join(', ')}.`)
}
