import { type ErrorCode, GraupelError } from '../core/errors.js'
import { tooEarly } from './engine.js'
import { type Identity, idsText } from './key.js'

/** Why the native engine cannot open or use a state (`native/host/fault.h`). */
export interface Fault {
  readonly kind: number
  /** The number of a system call's error, and the system's text for it. */
  readonly error: number
  readonly reason: string
  readonly call: string
  readonly path: string
  readonly detail: string
  /** What the fault is of; one of {@link subjects}. */
  readonly subject: number
}

/** The numbers are the ones of `native/host/fault.h`. */
const subjects = { file: 0, page: 1, folder: 2, bootId: 3 } as const

/** The numbers are the ones of `native/host/fault.h`. */
const kinds = {
  system: 1,
  unsafe: 2,
  corrupt: 3,
  version: 4,
  mismatch: 5,
  inUse: 6,
  busy: 7,
  lost: 8,
  claimed: 9,
  early: 10,
} as const

/** The format of pages and state files that this version of the package reads and writes. */
export const stateFormat = 1

/** The claim beside a page does not leave the node to that page. */
export class ClaimedError extends GraupelError {
  readonly path: string

  /** @param path - Of the claim. */
  constructor(path: string) {
    super(
      'ERR_STATE_UNREACHABLE',
      `processes of the js engine claim this node in ${path}; use one engine for a node, or give each process a node of its own`,
    )
    this.path = path
  }
}

/**
 * The error for a fault.
 *
 * @param opened - The state that could not be opened; undefined where an open state failed.
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
      if (isFolder) return unsafeFolder(what, detail)
      return make(
        'ERR_STATE_UNSAFE',
        `${what} is ${detail}; it has to be a plain file of this user's alone (mode 0600, no links, in a folder of this machine)${isFile ? ': choose another path' : ': remove it, or find out who put it there'}`,
      )
    case kinds.corrupt:
      return make(
        'ERR_STATE_CORRUPT',
        `${what} is damaged: ${detail}; it is not started afresh, because it is not known what was issued: restore it, or use another node, or delete it once the clock has certainly passed the last id`,
      )
    case kinds.version:
      return make(
        'ERR_STATE_MISMATCH',
        `${what} has format ${detail}, and this version of graupel reads format ${stateFormat}; use one version on all processes of a node`,
      )
    case kinds.mismatch:
      return make(
        'ERR_STATE_MISMATCH',
        `${what} is for ${idsIn(detail)}${opened === undefined ? '' : `, and this generator makes ids of ${idsText(opened.key, opened.description)}`}; ${isFile ? 'use a path for each' : 'use another namespace, or delete the page'}`,
      )
    case kinds.inUse:
      return make(
        'ERR_STATE_UNREACHABLE',
        `${what} is in use by a process that shares no memory with this one, such as one in another container, or one whose page was deleted and that has made no id since; give each a file and a node of its own, or the same /dev/shm`,
      )
    case kinds.lost:
      return make(
        'ERR_STATE_UNAVAILABLE',
        `${what} was ${detail} while it was in use; ${isFile ? 'put it back, or restart the processes that use it' : 'try again'}`,
      )
    case kinds.claimed:
      return new ClaimedError(path)
    case kinds.early:
      return tooEarly(what, Number(detail))
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
      if (fault.subject === subjects.bootId) {
        return make(
          'ERR_STATE_UNAVAILABLE',
          `${path}, which tells this start of the system from others, cannot be read: ${because}; mount /proc, or pass state: 'process' if this process is the only one that uses this node`,
          cause,
        )
      }
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

/** The error for a folder of pages, or of a claim, that other users may write. */
export function unsafeFolder(what: string, detail: string): GraupelError {
  return new GraupelError(
    'ERR_STATE_UNSAFE',
    `${what} is ${detail}; it has to be a folder of this user's alone (mode 0700, no link): remove it, or set GRAUPEL_STATE_FOLDER to another place for all processes of this user`,
  )
}

/** What to do where a system error of that name prevents a page. */
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

/** The ids of an identity as the native engine passes it: key and description, one line each. */
function idsIn(identity: string): string {
  // A namespace may have line feeds, and JSON has none.
  const at = identity.lastIndexOf('\n')
  return idsText(identity.slice(0, at), identity.slice(at + 1))
}
