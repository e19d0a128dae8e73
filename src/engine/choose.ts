import { platform } from '#platform'
import { GraupelError, show, typeError } from '../errors.js'
import { publish } from '../events.js'
import type { Claims } from './claims.js'
import type { Core, CoreSpec } from './engine.js'
import { ClaimedError, faultError } from './fault.js'
import { endLease, JsCore, type JsSurroundings, releaseClaims } from './js.js'
import { SlotClock } from './js-claim.js'
import { type NativeEngine, nativeEngine } from './native.js'
import { State } from './state.js'
import { StateTable } from './state-table.js'

/** Which engine runs: C++ or TypeScript. */
export type EngineKind = 'native' | 'js'

/** Which engine `engine: 'auto'` leads to here, and why. */
export interface EngineInfo {
  kind: EngineKind
  /** The native engine's binary. */
  file?: string
  /** Why it is not the native engine. */
  reason?: string
}

const engineOptions = ['auto', 'native', 'js'] as const
export type EngineOption = (typeof engineOptions)[number]

const variable = 'GRAUPEL_ENGINE'
let chosen: EngineInfo | undefined
let native: NativeEngine | undefined
let table: StateTable | undefined
let threadTable: StateTable | undefined

/**
 * Tells which engine a generator with the default `engine: 'auto'` uses in this process, loading the native one if that
 * has not happened yet. `GRAUPEL_ENGINE` in the environment decides, if it is set; otherwise native, if it loads.
 *
 * @throws TypeError `ERR_OPTION_INVALID` for another value of `GRAUPEL_ENGINE`; GraupelError `ERR_NATIVE_UNAVAILABLE`
 * where that asks for native in vain.
 * @example
 * engineInfo().kind // 'native'
 */
export function engineInfo(): EngineInfo {
  if (chosen === undefined) {
    chosen = choose()
    publish('engine', { ...chosen })
  }
  return { ...chosen }
}

/** @internal */
export function checkEngineOption(value: unknown, name: string): asserts value is EngineOption {
  if (!engineOptions.includes(value as EngineOption)) {
    throw typeError(
      'ERR_OPTION_INVALID',
      `${name} is ${show(value)}; pass one of ${engineOptions.map(show).join(', ')}`,
    )
  }
}

/** Whether the environment asks for the js engine. @internal */
export function isJsForced(): boolean {
  return platform.environmentVariable(variable) === 'js'
}

/** The engine for an option; loads it, or throws `ERR_NATIVE_UNAVAILABLE`. @internal */
export function resolveEngine(option: EngineOption): EngineKind {
  if (option === 'native') requireNative("engine is 'native'")
  return option === 'auto' ? engineInfo().kind : option
}

/** Opens a generator's access to an engine that {@link resolveEngine} gave. @internal */
export function openCore(kind: EngineKind, spec: CoreSpec): Core {
  return kind === 'native' ? openNative(spec) : openJs(spec)
}

/**
 * @param instead - What can be done without the native engine.
 * @throws GraupelError `ERR_NATIVE_UNAVAILABLE` with the reason and the loader's error.
 * @internal
 */
export function requireNative(because: string, instead = "allow engine: 'auto'"): NativeEngine {
  if (native !== undefined) return native
  const loaded = platform.loadNative()
  if (!loaded.ok) {
    throw new GraupelError(
      'ERR_NATIVE_UNAVAILABLE',
      `${because}, but the native engine cannot be had: ${loaded.reason}; ${remedyOf(loaded.remedy)}${instead}`,
      { cause: loaded.cause },
    )
  }
  native = nativeEngine(loaded.binding, (fault, opened) => faultError(fault, opened, platform.systemErrorName))
  return native
}

function choose(): EngineInfo {
  const wanted = platform.environmentVariable(variable) ?? 'auto'
  checkEngineOption(wanted, variable)
  if (wanted === 'js') return { kind: 'js', reason: `${variable} is 'js'` }
  if (wanted === 'native') requireNative(`${variable} is 'native'`, `unset ${variable}`)
  const loaded = platform.loadNative()
  if (loaded.ok) return { kind: 'native', file: loaded.file }
  if (!loaded.isByDesign) {
    platform.warn(
      `graupel runs on its TypeScript engine: ${loaded.reason}; ${remedyOf(loaded.remedy)}set ${variable}=js to have it without this warning`,
      'GRAUPEL_JS_ENGINE',
    )
  }
  return { kind: 'js', reason: loaded.reason }
}

function remedyOf(remedy: string | undefined): string {
  return remedy === undefined ? '' : `${remedy}, or `
}

/** What the clock of generators without one of their own shows; milliseconds since 1970. @internal */
export function clockMs(kind: EngineKind): number {
  return kind === 'native' ? requireNative('this generator counts natively').binding.wallMs() : platform.wallMs()
}

const surroundings: JsSurroundings = { ...platform, openElsewhere: openTakenOver }
/** Each time that a claim was found too late, another process has made a step of it. */
const maxAttempts = 100

