import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { folder, run, serve } from './support/process.ts'
import { endedProcess, servedBy, workersOf } from './support/workers.ts'

let folders = 0
const dataFolder = () => join(folder, `cluster ${folders++}`)
const quick = ['--drain-ms', '0']

/** As many different nodes answer, sooner or later. */
async function answering(url: string, count: number): Promise<void> {
  const nodes = new Set<number>()
  await until(async () => {
    nodes.add(await servedBy(url))
    return nodes.size >= count
  })
}

test('a worker that dies is started again, and the others go on meanwhile', async () => {
  const { url, pid, child, ended, stdout, stderr } = await serve(['--data', dataFolder(), '--workers', '2', ...quick])
  await answering(url, 2)
  const [first, other] = workersOf(pid) as [number, number]
  process.kill(first, 'SIGKILL')
  await until(() => stderr().includes('a worker ended, and is started again'))
  expect((await fetch(`${url}/v1/ids`)).status).toBe(200)
  // The node of the one that was killed is not free yet, so a third one comes.
  await answering(url, 2)
  await until(() => workersOf(pid).length === 2)
  expect(workersOf(pid)).toContain(other)
  expect(stdout().match(/^graupel-server /gm)).toHaveLength(1)
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
})

test('workers end when their primary was killed, and give their nodes back', async () => {
  const flags = ['--data', dataFolder(), '--nodes', '0-1', '--acquire-timeout-ms', '0', '--workers', '2', ...quick]
  const { pid, child, ended } = await serve(flags)
  const workers = workersOf(pid)
  expect(workers).toHaveLength(2)
  child.kill('SIGKILL')
  await ended
  for (const worker of workers) await endedProcess(worker)
  // Both nodes, at once.
  const { stdout } = await serve(flags)
  expect(stdout()).toMatch(/, nodes (0, 1|1, 0) \(twitter\)/)
})

test('a second signal ends all of them at once', async () => {
  const { url, pid, child, ended } = await serve(['--data', dataFolder(), '--workers', '2', '--drain-ms', '3600000'])
  const workers = workersOf(pid)
  child.kill('SIGTERM')
  await until(async () => (await fetch(`${url}/readyz`)).status === 503)
  child.kill('SIGINT')
  expect(await ended).toBe(130)
  for (const worker of workers) await endedProcess(worker)
})

test('signals to the whole group, as a terminal sends them, end it in order', async () => {
  const { pid, child, ended, stderr } = await serve(['--data', dataFolder(), '--workers', '2', ...quick])
  for (const one of [...workersOf(pid), pid]) process.kill(one, 'SIGINT')
  expect(await ended).toBe(0)
  expect(stderr().match(/lease: released/g)).toHaveLength(2)
  expect(child.exitCode).toBe(0)
})

test.each([
  ['the data folder cannot be made', ['--data', '/proc/graupel'], 1, /cannot be written .* \(ERR_DATA_UNAVAILABLE\)/],
  ['there is no such node', ['--nodes', '2000-3000'], 2, /nodes is \[2000, 3000\].* \(ERR_OPTION_INVALID\)/],
  ['there is one node for two', ['--nodes', '4-4', '--acquire-timeout-ms', '0'], 1, /ERR_NODES_EXHAUSTED/],
])('it ends with one line and the exit code where %s', async (_, flags, code, line) => {
  const data = flags.includes('--data') ? [] : ['--data', dataFolder()]
  const { ended, stdout, stderr } = run([...data, ...flags, '--workers', '2', '--port', '0', '--log-level', 'silent'])
  expect(await ended).toBe(code)
  expect(stdout()).toBe('')
  expect(stderr()).toMatch(/^graupel-server: [^\n]*\n$/)
  expect(stderr()).toMatch(line)
})

test('it gives up where a worker that is started again finds options that are wrong', async () => {
  const config = join(folder, 'changing.json')
  writeFileSync(config, '{}')
  const { pid, ended, stderr } = await serve(['--data', dataFolder(), '--config', config, '--workers', '2', ...quick])
  writeFileSync(config, '{ "port": "x" }')
  process.kill(workersOf(pid)[0] as number, 'SIGKILL')
  expect(await ended).toBe(1)
  expect(stderr()).toContain('graupel-server: port in ')
})

test('metrics of all workers are told by each of them', async () => {
  const { url } = await serve(['--data', dataFolder(), '--workers', '2'])
  const text = await (await fetch(`${url}/metrics`)).text()
  expect([...new Set([...text.matchAll(/worker="(\d+)"/g)].map(([, worker]) => worker))].sort()).toEqual(['0', '1'])
})
