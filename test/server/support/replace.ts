import { renameSync, writeFileSync } from 'node:fs'

/** Replaces a file's content in one step, so a service that polls it never reads half of it. */
export function replace(path: string, content: string | Buffer): void {
  writeFileSync(`${path}.new`, content, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}