let leavesAtExit = false
let releasesAtExit = false

function openNative(spec: CoreSpec): Core {
  if (isJsForced() && typeof stateTable() === 'string') {
    throw new GraupelError(
      'ERR_STATE_UNREACHABLE',
      `${variable} is 'js', and this thread cannot see what the js engine counts in the others: ${stateTable()}; leave the engine to the environment, or import 'graupel' in the main thread before it starts workers`,
    )
  }
  const { binding } = requireNative('this generator counts natively')
  const core = spec.place === 'process' ? openTaking(spec) : openShared(spec)
  // process.exit() and uncaught errors do not take the environment down, and the files would not get their exact words.
  if (spec.place === 'file' && !leavesAtExit) {
    leavesAtExit = true
    platform.atExit(() => binding.leave())
  }
  return core
}

/** Opens a key natively in a page. */
function openShared(spec: CoreSpec): Core {
  for (let attempts = 1; ; attempts++) {
    try {
      return platform.claims?.exists(spec.key) ? openClaimed(spec) : openTaking(spec)
    } catch (error) {
      // Made since it was looked for, perhaps by a process that is handing it over at this moment.
      if (!(error instanceof ClaimedError) || attempts === maxAttempts) throw error
    }
  }
}

/** Opens a key natively that the js engine has claimed, of this process or of one that is gone. */
function openClaimed(spec: CoreSpec): Core {
  const { key, description } = spec
  const claimant = { key, description, token: countedTable().token }
  const nowMs = typeof spec.clock === 'function' ? spec.clock : platform.wallMs
  const claims = platform.claims as Claims
  return claims.handOver(claimant, new SlotClock(spec, nowMs), (floor) => openTaking(spec, floor))
}

/**
 * The native engine counts this key from now on; the js engine's word, if it has one, is carried over.
 *
 * @param floor - Nothing below it may be issued; given where a claim is handed over.
 */
function openTaking(spec: CoreSpec, floor?: bigint): Core {
  const { open, binding } = requireNative('this generator counts natively')
  const hasInjectedClock = typeof spec.clock === 'function'
  const takesOver = hasInjectedClock || typeof stateTable() !== 'string'
  const core = open(spec, { ignoresClaim: floor !== undefined, takesOver })
  const raise = (slot: bigint, highTick: number) => {
    if (!binding.raise(slot, highTick)) throw core.failure()
  }
  if (floor !== undefined && floor > 0n) raise(floor, Number((floor - 1n) >> BigInt(spec.sequenceBits)))
  // An injected clock is a world of its own in each engine; on the real one, both engines must not count one key.
  if (hasInjectedClock) return core
  const counted = countedTable()
  const state = new State(counted, counted.find(spec.key), spec.sequenceBits, spec.maxTick)
  state.moveTo((slot) => raise(slot, state.highTick()))
  endLease(spec.key)
  return core
}

function openJs(spec: CoreSpec): Core {
  if (platform.claims !== undefined && !releasesAtExit) {
    releasesAtExit = true
    platform.atProcessExit(releaseClaims)
  }
  const table = tableFor(spec)
  return isCountedNatively(spec) ? openTakenOver(spec) : new JsCore(spec, table, surroundings)
}

/**
 * Whether the native engine counts a key in a thread of this process, which may share no memory with this one but the
 * addon's. The addon is asked wherever it can be loaded, unless the environment says to leave it alone.
 */
function isCountedNatively({ key, clock }: CoreSpec): boolean {
  if (typeof clock === 'function' || isJsForced() || !platform.loadNative().ok) return false
  return !requireNative('this generator asks who counts').binding.countsInJs(key)
}

/** For a js generator whose key is being counted natively by another generator of this process. */
function openTakenOver(spec: CoreSpec): Core {
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

/** What js generators of this thread count in. @throws GraupelError `ERR_STATE_UNREACHABLE` */
function tableFor(spec: CoreSpec): StateTable {
  const shared = stateTable()
  if (typeof shared !== 'string') return shared
  if (spec.isThread) return ownTable()
  throw new GraupelError(
    'ERR_STATE_UNREACHABLE',
    `the js engine cannot reach the states of this process from this thread: ${shared}; import 'graupel' in the main thread before it starts workers, use the native engine, or pass state: 'thread' to say that no other thread or process uses this node`,
  )
}

/** The table of this thread alone. */
function ownTable(): StateTable {
  threadTable ??= new StateTable(platform.threadMemory())
  return threadTable
}

/** What js generators of this thread count in, if there are any. */
function countedTable(): StateTable {
  const shared = stateTable()
  return typeof shared === 'string' ? ownTable() : shared
}

/** The table that all threads share, or why it cannot be reached. */
function stateTable(): StateTable | string {
  if (table !== undefined) return table
  const memory = platform.stateMemory()
  if ('unreachable' in memory) return memory.unreachable
  table = new StateTable(memory)
  return table
}
