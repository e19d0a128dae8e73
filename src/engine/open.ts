import { platform } from '#platform'
import { GraupelError } from '../core/errors.js'
import type { PageStep } from '../state/claims.js'
import type { Core, CoreSpec } from '../state/engine.js'
import { idsText } from '../state/key.js'
import { StateTable } from '../state/table.js'
import { allowedAddon, type EngineKind, isJsForced, noteHook, requireNative } from './choose.js'
import { JsCore } from './js/core.js'
import { ThreadStates } from './js/thread-states.js'
import { ToldCore } from './js/told-core.js'
import type { NativeEngine } from './native/core.js'
import { ClaimedError } from './native/fault.js'
import { SlotClock } from './slots.js'

/** Attempts to open a key. An attempt fails only if another process has made a step of the claim. */
const maxAttempts = 100

let closesFilesAtExit = false

/**
 * Opens a core of the engine that `chooseEngine` returned.
 *
 * @throws GraupelError `ERR_STATE_UNREACHABLE` if the other engine counts the key; errors of the engine
 * @internal
 */
export function openCore(kind: EngineKind, spec: CoreSpec): Core {
  const core = openUntraced(kind, spec)
  return platform.traced?.(core, kind, spec) ?? core
}

function openUntraced(kind: EngineKind, spec: CoreSpec): Core {
  const reopen = (spec: CoreSpec) => openUntraced(kind, spec)
  refuseOther(spec, kind)
  const core = kind === 'native' ? openNative(spec, reopen) : openJs(spec, reopen)
  try {
    keepEngine(spec, kind)
  } catch (error) {
    core.close()
    throw error
  }
  return core
}

/** Reads the clock of generators without a `clock` function; milliseconds since 1970. @internal */
export function clockMs(kind: EngineKind): number {
  return kind === 'native' ? requireNative().binding.wallMs() : platform.wallMs()
}

function openJs(spec: CoreSpec, reopen: (spec: CoreSpec) => Core): Core {
  const states = statesFor(spec)
  // Lets the table have the present generation.
  machineGeneration()
  const native = states === own ? loadedNative() : undefined
  if (native === undefined) return new JsCore(spec, states, reopen)
  let known = native.generation()
  const isRaised = () => {
    if (native.generation() === known) return false
    known = machineGeneration()
    return true
  }
  return new ToldCore(spec, states, reopen as (spec: CoreSpec) => JsCore, isRaised)
}

function openNative(spec: CoreSpec, reopen: (spec: CoreSpec) => Core): Core {
  const { binding } = requireNative()
  const states = sharedStates()
  if (typeof states !== 'string') states.table.keepEngine(addonKey, engines.indexOf('native'))
  const core = openBesideClaim(spec, reopen)
  // process.exit() and uncaught errors do not tear the environment down, so nothing else writes the exact
  // words to the files.
  if (spec.bound === 'file' && !closesFilesAtExit) {
    closesFilesAtExit = true
    platform.atExit(() => binding.closeFiles())
  }
  return core
}

/** Opens a key natively. If the key has a claim, the claim first leaves the key to the page. */
function openBesideClaim(spec: CoreSpec, reopen: (spec: CoreSpec) => Core): Core {
  let step: PageStep | undefined
  for (let attempts = 1; ; attempts++) {
    try {
      return requireNative().open(spec, step, reopen)
    } catch (error) {
      if (!(error instanceof ClaimedError) || platform.claims === undefined || attempts === maxAttempts) throw error
      const nowMs = typeof spec.clock === 'function' ? spec.clock : platform.wallMs
      step = platform.claims.giveToPage(error.path, spec, new SlotClock(spec, nowMs))
    }
  }
}

/** Returns the native engine, if this process may load the addon. */
function loadedNative(): NativeEngine | undefined {
  return allowedAddon() && requireNative()
}

/**
 * Returns the generation of the machine, a number that differs in a copy of the machine. The js engine reads
 * no device by itself: each call of this function tells it.
 *
 * @param kind - The engine of a generator that needs it. `GRAUPEL_ENGINE` may forbid the addon to all others.
 * @internal
 */
export function machineGeneration(kind?: EngineKind): number {
  const native = loadedNative()
  if (native === undefined) {
    return kind === 'native' ? requireNative().generation() : (knownTables()[0] ?? localTable()).generation()
  }
  const generation = native.generation()
  for (const table of knownTables()) table.raiseGeneration(generation)
  return generation
}

/**
 * Changes the generation, because the machine is about to be copied, or is a copy. All threads drop the slots
 * that they have reserved. A thread that reaches neither the shared table nor the addon does not notice.
 *
 * @throws as {@link requireReach}
 * @internal
 */
export function raiseMachineGeneration(): void {
  const { table } = requireReach()
  noteHook()
  const native = loadedNative()
  if (native === undefined) table.raiseGeneration()
  // The addon counts for threads on the native engine, also below a thread to which it is forbidden.
  const isUsed = native !== undefined || table.keepEngine(addonKey, 0) !== 0
  if (isUsed) requireNative('other threads run on the native engine').binding.raiseGeneration()
  machineGeneration()
}

