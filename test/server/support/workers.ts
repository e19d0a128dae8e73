import { execFileSync } from 'node:child_process'
import { decode, layouts } from 'graupel'
import { until } from '../../support/until.ts'

/** The node of the worker that answers. */
export async function servedBy(url: string): Promise<number> {
  // Not by a connection that is kept, which is one worker's.
  const answer = await fetch(`${url}/v1/ids`, { headers: { connection: 'close' } })
  const { ids } = (await answer.json()) as { ids: string[] }
  return decode(ids[0] as string, layouts.twitter).node
}

/** The process ids of the children of a process. */
export function workersOf(pid: number): number[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  const rows = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
  return rows
    .filter(([, parent]) => parent === pid)
    .map(([child]) => child as number)
    .filter((child) => isAlive(child))
}

/** Waits until a process that is not this one's child has ended. */
export function endedProcess(pid: number): Promise<void> {
  return until(() => !isAlive(pid))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
