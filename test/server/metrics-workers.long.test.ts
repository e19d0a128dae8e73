import { expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { endedProcess, serve, workersOf } from './support/process.ts'

/** Scrapes a worker on a connection of its own, so the workers take turns. */
async function scrape(url: string): Promise<string> {
  const signal = AbortSignal.timeout(5000)
  const answer = await fetch(`${url}/metrics`, { headers: { connection: 'close' }, signal })
  return answer.text()
}

/** The values of a metric that has one series for each worker, by the label of the worker. */
function byWorker(text: string, name: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`))
  return new Map(
    lines.map((line) => [/worker="(\d+)"/.exec(line)?.[1] ?? 'none', Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
}

test('any worker has the metrics of all, and a restarted worker begins at 0 under the same label', async () => {
  const { url, pid } = await serve(['--workers', '2'])
  for (let request = 0; request < 10; request++) {
    await fetch(`${url}/v1/ids?count=4`, { headers: { connection: 'close' } })
  }
  const text = await scrape(url)
  const before = byWorker(text, 'graupel_ids_total')
  expect([...before.keys()].sort()).toEqual(['0', '1'])
  expect([...before.values()].reduce((sum, value) => sum + value)).toBe(40)
  expect(text.match(/^# TYPE graupel_ids_total counter$/gm)).toHaveLength(1)
  for (let times = 0; times < 4; times++) expect(byWorker(await scrape(url), 'graupel_ids_total')).toEqual(before)

  const starts = byWorker(text, 'process_start_time_seconds')
  const [killed] = workersOf(pid) as [number]
  process.kill(killed, 'SIGKILL')
  await endedProcess(killed)
  let anew: string[] = []
  let after = ''
  await until(async () => {
    // A scrape that reaches the killed worker fails.
    after = await scrape(url).catch(() => '')
    const now = byWorker(after, 'process_start_time_seconds')
    anew = [...now.keys()].filter((worker) => now.get(worker) !== starts.get(worker))
    return now.size === 2 && anew.length === 1
  })
  const [other] = ['0', '1'].filter((worker) => !anew.includes(worker))
  expect(byWorker(after, 'graupel_ids_total')).toEqual(
    new Map([
      [anew[0], 0],
      [other, before.get(other as string)],
    ]),
  )
})
