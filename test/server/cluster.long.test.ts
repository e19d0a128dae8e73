import { copyFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { stopProcess } from '../support/stop-process.ts'
import { until } from '../support/until.ts'
import { endedProcess, folder, run, serve, servedBy, workersOf } from './support/process.ts'

let folders = 0
const dataFolder = () => join(folder, `cluster ${folders++}`)
const quick = ['--drain-ms', '0']

/** Waits until `count` different nodes have answered. */
async function answering(url: string, count: number): Promise<void> {
  const nodes = new Set<number>()
  await until(async () => {
    nodes.add(await servedBy(url))
    return nodes.size >= count
  })
}

/** Resolves to the status of the answer, or to another end of the request. */
function outcome(url: string): Promise<number | 'an error' | 'nothing'> {
  return fetch(`${url}/v1/ids`, { headers: { connection: 'close' }, signal: AbortSignal.timeout(20_000) }).then(
    ({ status }) => status,
    ({ name }) => (name === 'TimeoutError' ? 'nothing' : 'an error'),
  )
}

test('killed workers are started again, and every connection gets an answer or an error', async () => {
  const { url, pid, ended, stdout, stderr } = await serve(['--data', dataFolder(), '--workers', '3', ...quick])
  await answering(url, 3)
  const [first, second, other] = workersOf(pid) as [number, number, number]
  // Each is handed a connection and does not take it. The third worker gets all other connections.
  await Promise.all([first, second].map(stopProcess))
  const answered: unknown[] = []
  const all = Array.from({ length: 40 }, () => outcome(url).finally(() => answered.push(1)))
  await until(() => answered.length >= 38)
  for (const one of [first, second]) process.kill(one, 'SIGKILL')
  const outcomes = await Promise.all(all)
  expect(outcomes.filter((one) => one === 200)).toHaveLength(38)
  expect(outcomes.filter((one) => one === 'an error')).toHaveLength(2)
  await until(() => stderr().match(/a worker ended, and is started again/g)?.length === 2)
  // The nodes of the killed workers are not free yet, so other nodes answer.
  await answering(url, 3)
  expect(workersOf(pid)).toHaveLength(3)
  expect(workersOf(pid)).toContain(other)
  expect(stdout().match(/^graupel-server /gm)).toHaveLength(1)
  // A terminal signals the whole group.
  for (const one of [...workersOf(pid), pid]) process.kill(one, 'SIGINT')
  expect(await ended).toBe(0)
  expect(stderr().match(/lease: released/g)).toHaveLength(3)
})

test('workers end when their primary was killed, and release their nodes', async () => {
  const flags = ['--data', dataFolder(), '--nodes', '0-1', '--acquire-timeout-ms', '0', '--workers', '2', ...quick]
  const { pid, child, ended } = await serve(flags)
  const workers = workersOf(pid)
  expect(workers).toHaveLength(2)
  child.kill('SIGKILL')
  await ended
  for (const worker of workers) await endedProcess(worker)
  // Both nodes are free at once.
  const { stdout } = await serve(flags)
  expect(stdout()).toMatch(/, nodes (0, 1|1, 0) \(twitter\)/)
})

test('a second signal ends all of them at once', async () => {
  const { url, pid, child, ended } = await serve(['--data', dataFolder(), '--workers', '2', '--drain-ms', '3600000'])
  const workers = workersOf(pid)
  expect(workers).toHaveLength(2)
  child.kill('SIGTERM')
  await until(async () => (await fetch(`${url}/readyz`)).status === 503)
  child.kill('SIGINT')
  expect(await ended).toBe(130)
  for (const worker of workers) await endedProcess(worker)
})

test.each([
  ['the data folder cannot be made', ['--data', '/proc/graupel'], 1, /cannot be written .* \(ERR_DATA_UNAVAILABLE\)/],
  ['there is no such node', ['--nodes', '2000-3000'], 2, /nodes is \[2000, 3000\].* \(ERR_OPTION_INVALID\)/],
  ['there is one node for two', ['--nodes', '4-4', '--acquire-timeout-ms', '0'], 1, /ERR_NODES_EXHAUSTED/],
])('it ends with one line and the exit code if %s', async (_, flags, code, line) => {
  const data = flags.includes('--data') ? [] : ['--data', dataFolder()]
  const { ended, stdout, stderr } = run([...data, ...flags, '--workers', '2', '--port', '0', '--log-level', 'silent'])
  expect(await ended).toBe(code)
  expect(stdout()).toBe('')
  expect(stderr()).toMatch(/^graupel-server: [^\n]*\n$/)
  expect(stderr()).toMatch(line)
})

test('a worker that cannot start is tried again, and a worker with wrong options ends all workers', async () => {
  const config = join(folder, 'changing.json')
  writeFileSync(config, '{}')
  const node = join(folder, 'node')
  copyFileSync(process.execPath, node)
  const flags = ['--data', dataFolder(), '--config', config, '--workers', '2', ...quick]
  const { pid, url, ended, stderr } = await serve(flags, {}, { node })
  renameSync(node, `${node} away`)
  process.kill(workersOf(pid)[0] as number, 'SIGKILL')
  await until(() => stderr().includes('ENOENT'))
  expect(await outcome(url)).toBe(200)
  renameSync(`${node} away`, node)
  await answering(url, 2)
  writeFileSync(config, '{ "port": "x" }')
  process.kill(workersOf(pid)[0] as number, 'SIGKILL')
  expect(await ended).toBe(1)
  expect(stderr()).toContain('graupel-server: port in ')
})
