import { platform } from '#platform'
import { GraupelError } from '../core/errors.js'
import type { PageStep } from '../state/claims.js'
import type { Core, CoreSpec } from '../state/engine.js'
import { StateTable } from '../state/table.js'
import {
  allowedAddon,
  chooseEngine,
  type EngineKind,
  engineInfo,
  isJsForced,
  noteHook,
  requireNative,
} from './choose.js'
import { JsCore } from './js/core.js'
import { ThreadStates } from './js/thread-states.js'
import type { NativeEngine } from './native/core.js'
import { ClaimedError } from './native/fault.js'
import { SlotClock } from './slots.js'

/** Attempts to open a key. An attempt fails only if another process has made a step of the claim. */
const maxAttempts = 100

let closesFilesAtExit = false

/**
 * Opens a core of the engine that `chooseEngine` returned.
 *
 * @throws GraupelError `ERR_STATE_UNREACHABLE` if this process makes ids by the other engine; errors of the
 * engine
 * @internal
 */
export function openCore(kind: EngineKind, spec: CoreSpec): Core {
  const core = openUntraced(kind, spec)
  return platform.traced?.(core, kind, spec) ?? core
}

function openUntraced(kind: EngineKind, spec: CoreSpec): Core {
  const reopen = (spec: CoreSpec) => openUntraced(kind, spec)
  checkEngine(kind)
  const core = kind === 'native' ? openNative(spec, reopen) : openJs(spec, reopen)
  try {
    // Now that the core is open: an engine that cannot open any does not stay.
    refuseOther(keepEngine(kind, kind), kind)
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
  return new JsCore(spec, states, reopen)
}

function openNative(spec: CoreSpec, reopen: (spec: CoreSpec) => Core): Core {
  const { binding } = requireNative()
  const core = openBesideClaim(spec, reopen)
  // process.exit() and uncaught errors do not tear the environment down, so nothing else writes the exact
  // words to the files.
  if (spec.state.kind === 'file' && !closesFilesAtExit) {
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
  const states = sharedStates()
  const native = loadedNative()
  if (native === undefined) {
    if (kind === 'native') return requireNative().generation()
    return (typeof states === 'string' ? ownStates() : states).table.generation()
  }
  const generation = native.generation()
  if (typeof states !== 'string') states.table.raiseGeneration(generation)
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
  // Without the addon in this thread, its lease has decided for the js engine.
  if (native === undefined) table.raiseGeneration()
  else native.binding.raiseGeneration()
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

// The first generator decides which engine makes the ids of the process. The addon and the table of the js
// engine keep the choice for all threads. A thread without the table is refused the js engine, and a thread
// without the addon the native engine, so any two generators share the addon or the table.

/** The engines by their numbers in the addon and in the table; 0 is none. */
const engines = [undefined, 'native', 'js', 'both'] as const
type KeptEngine = (typeof engines)[number]

/** Returns the engine of this process, or the engine that its first generator would have. @internal */
export function processEngines(): readonly EngineKind[] {
  const kept = keepEngine(undefined)
  if (kept === 'both') return allowedAddon() === undefined ? ['js'] : ['native', 'js']
  return [kept ?? chooseEngine('auto', 'process')]
}

/**
 * Chooses the engine of a thread that has a lease. Without the addon, the thread could not stop generators of
 * the native engine, so it decides for the js engine.
 *
 * @throws as `engineInfo`; GraupelError `ERR_STATE_UNREACHABLE` if this process makes ids by the native
 * engine
 * @internal
 */
export function decideEngine(): void {
  const { kind } = engineInfo()
  if (kind === 'js') refuseOther(keepEngine(kind, kind), kind)
}

/** Lets this process have generators of both engines, for tests and benches that compare them. @internal */
export function mixEngines(): void {
  requireReach().table.keepEngine(engines.indexOf('both'))
}

/** @throws GraupelError `ERR_STATE_UNREACHABLE` if this thread may not have a generator of the engine */
function checkEngine(kind: EngineKind): void {
  refuseOther(keepEngine(undefined, kind), kind)
  const states = kind === 'native' && isJsForced() ? sharedStates() : undefined
  if (typeof states !== 'string') return
  throw new GraupelError(
    'ERR_STATE_UNREACHABLE',
    `GRAUPEL_ENGINE is 'js', and this thread cannot see whether other threads make ids by the js engine: ${states}; import 'graupel' in the main thread before it starts workers`,
  )
}

function refuseOther(kept: KeptEngine, kind: EngineKind): void {
  if (kept === undefined || kept === kind || kept === 'both') return
  throw new GraupelError(
    'ERR_STATE_UNREACHABLE',
    `this process makes ids by the ${kept} engine, and the ${kind} engine is asked for; leave the option engine out, and set GRAUPEL_ENGINE for all threads or for none`,
  )
}

/**
 * Gives the process an engine, if it has none, and returns the engine that it has afterwards.
 *
 * @param first - The engine that is written; `undefined` only reads.
 * @param asking - The engine of the generator that asks. A js generator does not load the addon if
 * `GRAUPEL_ENGINE` is `js`.
 */
function keepEngine(first: KeptEngine, asking?: EngineKind): KeptEngine {
  const number = engines.indexOf(first)
  const states = sharedStates()
  const inTable = typeof states === 'string' ? number : states.table.keepEngine(number)
  const isAddonAsked = inTable === number && (asking === 'native' || allowedAddon() !== undefined)
  return engines[isAddonAsked ? requireNative().binding.keepEngine(addonKey, number) : inTable]
}

/** In the addon, the key of the state that keeps the engine. */
const addonKey = 'engine'

/**
 * Frees the memory of this thread for the key of a lease that is sealed. Otherwise a process would keep all
 * leases that it ever had. The table keeps 152 bytes of each lease, because other threads may still read
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

/** The js states of a thread that cannot reach the states of the process. */
function ownStates(): ThreadStates {
  own ??= new ThreadStates(new StateTable(platform.threadMemory()), platform)
  return own
}

/** The js states for a generator. @throws GraupelError `ERR_STATE_UNREACHABLE` */
function statesFor({ state }: CoreSpec): ThreadStates {
  const states = sharedStates()
  if (typeof states !== 'string') return states
  // With the addon, the native engine can count here, and park() of another thread reaches only the addon.
  if (state.kind === 'thread' && allowedAddon() === undefined) return ownStates()
  throw new GraupelError(
    'ERR_STATE_UNREACHABLE',
    `the js engine cannot reach the states of this process from this thread: ${states}; import 'graupel' in the main thread before it starts workers, or ${
      allowedAddon() === undefined
        ? "pass state: 'thread' if no other thread uses the node"
        : 'leave the option engine out'
    }`,
  )
}
