import { readdirSync, readFileSync } from 'node:fs'
import { until } from './until.ts'

/**
 * Stops a process by SIGSTOP, and waits until none of its threads runs: Linux tells one thread, and the others go on, for
 * milliseconds on a busy machine, until that one has its turn.
 */
export async function stopProcess(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  if (process.platform !== 'linux') return
  const tasks = `/proc/${pid}/task`
  // Of `123 (its name) T 1 …`; a thread that ends meanwhile has no file.
  const isStopped = (task: string) => /\) [TtZX] [^)]*$/.test(readFileSync(`${tasks}/${task}/stat`, 'utf8'))
  await until(() => {
    try {
      return readdirSync(tasks).every(isStopped)
    } catch {
      return false
    }
  })
}
