import { readdirSync, readFileSync } from 'node:fs'
import { until } from './until.ts'

/**
 * Stops a process by SIGSTOP, and waits until none of its threads runs. Linux signals one thread. On a busy
 * machine the other threads go on for milliseconds, until the signalled thread runs.
 */
export async function stopProcess(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  if (process.platform !== 'linux') return
  const tasks = `/proc/${pid}/task`
  // The file has `123 (its name) T 1 …`. A thread that has just ended has no file.
  const isStopped = (task: string) => /\) [TtZX] [^)]*$/.test(readFileSync(`${tasks}/${task}/stat`, 'utf8'))
  await until(() => {
    try {
      return readdirSync(tasks).every(isStopped)
    } catch {
      return false
    }
  })
}
