import { type BigIntStats, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'

/** A process that has a page or a state file open. */
export interface User {
  readonly pid: number
  readonly command: string
}

const mostCommand = 60

/**
 * Who has it open: a page is mapped, and a state file is an open file. Only of processes that this one may look into,
 * which are those of the same user and container. `undefined` where the system does not tell.
 */
export function usersOf(kind: 'page' | 'file', stats: BigIntStats): User[] | undefined {
  if (kind === 'page') return mappings()?.of(stats)
  return otherPids()
    ?.filter((pid) => attempt(() => hasItOpen(pid, stats)))
    .map(userOf)
}

/** All that processes have mapped; for many pages, as it takes a look at each of their mappings. */
export class Mappings {
  readonly #pids = new Map<string, Set<number>>()

  constructor(pids: readonly number[]) {
    for (const pid of pids) {
      const text = attempt(() => readFileSync(`/proc/${pid}/maps`, 'utf8')) ?? ''
      for (const [, key] of text.matchAll(/^\S+ \S+ \S+ (\S+ [1-9][0-9]*) /gm)) {
        this.#pids.set(key as string, (this.#pids.get(key as string) ?? new Set()).add(pid))
      }
    }
  }

  of({ dev, ino }: BigIntStats): User[] {
    // The two parts of a device's number are not in one piece (makedev(3)).
    const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn)
    const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn)
    const hex = (part: bigint) => part.toString(16).padStart(2, '0')
    return [...(this.#pids.get(`${hex(major)}:${hex(minor)} ${ino}`) ?? [])].map(userOf)
  }
}

/** `undefined` where the system does not tell. */
export function mappings(): Mappings | undefined {
  const pids = otherPids()
  return pids === undefined ? undefined : new Mappings(pids)
}

function otherPids(): number[] | undefined {
  if (process.platform !== 'linux') return undefined
  return attempt(() => readdirSync('/proc'))
    ?.filter((name) => /^[0-9]+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .sort((a, b) => a - b)
}

export function userOf(pid: number): User {
  return { pid, command: commandOf(pid) }
}

/** Processes in words: `12 (node main.js), 13`. */
export function named(users: readonly User[]): string {
  return users.map(({ pid, command }) => (command === '' ? String(pid) : `${pid} (${command})`)).join(', ')
}

function hasItOpen(pid: number, { dev, ino }: BigIntStats): boolean {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).some((name) =>
    attempt(() => {
      const path = `${folder}/${name}`
      // Sockets and pipes are no files.
      if (!readlinkSync(path).startsWith('/')) return false
      const open = statSync(path, { bigint: true })
      return open.dev === dev && open.ino === ino
    }),
  )
}

function commandOf(pid: number): string {
  const words = attempt(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replace(/\0+$/, '').split('\0')) ?? []
  const command = words.join(' ')
  return command.length > mostCommand ? `${command.slice(0, mostCommand)}…` : command
}

/** Processes end, and close files, while one looks at them; others may not be looked into. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
