import { type ChildProcess, spawn } from 'node:child_process'
import { afterAll, beforeAll } from 'vitest'

/**
 * Starts a process that does nothing, and ends it after the tests of the file. Its pid is known when the
 * tests run.
 */
export function sleeper(): { readonly pid: number } {
  let child: ChildProcess
  beforeAll(() => {
    child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  })
  afterAll(() => {
    child.kill()
  })
  return {
    get pid() {
      return child.pid as number
    },
  }
}
