import { renameSync, writeFileSync } from 'node:fs'

/** Gives a file another content in one step, so that a service that looks at it often finds no half of it. */
export function replace(path: string, content: string | Buffer): void {
  writeFileSync(`${path}.new`, content, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}
