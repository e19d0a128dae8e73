import { platform } from '#platform'
import { GraupelError } from '../core/errors.js'
import { type EngineKind, engineVariable, isJsForced, requireNative } from './choose.js'
import type { CoreSpec } from './engine.js'
import { idsText } from './key.js'
import { sharedStates } from './states.js'

// A key has one engine for the life of a process: that of its first generator. The addon keeps it for all threads that load
// the addon, and the table of the js engine for all threads that reach the table. A thread without the table is refused the
// js engine, and a thread without the addon is refused the native engine, so any two generators share one of the two.

/** By number, as the addon and the table keep them; 0 is none. */
const engines: readonly (EngineKind | undefined)[] = [undefined, 'native', 'js']

/** The engine that counts a key in this process; `undefined` before the key's first generator. */
export function engineOf(key: string): EngineKind | undefined {
  return engines[keep(key, 0, isAddonAsked())]
}

/** Refuses a generator whose key another engine counts. @throws GraupelError `ERR_STATE_UNREACHABLE` */
export function refuseOther(spec: CoreSpec, kind: EngineKind): void {
  const kept = engines[keep(spec.key, 0, kind === 'native' || isAddonAsked())]
  if (kept !== undefined && kept !== kind) throw refusal(spec, kept, kind)
  const states = kind === 'native' && isJsForced() ? sharedStates() : undefined
  if (typeof states !== 'string') return
  throw new GraupelError(
    'ERR_STATE_UNREACHABLE',
    `${engineVariable} is 'js', and this thread, which asks for the native engine, cannot see what the js engine counts in other threads: ${states}; leave engine out, or import 'graupel' in the main thread before it starts workers`,
  )
}

/** Gives a key to an engine, if it has none. @throws GraupelError `ERR_STATE_UNREACHABLE` if it has the other one */
export function keepEngine(spec: CoreSpec, kind: EngineKind): void {
  const kept = engines[keep(spec.key, engines.indexOf(kind), kind === 'native' || isAddonAsked())]
  if (kept !== kind) throw refusal(spec, kept as EngineKind, kind)
}

/** Whether a js generator asks the addon. It does not if GRAUPEL_ENGINE is 'js'. */
function isAddonAsked(): boolean {
  return !isJsForced() && platform.loadNative().ok
}

/** The number of the key's engine, after `engine` was written for a key that has none; 0 only reads. */
function keep(key: string, engine: number, asksAddon: boolean): number {
  const states = sharedStates()
  const inTable = typeof states === 'string' ? engine : states.table.keepEngine(key, engine)
  return inTable === engine && asksAddon ? requireNative().binding.keepEngine(key, engine) : inTable
}

function refusal({ key, description }: CoreSpec, kept: EngineKind, wanted: EngineKind): GraupelError {
  return new GraupelError(
    'ERR_STATE_UNREACHABLE',
    `the ${kept} engine counts ${idsText(key, description)}, in this process, and this generator asks for the ${wanted} engine; use one engine for all generators of a node: leave engine out, and set one GRAUPEL_ENGINE for all threads`,
  )
}
