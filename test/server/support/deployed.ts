import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { parseAllDocuments } from 'yaml'

/** The root of the repository, and the folder of what deploys the service. */
export const root = fileURLToPath(new URL('../../..', import.meta.url))
export const deploy = join(root, 'server/deploy')

/** A folder of this test file's own. */
export const folder = mkdtempSync(join(tmpdir(), 'graupel-deploy-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

export function read(path: string): string {
  return readFileSync(join(deploy, path), 'utf8')
}

/** An object of Kubernetes, and the file that has it. */
export interface Resource {
  readonly file: string
  // biome-ignore lint/suspicious/noExplicitAny: checked against the schema of Kubernetes by the tests
  readonly content: any
}

/** All objects of the folder kubernetes/. @throws where a file is no YAML, or has a key twice */
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

/** The configuration file that a pod sees by a flag, from its ConfigMap, in a file of this machine. */
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

/** The settings of a unit of systemd, by section and name; of those that come several times, the last. */
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
