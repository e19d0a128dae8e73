import { GraupelError } from '../../core/errors.js'
import type { Fault } from '../../state/addon.js'
import { damagedState, ofOtherIds, otherFormat, tooEarly, unsafeFolder, unsafePage } from '../../state/errors.js'
import type { Identity } from '../../state/key.js'

/** The numbers of `native/host/fault.h`; `test/engine/numbers.test.ts` compares them. */
export const faultSubjects = { file: 0, page: 1, folder: 2, bootId: 3 } as const

/** The numbers of `native/host/fault.h`; `test/engine/numbers.test.ts` compares them. */
export const faultKinds = {
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

/** The error for a page whose node a claim keeps for the js engine. */
export class ClaimedError extends GraupelError {
  readonly path: string

  /** @param path - Path of the claim. */
  constructor(path: string) {
    super(
      'ERR_STATE_UNREACHABLE',
      `a process of the js engine keeps this node by the claim ${path}; use one engine for all processes of a node`,
    )
    this.path = path
  }
}

/**
 * Makes the error for a fault.
 *
 * @param opened - The ids of the state that could not be opened; `undefined` if an open state failed.
 * @param nameOf - The system's name for the number of an error, such as `ENOSPC`.
 */
export function faultError(
  fault: Fault,
  opened: Identity | undefined,
  nameOf: (error: number) => string | undefined,
): GraupelError {
  const { path, detail } = fault
  if (fault.kind === faultKinds.claimed) return new ClaimedError(path)
  if (fault.kind === faultKinds.system) return systemError(fault, opened !== undefined, nameOf(fault.error))
  if (fault.subject === faultSubjects.folder) return unsafeFolder(path, detail)
  return fault.subject === faultSubjects.page ? pageError(fault, opened) : fileError(fault, opened)
}

function pageError({ kind, path, detail, found, format, waitMs }: Fault, opened: Identity | undefined): GraupelError {
  switch (kind) {
    case faultKinds.unsafe:
      return unsafePage(path, detail)
    case faultKinds.corrupt:
      return damagedState('page', path, detail)
    case faultKinds.version:
      return otherFormat('page', path, format)
    case faultKinds.mismatch:
      return ofOtherIds('page', path, found, opened)
    case faultKinds.early:
      return tooEarly('page', path, waitMs)
    default: {
      const text =
        kind === faultKinds.lost
          ? `the page ${path}, in which processes share a state, was ${detail} while it was in use; try again`
          : `the page ${path}, in which processes share a state, has been locked by another process for more than a second; try again`
      return new GraupelError('ERR_STATE_UNAVAILABLE', text)
    }
  }
}

function fileError({ kind, path, detail, found, format }: Fault, opened: Identity | undefined): GraupelError {
  switch (kind) {
    case faultKinds.unsafe:
      return new GraupelError(
        'ERR_STATE_UNSAFE',
        `the state file ${path} is ${detail}, and it has to be a plain file of this user alone (mode 0600, no links) in a folder of this machine; choose another path`,
      )
    case faultKinds.corrupt:
      return damagedState('state file', path, detail)
    case faultKinds.version:
      return otherFormat('state file', path, format)
    case faultKinds.mismatch:
      return ofOtherIds('state file', path, found, opened)
    case faultKinds.inUse:
      return new GraupelError(
        'ERR_STATE_UNREACHABLE',
        `the state file ${path} is in use by a process that shares no memory with this one, such as one in another container; give each process a file and a node of its own`,
      )
    default: {
      const time = opened === undefined ? 'more than a second' : 'longer than openTimeoutMs (a second by default)'
      const text =
        kind === faultKinds.lost
          ? `the state file ${path} was ${detail} while it was in use; put it back, or restart the processes that use it`
          : `the state file ${path} has been locked by another process for ${time}; look whether that process was stopped, and try again`
      return new GraupelError('ERR_STATE_UNAVAILABLE', text)
    }
  }
}

/** The error for a system call that has failed. Its cause is an error such as Node throws. */
function systemError(fault: Fault, isOpening: boolean, name: string | undefined): GraupelError {
  const { path, call, reason, subject } = fault
  const failed = name === undefined ? `${call} failed: ${reason}` : `${call} failed with ${name}: ${reason}`
  const cause = Object.assign(new Error(`${failed}, ${call} '${path}'`), {
    errno: -fault.error,
    syscall: call,
    path,
    ...(name !== undefined && { code: name }),
  })
  const text = systemText(fault, failed, isOpening, name)
  return new GraupelError('ERR_STATE_UNAVAILABLE', text, {
    cause,
    ...(subject === faultSubjects.bootId && { option: 'state' }),
  })
}

function systemText({ path, subject }: Fault, failed: string, isOpening: boolean, name: string | undefined): string {
  switch (subject) {
    case faultSubjects.bootId:
      return `${path}, which tells this start of the system from others, cannot be read: ${failed}; mount /proc, or pass state: 'process' if no other process uses this node`
    case faultSubjects.folder:
      return `the folder ${path}, in which this user's pages are, cannot be used: ${failed}; set GRAUPEL_STATE_FOLDER to a folder that can be written, the same for all processes of this user`
    case faultSubjects.page:
      return `the page ${path}, in which processes share a state, cannot be used: ${failed}; ${pageRemedy(name)}`
    default:
      return isOpening
        ? `the state file ${path} cannot be opened: ${failed}; choose a path in a folder that exists and can be written`
        : `the state file ${path} cannot be written: ${failed}; ids are made up to its ceiling, and again as soon as the disk is repaired`
  }
}

/** The remedy for a page that a system error of that name prevents. */
function pageRemedy(name: string | undefined): string {
  switch (name) {
    case 'ENOSPC':
    case 'EDQUOT':
      return 'make room in its folder'
    case 'EMFILE':
    case 'ENFILE':
      return 'let the process open more files'
    case 'ENOMEM':
      return 'use fewer namespaces and nodes in one process, because each is a mapping, or give the process more memory'
    default:
      return 'make its folder writable'
  }
}
