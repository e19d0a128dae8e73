import { platform } from '#platform'
import { GraupelError } from '../errors.js'
import { type EngineKind, engineVariable, isJsForced, requireNative } from './choose.js'
import type { Claims } from './claims.js'
import type { Core, CoreSpec } from './engine.js'
import { ClaimedError } from './fault.js'
import { JsCore } from './js/core.js'
import { FollowingCore } from './js/following-core.js'
import type { JsSurroundings } from './js/reserver.js'
import { SlotClock } from './js/slot-clock.js'
import { Slots } from './js/slots.js'
import { State } from './js/state.js'
import { endRuns, releaseClaims } from './js/thread-states.js'
import { sharedTable, tableFor, tableOfThread } from './tables.js'

/** Attempts to open a page of a claimed key. One fails where another process has made a step of the claim meanwhile. */
const maxAttempts = 100

const surroundings: JsSurroundings = platform
let closesFilesAtExit = false
let releasesAtExit = false

/** Opens a generator's access to an engine that `chooseEngine` gave. @internal */
export function openCore(kind: EngineKind, spec: CoreSpec): Core {
  return kind === 'native' ? openNative(spec) : openJs(spec)
}

/** What the clock of generators without a `clock` function shows; milliseconds since 1970. @internal */
export function clockMs(kind: EngineKind): number {
  return kind === 'native' ? requireNative().binding.wallMs() : platform.wallMs()
}

function openNative(spec: CoreSpec): Core {
  const unreachable = isJsForced() ? sharedTable() : undefined
  if (typeof unreachable === 'string') {
    throw new GraupelError(
      'ERR_STATE_UNREACHABLE',
      `${engineVariable} is 'js', and this thread cannot see what the js engine counts in the others: ${unreachable}; leave the engine to the environment, or import 'graupel' in the main thread before it starts workers`,
    )
  }
  const { binding } = requireNative()
  const core = spec.place === 'process' ? openTaking(spec) : openPage(spec)
  // process.exit() and uncaught errors do not take the environment down, and the files would not get their exact words.
  if (spec.bound === 'file' && !closesFilesAtExit) {
    closesFilesAtExit = true
    platform.atExit(() => binding.closeFiles())
  }
  return core
}

/** Opens a key natively in a page. */
function openPage(spec: CoreSpec): Core {
  for (let attempts = 1; ; attempts++) {
    try {
      return platform.claims?.exists(spec.key) ? openClaimed(spec, platform.claims) : openTaking(spec)
    } catch (error) {
      // The claim was made after it was looked for, perhaps by a process that is handing it over at this moment.
      if (!(error instanceof ClaimedError) || attempts === maxAttempts) throw error
    }
  }
}

/** Opens a key natively that the js engine has claimed, of this process or of one that has ended. */
function openClaimed(spec: CoreSpec, claims: Claims): Core {
  const { key, description } = spec
  const claimant = { key, description, token: tableOfThread().token(claims.randomBits) }
  const nowMs = typeof spec.clock === 'function' ? spec.clock : platform.wallMs
  return claims.handOver(claimant, new SlotClock(spec, nowMs), (floor) => openTaking(spec, floor))
}

/**
 * Opens a key natively, and carries the js engine's word over, if it has one.
 *
 * @param floor - Nothing below it may be issued; given where a claim is handed over.
 */
function openTaking(spec: CoreSpec, floor?: bigint): Core {
  const hasInjectedClock = typeof spec.clock === 'function'
  const takesOver = hasInjectedClock || typeof sharedTable() !== 'string'
  const core = requireNative().open(spec, { ignoresClaim: floor !== undefined, takesOver }, openNative)
  if (floor !== undefined && floor > 0n) core.raiseFloor(floor, new Slots(spec.sequenceBits).tickOf(floor - 1n))
  // Each engine counts an injected clock by itself. On the real clock, both engines must not count one key.
  if (hasInjectedClock) return core
  const table = tableOfThread()
  const state = new State(table, table.find(spec.key), spec.sequenceBits, spec.maxTick)
  state.moveTo((slot) => core.raiseFloor(slot, state.highTick()))
  core.raiseCeiling(state.externalCeiling())
  endRuns(spec.key)
  return core
}

function openJs(spec: CoreSpec): Core {
  if (platform.claims !== undefined && !releasesAtExit) {
    releasesAtExit = true
    platform.atProcessExit(releaseClaims)
  }
  const table = tableFor(spec)
  if (isCountedNatively(spec)) return openOther(spec)
  return new FollowingCore(new JsCore(spec, table, surroundings), spec, { follow: openOther, move: openJs })
}

/**
 * Whether the native engine counts a key in a thread of this process, which may share no memory with this one but the
 * addon's. The addon is asked wherever it can be loaded, unless the environment asks for the js engine.
 */
function isCountedNatively({ key, clock }: CoreSpec): boolean {
  if (typeof clock === 'function' || isJsForced() || !platform.loadNative().ok) return false
  return !requireNative().binding.countsInJs(key)
}

/** Opens natively what a js generator was to count, and another generator of this process counts natively. */
function openOther(spec: CoreSpec): Core {
  try {
    return openNative(spec)
  } catch (cause) {
    throw new GraupelError(
      'ERR_STATE_UNREACHABLE',
      'the native engine counts this node in another thread of this process, and cannot be loaded in this one; use one engine for a node',
      { cause },
    )
  }
}
