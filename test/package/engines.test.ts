import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { satisfies } from 'semver'
import { expect, it } from 'vitest'
import { repository } from '../support/documents.ts'

// `npm install --engine-strict` refuses a package if any of its dependencies does not run on the user's Node.

const json = (path: string) => JSON.parse(readFileSync(join(repository, path), 'utf8'))

/** A row of the lockfile. */
interface Locked {
  readonly version?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly engines?: Readonly<Record<string, string>>
}

/**
 * The first release of each line of Node since the first supported release, and the last release of each line
 * that has ended.
 */
const supported = ['20.19.0', '20.99.0', '21.0.0', '21.7.3', '22.0.0', '23.0.0', '24.0.0', '25.0.0', '26.0.0']

const rows = Object.entries(json('package-lock.json').packages as Record<string, Locked>)
const used = rows.filter(([path, { dev }]) => path.startsWith('node_modules/') && dev !== true)

it('every dependency of the library and the service runs on every supported Node', () => {
  for (const path of ['package.json', 'server/package.json']) expect(json(path).engines.node).toBe('>=20.19')
  expect(used.length).toBeGreaterThan(50)
  const unfit = used.flatMap(([path, { version, engines }]) =>
    supported.filter((node) => !satisfies(node, engines?.['node'] ?? '*')).map((node) => `${path}@${version}: ${node}`),
  )
  expect(unfit).toEqual([])
})

it('npm may leave out every dependency that some systems or processors do not have', () => {
  const bound = used.filter(([, { os, cpu }]) => os !== undefined || cpu !== undefined)
  expect(bound.map(([path]) => path)).toContain('node_modules/libsql')
  expect(bound.filter(([, { optional }]) => optional !== true).map(([path]) => path)).toEqual([])
})

it('the service itself chooses the version that has such dependencies, because no user gets the lockfile', () => {
  // npm puts a dependency of the service beside fastify, and fastify then uses it.
  const { dependencies } = json('server/package.json') as { dependencies: Record<string, string> }
  const locked = json('package-lock.json').packages['node_modules/light-my-request'] as Locked
  expect(dependencies['light-my-request']).toBe('~6.6.0')
  expect(satisfies(locked.version as string, '~6.6.0')).toBe(true)
})