/**
 * Returns the memory by which a hook tells the other threads.
 *
 * @throws GraupelError `ERR_STATE_UNREACHABLE` if this thread does not share it
 * @internal
 */
export function requireReach(): ThreadStates {
  const states = sharedStates()
  if (typeof states !== 'string') return states
  throw new GraupelError(
    'ERR_STATE_UNREACHABLE',
    `park() and resume() stop all threads of the process, and this thread shares no memory with the others: ${states}; import 'graupel' in the main thread before it starts workers`,
  )
}

/** In the table, the key of a record that says whether a thread has opened a native core. */
const addonKey = 'addon'

/** The tables whose generation the js engine of this thread reads. */
function knownTables(): StateTable[] {
  const states = sharedStates()
  return [states, own].filter((states) => typeof states === 'object').map(({ table }) => table)
}

function localTable(): StateTable {
  own ??= new ThreadStates(new StateTable(platform.threadMemory()), platform)
  return own.table
}

// The first generator of a key decides the key's engine for the life of the process. The addon and the table
// of the js engine keep the choice for all threads. A thread without the table is refused the js engine, and
// a thread without the addon the native engine, so any two generators share the addon or the table.

/** The engines by their numbers in the addon and in the table; 0 is none. */
const engines: readonly (EngineKind | undefined)[] = [undefined, 'native', 'js']

/** Tells which engine counts a key in this process; `undefined` before the key's first generator. */
export function engineOf(key: string): EngineKind | undefined {
  return keptEngine(key, undefined, undefined)
}

/** Refuses a generator whose key the other engine counts. @throws GraupelError `ERR_STATE_UNREACHABLE` */
function refuseOther(spec: CoreSpec, kind: EngineKind): void {
  const kept = keptEngine(spec.key, undefined, kind)
  if (kept !== undefined && kept !== kind) throw otherEngine(spec, kept, kind)
  const states = kind === 'native' && isJsForced() ? sharedStates() : undefined
  if (typeof states !== 'string') return
  throw new GraupelError(
    'ERR_STATE_UNREACHABLE',
    `GRAUPEL_ENGINE is 'js', and this thread cannot see which nodes the js engine counts in other threads: ${states}; import 'graupel' in the main thread before it starts workers`,
  )
}

/**
 * Gives a key to an engine, if the key has none. @throws GraupelError `ERR_STATE_UNREACHABLE` if the other
 * engine has it
 */
function keepEngine(spec: CoreSpec, kind: EngineKind): void {
  const kept = keptEngine(spec.key, kind, kind)
  if (kept !== kind) throw otherEngine(spec, kept as EngineKind, kind)
}

/**
 * Reads the engine of a key.
 *
 * @param first - The engine that is written if the key has none; `undefined` only reads.
 * @param asking - The engine of the generator that asks. A js generator does not load the addon if
 * `GRAUPEL_ENGINE` is `js`.
 */
function keptEngine(
  key: string,
  first: EngineKind | undefined,
  asking: EngineKind | undefined,
): EngineKind | undefined {
  const number = engines.indexOf(first)
  const states = sharedStates()
  const inTable = typeof states === 'string' ? number : states.table.keepEngine(key, number)
  const isAddonAsked = inTable === number && (asking === 'native' || allowedAddon() !== undefined)
  return engines[isAddonAsked ? requireNative().binding.keepEngine(key, number) : inTable]
}

function otherEngine({ key, description }: CoreSpec, kept: EngineKind, wanted: EngineKind): GraupelError {
  return new GraupelError(
    'ERR_STATE_UNREACHABLE',
    `the ${kept} engine counts ${idsText(key, description)} in this process, and this generator asks for the ${wanted} engine; leave the option engine out for all generators of a node`,
  )
}

/**
 * Frees the memory of this thread for the key of a lease that is sealed. Otherwise a process would keep all
 * leases that it ever had. The table keeps 168 bytes of each lease, because other threads may still read
 * them.
 */
export function forgetKey(key: string): void {
  const states = sharedStates()
  if (typeof states !== 'string') states.forget(key)
}

let shared: ThreadStates | undefined
let own: ThreadStates | undefined

/** The js states that all threads of the process share, or the reason why this thread cannot reach them. */
function sharedStates(): ThreadStates | string {
  if (shared !== undefined) return shared
  const memory = platform.stateMemory()
  if ('unreachable' in memory) return memory.unreachable
  shared = new ThreadStates(new StateTable(memory), platform)
  platform.atProcessExit(() => shared?.releaseClaims())
  return shared
}

/** The js states for a generator. @throws GraupelError `ERR_STATE_UNREACHABLE` */
function statesFor({ isThread }: CoreSpec): ThreadStates {
  const states = sharedStates()
  if (typeof states !== 'string') return states
  if (!isThread) {
    throw new GraupelError(
      'ERR_STATE_UNREACHABLE',
      `the js engine cannot reach the states of this process from this thread: ${states}; import 'graupel' in the main thread before it starts workers, or pass state: 'thread' if no other thread uses the node`,
    )
  }
  localTable()
  return own as ThreadStates
}
