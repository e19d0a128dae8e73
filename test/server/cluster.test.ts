import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { endedProcess, folder, serve, servedBy, workersOf } from './support/process.ts'

test('workers share a port, and each has a node', async () => {
  const { url, child, pid, ended, stdout } = await serve(['--data', join(folder, 'two'), '--workers', '2'])
  const [, first, second] = /, nodes (\d+), (\d+) \(twitter\), /.exec(stdout()) ?? []
  expect(first).not.toBe(second)
  const nodes = new Set<number>()
  await until(async () => {
    nodes.add(await servedBy(url))
    return nodes.size === 2
  })
  expect([...nodes].sort()).toEqual([Number(first), Number(second)].sort())
  expect(stdout().match(/^graupel-server /gm)).toHaveLength(1)
  const workers = workersOf(pid)
  expect(workers).toHaveLength(2)
  child.kill('SIGINT')
  expect(await ended).toBe(0)
  for (const worker of workers) await endedProcess(worker)
})
