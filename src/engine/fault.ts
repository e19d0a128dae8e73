import { type ErrorCode, GraupelError, show } from '../errors.js'

/** What the native engine says of a state that cannot be had (`native/core/fault.h`). */
export interface Fault {
  readonly kind: number
  /** The number of a call's error, and the system's words for it. */
  readonly error: number
  readonly reason: string
  readonly call: string
  readonly path: string
  readonly detail: string
  /** What it is that cannot be had; one of {@link subjects}. */
  readonly subject: number
}

/** The numbers are the ones of `native/core/fault.h`. */
const subjects = { file: 0, page: 1, folder: 2 } as const

/** The numbers are the ones of `native/core/fault.h`. */
const kinds = {
  system: 1,
  unsafe: 2,
  corrupt: 3,
  version: 4,
  mismatch: 5,
  elsewhere: 6,
  busy: 7,
  lost: 8,
  claimed: 11,
  otherEngine: 12,
} as const

/** The format that this version of the package reads and writes. */
const format = 1

/** Which ids a state is for; `Identity` of `native/core/header.h`. */
export interface Identity {
  readonly key: string
  readonly description: string
}

/** The js engine's claim is in the way of a page. */
export class ClaimedError extends GraupelError {
  constructor(path: string) {
    super(
      'ERR_STATE_UNREACHABLE',
      `the js engine of another process counts this node, as ${path} says; use one engine for a node, or give each process a node of its own`,
    )
  }
}

/**
 * The error that a fault is to the user.
 *
 * @param opened - What was to be opened, where the fault is that it could not be.
 * @param nameOf - The system's name for the number of an error, such as `ENOSPC`.
 */
export function faultError(
  fault: Fault,
  opened: Identity | undefined,
  nameOf: (error: number) => string | undefined,
): GraupelError {
  const { kind, path, detail } = fault
  const isFile = fault.subject === subjects.file
  const isFolder = fault.subject === subjects.folder
  const what = isFile
    ? `the state file ${path}`
    : isFolder
      ? `the folder ${path}, in which this user's pages are,`
      : `the page ${path}, in which processes share a state,`
  const make = (code: ErrorCode, message: string, cause?: unknown) =>
    new GraupelError(code, message, cause === undefined ? {} : { cause })
  switch (kind) {
    case kinds.unsafe:
      return make(
        'ERR_STATE_UNSAFE',
        isFolder
          ? `${what} is ${detail}; it has to be a folder of this user's alone (mode 0700, no link): remove it, or set GRAUPEL_STATE_FOLDER to another place for all processes of this user`
          : `${what} is ${detail}; it has to be a plain file of this user's alone (mode 0600, no links, in a folder of this machine)${isFile ? ': choose another path' : ': remove it, or find out who put it there'}`,
      )
    case kinds.corrupt:
      return make(
        'ERR_STATE_CORRUPT',
        `${what} is damaged: ${detail}; it is not started afresh, because it is not known what was issued: restore it, or use another node, or delete it once the clock has certainly passed the last id`,
      )
    case kinds.version:
      return make(
        'ERR_STATE_MISMATCH',
        `${what} has format ${detail}, and this version of graupel reads format ${format}; use one version on all processes of a node`,
      )
    case kinds.mismatch:
      return make(
        'ERR_STATE_MISMATCH',
        `${what} is for ${idsOf(detail)}${opened === undefined ? '' : `, and this generator makes ids of ${idsOf(`${opened.key}\n${opened.description}`)}`}; use a path for each`,
      )
    case kinds.elsewhere:
      return make(
        'ERR_STATE_UNREACHABLE',
        `${what} is in use by a process that shares no memory with this one, such as one in another container, or one whose page was deleted and who has made no id since; give each a file and a node of its own, or the same /dev/shm`,
      )
    case kinds.lost:
      return make(
        'ERR_STATE_UNAVAILABLE',
        `${what} was ${detail} while it was in use; ${isFile ? 'put it back, or restart the processes that use it' : 'try again'}`,
      )
    case kinds.claimed:
      return new ClaimedError(path)
    case kinds.otherEngine:
      return make(
        'ERR_STATE_UNREACHABLE',
        'the js engine counts this node in another thread of this process, with which this thread shares no memory; use one engine for a node, or import graupel in the main thread before it starts workers',
      )
    case kinds.busy:
      return make(
        'ERR_STATE_UNAVAILABLE',
        `${what} has been locked by another process for ${opened === undefined ? 'more than a second' : 'longer than maxWaitMs (a second by default)'}; that one may have been stopped, or its disk does not answer: try again`,
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
        !isFile
          ? `${what} cannot be had: ${because}; ${adviceFor(name)}, ${isFolder ? 'set GRAUPEL_STATE_FOLDER to another place for all processes of this user, ' : ''}or pass state: 'process' if this process is the only one that uses this node`
          : opened === undefined
            ? `${what} cannot be written: ${because}; ids are made up to its ceiling, and again when the disk lets it be written`
            : `${what} cannot be had: ${because}; it has to lie in a folder that is there, with room and leave to write`,
        cause,
      )
    }
  }
}

/** What to do where a page cannot be had for a system error of that name. */
function adviceFor(name: string | undefined): string {
  switch (name) {
    case 'ENOSPC':
    case 'EDQUOT':
      return 'make room in its folder'
    case 'EMFILE':
    case 'ENFILE':
      return 'let the process open more files'
    case 'ENOMEM':
      return 'use fewer namespaces and nodes in one process, because each is a mapping, or give it more memory'
    default:
      return 'make the folder writable'
  }
}

/** Which ids an identity stands for, in words. */
function idsOf(identity: string): string {
  const at = identity.lastIndexOf('\n')
  const words = identity.slice(0, at).split(' ')
  // Pages have a word in front that state files do not have: whose clock it is.
  if (Number.isNaN(Number(words[0]))) words.shift()
  const [epochMs, tickMs, , , , , nodeBits, ...namespace] = words
  const { name, fields } = JSON.parse(identity.slice(at + 1)) as { name?: string; fields: [string, number][] }
  const bits = fields.map(([field, width]) => `${field} ${width}`).join(', ')
  const node = nodeOf(BigInt(nodeBits as string), fields)
  return `layout ${show(name)} (${bits}; epoch ${epochMs}, tick ${tickMs} ms), node ${node}, namespace ${show(namespace.join(' '))}`
}

/** The number over all node fields, from their bits in an id. */
function nodeOf(nodeBits: bigint, fields: readonly [string, number][]): bigint {
  let shift = BigInt(fields.reduce((sum, [, width]) => sum + width, 0))
  let node = 0n
  for (const [field, width] of fields) {
    shift -= BigInt(width)
    if (field === 'timestamp' || field === 'sequence') continue
    node = (node << BigInt(width)) | BigInt.asUintN(width, nodeBits >> shift)
  }
  return node
}
