import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { temporaryFolder } from './consumer.ts'
import { pack } from './tarball.ts'

const folder = temporaryFolder()
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a second packing makes the same tarball, byte by byte', () => {
  const [one, two] = ['once', 'twice'].map((name) => {
    mkdirSync(join(folder, name))
    return readFileSync(pack(join(folder, name)))
  })
  expect(one?.equals(two as Buffer)).toBe(true)
})
