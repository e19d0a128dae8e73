import { type ErrorCode, GraupelError } from '../errors.js'

/** What the native engine says of a state that cannot be had (`native/core/fault.h`). */
export interface Fault {
  readonly kind: number
  /** The number of a call's error, and the system's words for it. */
  readonly error: number
  readonly reason: string
  readonly call: string
  readonly path: string
  readonly detail: string
  /** Of the memory, and not of a state file. */
  readonly isPage: boolean
  /** Of the generator that met it; not where it could not be opened. */
  readonly key?: string
}

/** The numbers are the ones of `native/core/fault.h`. */
const kinds = { system: 1, unsafe: 2, corrupt: 3, version: 4, mismatch: 5, elsewhere: 6, busy: 7, lost: 8 } as const

/** The format that this version of the package reads and writes. */
const format = 1

/** The words of a key (`src/options.ts`), but for the first, which says whose clock it is. */
const partNames = [
  'epoch',
  'tickMs',
  'timestamp bits',
  'timestamp shift',
  'sequence bits',
  'sequence shift',
  'bits of the node',
]

/**
 * The error that a fault is to the user.
 *
 * @param key - Of the generator that could not be opened.
 * @param nameOf - The system's name for the number of an error, such as `ENOSPC`.
 */
export function faultError(
  fault: Fault,
  key: string | undefined,
  nameOf: (error: number) => string | undefined,
): GraupelError {
  const { kind, path, detail } = fault
  const what = fault.isPage ? `the page ${path}, in which processes share a state,` : `the state file ${path}`
  const make = (code: ErrorCode, message: string, cause?: unknown) =>
    new GraupelError(code, message, cause === undefined ? {} : { cause })
  switch (kind) {
    case kinds.unsafe:
      return make(
        'ERR_STATE_UNSAFE',
        `${what} is ${detail}; it has to be a plain file of this user's alone (mode 0600, no links, in a folder of this machine)${fault.isPage ? ': remove it, or find out who put it there' : ': choose another path'}`,
      )
    case kinds.corrupt:
      return make(
        'ERR_STATE_CORRUPT',
        `${what} is damaged: ${detail}; it is not started afresh, because nobody would know what was issued: restore it, or use another node, or delete it once the clock has certainly passed the last id`,
      )
    case kinds.version:
      return make(
        'ERR_STATE_MISMATCH',
        `${what} has format ${detail}, and this version of graupel reads format ${format}; use one version on all processes of a node`,
      )
    case kinds.mismatch:
      return make(
        'ERR_STATE_MISMATCH',
        `${what} is for other ids: ${differences(detail, key ?? fault.key ?? detail)}; use a path for each`,
      )
    case kinds.elsewhere:
      return make(
        'ERR_STATE_UNREACHABLE',
        `${what} is in use by a process that shares no memory with this one, such as one in another container; give it a file and a node of its own, or the same /dev/shm`,
      )
    case kinds.lost:
      return make(
        'ERR_STATE_UNAVAILABLE',
        `${what} was ${detail} while it was in use; ${fault.isPage ? 'try again' : 'put it back, or restart the processes that use it'}`,
      )
    case kinds.busy:
      return make(
        'ERR_STATE_UNAVAILABLE',
        `${what} has been locked by another process for more than a second; that one may have been stopped, or its disk does not answer: try again`,
      )
    default: {
      const name = nameOf(fault.error)
      const because = `${fault.call} failed${name === undefined ? '' : ` with ${name}`}: ${fault.reason}`
      const cause = Object.assign(new Error(`${because}, ${fault.call} '${path}'`), {
        errno: -fault.error,
        syscall: fault.call,
        path,
        ...(name !== undefined && { code: name }),
      })
      return make(
        'ERR_STATE_UNAVAILABLE',
        fault.isPage
          ? `${what} cannot be had: ${because}; make the folder writable, or pass state: 'process' if this process is the only one that uses this node`
          : `${what} cannot be written: ${because}; ids are made up to its ceiling, and again when the disk lets it be written`,
        cause,
      )
    }
  }
}

/** What two keys differ in, in words. */
function differences(found: string, own: string): string {
  const foundParts = partsOf(found)
  const parts = partsOf(own).map(([name, value], i) => {
    const other = foundParts[i]?.[1]
    return other === value ? undefined : `its ${name} is ${other}, and this generator's is ${value}`
  })
  return parts.filter((part) => part !== undefined).join('; ')
}

function partsOf(key: string): [string, string | undefined][] {
  const words = key.split(' ')
  // Pages have a word in front that state files do not have.
  if (Number.isNaN(Number(words[0]))) words.shift()
  const namespace = words.splice(partNames.length).join(' ')
  return [...partNames.map((name, i): [string, string | undefined] => [name, words[i]]), ['namespace', namespace]]
}
