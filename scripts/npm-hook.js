import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * Whether npm runs this as a hook: it takes a script `prebuild` for what comes before `build`, and tells neither from the
 * other. Only the command line of npm does. Where that cannot be read, as on Windows, the answer is no.
 *
 * @param {string} script - The one that was asked for, such as `build`.
 */
export function isHookOf(script) {
  let pid = process.ppid
  // npm, perhaps a shell, this.
  for (let generation = 0; generation < 3 && pid > 1; generation++) {
    const parent = look(pid)
    if (parent === undefined) return false
    if (/^npm\b/.test(parent.command))
      return new RegExp(`^npm (run|run-script|rum|urn) ${script}\\b`).test(parent.command)
    pid = parent.ppid
  }
  return false
}

/** @param {number} pid @returns {{ ppid: number, command: string } | undefined} */
function look(pid) {
  try {
    if (process.platform === 'linux') {
      // The name of the program, in brackets, may hold anything; the state and the parent come after it.
      const ppid = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) \S /s, '')
      return {
        ppid: Number.parseInt(ppid, 10),
        command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '),
      }
    }
    const [, ppid, command = ''] =
      execFileSync('ps', ['-o', 'ppid=,args=', '-p', `${pid}`], { encoding: 'utf8' }).match(/(\d+) (.*)/) ?? []
    return { ppid: Number(ppid), command }
  } catch {
    return undefined
  }
}
