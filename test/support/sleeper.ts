import { type ChildProcess, spawn } from 'node:child_process'
import { afterAll, beforeAll } from 'vitest'

/** A process that runs for as long as the tests of a file do, and does nothing. It has its pid when the tests run. */
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
