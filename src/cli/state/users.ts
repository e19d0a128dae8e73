import { type BigIntStats, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { tryTo } from '../../host/system.js'

/** A process that has a page or a state file open. */
export interface User {
  readonly pid: number
  readonly command: string
}

const maxCommand = 60

/**
 * Finds the other processes that have a page mapped, or a state file open. Only processes of the same user
 * and container can be seen.
 *
 * @returns `undefined` if the system does not tell.
 */
export function findUsers(kind: 'page' | 'file', path: string, stats: BigIntStats): User[] | undefined {
  if (kind === 'page') return mappings()?.of(path, stats)
  return otherPids()
    ?.filter((pid) => tryTo(() => hasItOpen(pid, stats)))
    .map(userOf)
}

/** The files that processes have mapped. It reads every mapping of every process, so it is for many pages. */
export class Mappings {
  readonly #pids = new Map<string, Set<number>>()

  constructor(pids: readonly number[]) {
    for (const pid of pids) {
      const text = tryTo(() => readFileSync(`/proc/${pid}/maps`, 'utf8')) ?? ''
      for (const [, dev, ino, path] of text.matchAll(/^\S+ \S+ \S+ (\S+) ([1-9][0-9]*) +(.*)$/gm)) {
        for (const key of [`${dev} ${ino}`, `${ino} ${path}`])
          this.#pids.set(key, (this.#pids.get(key) ?? new Set()).add(pid))
      }
    }
  }

  /** Finds a file by its device or, because mappings have another one on btrfs, by its path. */
  of(path: string, { dev, ino }: BigIntStats): User[] {
    // The bits of a device's major and minor number are interleaved (makedev(3)).
    const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn)
    const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn)
    const hex = (part: bigint) => part.toString(16).padStart(2, '0')
    const keys = [`${hex(major)}:${hex(minor)} ${ino}`, `${ino} ${tryTo(() => realpathSync(path))}`]
    return [...new Set(keys.flatMap((key) => [...(this.#pids.get(key) ?? [])]))].map(userOf)
  }
}

/** Reads the mappings of all other processes; `undefined` if the system does not tell. */
export function mappings(): Mappings | undefined {
  const pids = otherPids()
  return pids === undefined ? undefined : new Mappings(pids)
}

export function userOf(pid: number): User {
  return { pid, command: readCommand(pid) }
}

/** Describes processes: `12 (node main.js), 13`. */
export function named(users: readonly User[]): string {
  return users.map(({ pid, command }) => (command === '' ? String(pid) : `${pid} (${command})`)).join(', ')
}

function otherPids(): number[] | undefined {
  if (process.platform !== 'linux') return undefined
  return tryTo(() => readdirSync('/proc'))
    ?.filter((name) => /^[0-9]+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .sort((a, b) => a - b)
}

function hasItOpen(pid: number, { dev, ino }: BigIntStats): boolean {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).some((name) =>
    tryTo(() => {
      const path = `${folder}/${name}`
      // Sockets and pipes have no path.
      if (!readlinkSync(path).startsWith('/')) return false
      const open = statSync(path, { bigint: true })
      return open.dev === dev && open.ino === ino
    }),
  )
}

function readCommand(pid: number): string {
  const words = tryTo(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replace(/\0+$/, '').split('\0')) ?? []
  const command = words.join(' ')
  return command.length > maxCommand ? `${command.slice(0, maxCommand)}…` : command
}
