import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { repository } from '../support/documents.ts'
import type { Opened } from './kinds/kind.ts'

const program = join(repository, 'test/stores/programs/increment.ts')
const count = 100

/**
 * Checks that processes, which each add 100 to the number under one key, lose no addition.
 *
 * @param at - The first argument of programs/increment.ts.
 * @param look - Opens the store in which the sum is read.
 */
export async function expectNothingLost(
  [kind, client, at]: [kind: string, client: string, at: string],
  look: () => Promise<Opened>,
  { node = process.execPath, processes = 4 } = {},
): Promise<void> {
  const key = `numbers/${client}`
  const words = ['--import', 'tsx', program, kind, client, at, key, `${count}`]
  const children = Array.from({ length: processes }, () => {
    const child = spawn(node, words, { cwd: repository, stdio: ['pipe', 'pipe', 'inherit'] })
    return { child, ready: once(child.stdout, 'readable'), said: text(child.stdout), ended: once(child, 'exit') }
  })
  await Promise.all(children.map(({ ready }) => ready))
  for (const { child } of children) child.stdin.write('go\n')
  let conflicts = 0
  for (const { ended, said } of children) {
    expect(await ended).toEqual([0, null])
    conflicts += Number(/^ready\n(\d+)\n$/.exec(await said)?.[1])
  }
  const { store, close } = await look()
  expect((await store.read(key))?.value).toMatch(new RegExp(`^${processes * count} `))
  await close()
  expect(conflicts, 'the processes have to meet').toBeGreaterThan(0)
}
