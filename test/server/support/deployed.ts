import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { parseAllDocuments } from 'yaml'

/** The root of the repository. */
export const root = fileURLToPath(new URL('../../..', import.meta.url))
export const deploy = join(root, 'server/deploy')

/** The folder of this test file. */
export const folder = mkdtempSync(join(tmpdir(), 'graupel-deploy-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

export function read(path: string): string {
  return readFileSync(join(deploy, path), 'utf8')
}

/** An object of Kubernetes and its file. */
export interface Resource {
  readonly file: string
  // biome-ignore lint/suspicious/noExplicitAny: checked against the schema of Kubernetes by the tests
  readonly content: any
}

/** Returns all objects of the folder kubernetes/. @throws if a file is no YAML, or has a key twice */
export function resources(): Resource[] {
  return readdirSync(join(deploy, 'kubernetes'))
    .sort()
    .flatMap((file) =>
      parseAllDocuments(read(`kubernetes/${file}`)).map((document) => {
        const [error] = [...document.errors, ...document.warnings]
        if (error !== undefined) throw new Error(`${file}: ${error.message}`)
        return { file, content: document.toJS() }
      }),
    )
}

export function isWorkload({ content }: Resource): boolean {
  return content.kind === 'Deployment' || content.kind === 'StatefulSet'
}

/**
 * Writes the configuration file of a pod's ConfigMap to this machine, and returns the flags with its path.
 */
export function configured(args: readonly string[], all: readonly Resource[]): string[] {
  return args.map((arg) => {
    const [, path] = /^--config=(.+)$/.exec(arg) ?? []
    if (path === undefined) return arg
    const { content } = all.find(({ content }) => content.kind === 'ConfigMap') as Resource
    const file = join(folder, basename(path))
    writeFileSync(file, content.data[basename(path)])
    return `--config=${file}`
  })
}

/** Returns the settings of a systemd unit by section and name. The last setting of a name counts. */
export function unit(text: string): Record<string, Record<string, string>> {
  const sections: Record<string, Record<string, string>> = {}
  let section: Record<string, string> = {}
  for (const line of text.split('\n')) {
    const [, name] = /^\[(\w+)\]$/.exec(line) ?? []
    if (name !== undefined) {
      section = {}
      sections[name] = section
    }
    const [, key, value] = /^(\w+)=(.*)$/.exec(line) ?? []
    if (key !== undefined) section[key] = value ?? ''
  }
  return sections
}
