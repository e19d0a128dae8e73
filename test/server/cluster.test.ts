import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Colleagues } from '../../server/src/colleagues.ts'
import { until } from '../support/until.ts'
import { endedProcess, folder, run, serve, servedBy, workersOf } from './support/process.ts'

test('a worker asks its primary once for all requests that wait', async () => {
  const { send } = process
  const asked: { readonly type: string; readonly id: number }[] = []
  process.send = (message: never) => asked.push(message) > 0
  try {
    const colleagues = new Colleagues({} as never)
    const hear = process.listeners('message').at(-1) as (message: object) => Promise<void>
    const all = [1, 2, 3].map(() => colleagues.ask('metrics' as never))
    expect(asked).toMatchObject([{ type: 'graupel:ask' }])
    await hear({ type: 'graupel:answer', id: asked[0]?.id, answer: 'all' })
    expect(await Promise.all(all)).toEqual(['all', 'all', 'all'])
    void colleagues.ask('metrics' as never).catch(() => {})
    expect(asked).toHaveLength(2)
    await hear({ type: 'graupel:answer', id: asked[1]?.id, answer: 'all' })
    colleagues.close()
  } finally {
    if (send === undefined) delete process.send
    else process.send = send
  }
})

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

/** Node throws if a process cannot be started for lack of memory: here the nth. */
const withoutMemory = (nth: number) =>
  `data:text/javascript,${encodeURIComponent(`
  import cluster from 'node:cluster'
  const { fork } = cluster
  let forks = 0
  cluster.fork = (...given) => {
    console.error('fork', ++forks)
    if (forks === ${nth}) throw new Error('spawn ENOMEM')
    return fork.apply(cluster, given)
  }
`)}`

test('a worker that cannot be started again for lack of memory is tried again, and the others go on', async () => {
  const flags = ['--data', join(folder, 'memory'), '--workers', '2']
  const { url, child, pid, ended, stdout, stderr } = await serve(flags, {
    NODE_OPTIONS: `--import ${withoutMemory(3)}`,
  })
  process.kill(workersOf(pid)[0] as number, 'SIGKILL')
  await until(() => `${stdout()}${stderr()}`.includes('spawn ENOMEM'))
  await servedBy(url)
  await until(() => workersOf(pid).length === 2)
  child.kill('SIGINT')
  expect(await ended).toBe(0)
})

test('the service ends, and starts no other worker, if a worker cannot be started at first', async () => {
  const flags = ['--port', '0', '--data', join(folder, 'first'), '--workers', '3']
  const { ended, stderr } = run(flags, { NODE_OPTIONS: `--import ${withoutMemory(2)}` })
  expect(await ended).toBe(1)
  expect(stderr()).toContain('a worker ended with spawn ENOMEM before all were ready')
  expect(stderr().match(/^fork \d$/gm)).toEqual(['fork 1', 'fork 2'])
})
