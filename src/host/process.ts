import { hasCode, tryTo } from './system.js'

// Node's own modules are taken from the process: platform/node.ts says why.

/** Identifies a process of this host, so that another process can tell whether it still runs. */
export interface ProcessIdentity {
  readonly pid: number
  /** Inode number of the pid's namespace; 0 if the system has no namespaces. */
  readonly pidNamespace: number
  /**
   * Time of the start in a unit of the system, because pids are used again; 0 if the system does not tell.
   */
  readonly startTime: number
  /** Differs after each start of the system; empty if the system does not tell. */
  readonly bootId: string
}

/** Whether a process still runs; `unknown` for a process in another container. */
export type Fate = 'running' | 'gone' | 'unknown'

let own: ProcessIdentity | undefined

/** The identity of this process. */
export function thisProcess(): ProcessIdentity {
  own ??= { pid: process.pid, pidNamespace: pidNamespace(), startTime: startTimeOf(process.pid) ?? 0, bootId: bootId() }
  return own
}

export function isThisProcess({ pid, pidNamespace }: Pick<ProcessIdentity, 'pid' | 'pidNamespace'>): boolean {
  return pid === process.pid && pidNamespace === thisProcess().pidNamespace
}

export function fateOf({ pid, pidNamespace, startTime, bootId }: ProcessIdentity): Fate {
  const here = thisProcess()
  if (bootId !== here.bootId && bootId !== '' && here.bootId !== '') return 'gone'
  if (pidNamespace !== here.pidNamespace) return 'unknown'
  try {
    // Signal 0 is not sent; the call only checks whether it could be.
    process.kill(pid, 0)
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return 'gone'
  }
  const startedAt = startTimeOf(pid)
  return startTime !== 0 && startedAt !== undefined && startedAt !== startTime ? 'gone' : 'running'
}

/**
 * Identifies this start of the system, as `native/platform/posix/system_posix.cc` does; empty if only the
 * native engine can tell.
 */
export function bootId(): string {
  if (process.platform === 'darwin') return tryTo(() => textOf('/usr/sbin/sysctl', '-n', 'kern.bootsessionuuid')) ?? ''
  if (process.platform !== 'linux') return ''
  return tryTo(() => readText('/proc/sys/kernel/random/boot_id').trim()) ?? ''
}

function pidNamespace(): number {
  return Number(namespaceOf('self', 'pid')?.match(/\d+/)?.[0] ?? 0)
}

function namespaceOf(pid: number | 'self', kind: 'pid' | 'time'): string | undefined {
  return tryTo(() => process.getBuiltinModule('node:fs').readlinkSync(`/proc/${pid}/ns/${kind}`))
}

/**
 * Field 22 of `/proc/PID/stat` (proc(5)): clock ticks since the system started. A process in another time
 * namespace has noted another number, so the field is not read then.
 */
function startTimeOf(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  if (pid !== process.pid && namespaceOf(pid, 'time') !== namespaceOf('self', 'time')) return undefined
  return tryTo(() => {
    const stat = readText(`/proc/${pid}/stat`)
    // The second field is the program's name in brackets, which may hold spaces and brackets.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
  })
}

function readText(path: string): string {
  // Node reads this encoding by one call, and other encodings by a Buffer.
  return process.getBuiltinModule('node:fs').readFileSync(path, 'utf8')
}

function textOf(program: string, ...words: string[]): string {
  const { execFileSync } = process.getBuiltinModule('node:child_process')
  return execFileSync(program, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
}
