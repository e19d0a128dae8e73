import { GraupelError } from '../core/errors.js'
import { allowedAddon, automaticEngine, type EngineKind, isJsForced, requireNative } from './choose.js'
import { requireReach } from './generation.js'
import { sharedStates } from './states.js'

// The first generator decides which engine makes the ids of the process. The addon and the table of the js
// engine keep the choice. A thread without the table is refused the js engine, and a thread without the addon
// the native engine. So two generators share the addon or the table, if all threads have one GRAUPEL_ENGINE.

/** The engines by their numbers in the addon and in the table; 0 is none. */
const engines = [undefined, 'native', 'js', 'both'] as const
type KeptEngine = (typeof engines)[number]

/** Returns the engines that generators of this process have, or may have if there is none yet. @internal */
export function processEngines(): readonly EngineKind[] {
  const kept = keepEngine(undefined)
  if (kept === 'native' || kept === 'js') return [kept]
  return allowedAddon() === undefined ? ['js'] : ['native', 'js']
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
  const { kind } = automaticEngine()
  if (kind === 'js') useEngine(kind)
}

/**
 * Gives the process an engine. @throws GraupelError `ERR_STATE_UNREACHABLE` if it has the other engine
 * @internal
 */
export function useEngine(kind: EngineKind): void {
  refuseOther(keepEngine(kind, kind), kind)
}

/** Lets this process have generators of both engines, for tests and benches that compare them. @internal */
export function mixEngines(): void {
  requireReach().table.keepEngine(engines.indexOf('both'))
}

/**
 * Refuses an engine that this thread may not use.
 *
 * @throws GraupelError `ERR_STATE_UNREACHABLE`
 */
export function checkEngine(kind: EngineKind): void {
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
  const table = typeof states === 'string' ? undefined : states.table
  const inTable = table?.keepEngine(0) ?? 0
  if (engines[inTable] === 'both') return 'both'
  // The addon first: if another thread decides there meanwhile, the table must not say something else.
  const hasAddon = asking === 'native' || allowedAddon() !== undefined
  const kept = hasAddon ? requireNative().binding.keepEngine(addonKey, inTable || number) : inTable || number
  return engines[first === undefined ? kept : (table?.keepEngine(kept) ?? kept)]
}

/** In the addon, the key of the state that keeps the engine. */
const addonKey = 'engine'
