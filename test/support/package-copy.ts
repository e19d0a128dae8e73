import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './documents.ts'

/**
 * Copies what the package has for programs: package.json and `dist`, without the folders of examples that
 * other tests make and remove there meanwhile. Entry by entry, because the place may be in such a folder, and
 * cpSync refuses to copy a folder into itself.
 */
export function copyPackage(place: string): void {
  const entries = readdirSync(join(repository, 'dist')).filter((name) => !name.startsWith('examples-'))
  for (const name of ['package.json', ...entries.map((entry) => join('dist', entry))]) {
    cpSync(join(repository, name), join(place, name), { recursive: true })
  }
}
