import { cpSync } from 'node:fs'
import { basename, join } from 'node:path'
import { repository } from './documents.ts'

/**
 * Copies what the package has for programs: package.json and `dist`, without the folders of examples that
 * other tests make and remove there meanwhile.
 */
export function copyPackage(place: string): void {
  const filter = (source: string) => !basename(source).startsWith('examples-')
  for (const name of ['package.json', 'dist']) {
    cpSync(join(repository, name), join(place, name), { recursive: true, filter })
  }
}
