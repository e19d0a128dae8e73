import { platform } from '#platform'
import { GraupelError, show, typeError } from '../core/errors.js'
import { publish } from '../platform/events.js'
import type { Binding } from '../state/addon.js'
import { type NativeEngine, nativeEngine } from './native/core.js'
import { faultError } from './native/fault.js'

/** Which engine makes the ids: `'native'` is C++, `'js'` is TypeScript. */
export type EngineKind = 'native' | 'js'

/** @internal */
export const engineOptions = ['auto', 'native', 'js'] as const
/** The option `engine`: `'auto'` is the native engine if it loads, and the js engine otherwise. */
export type EngineOption = (typeof engineOptions)[number]

/** The variable of the environment that overrides `'auto'`. */
const engineVariable = 'GRAUPEL_ENGINE'

/** The engine of the option `engine: 'auto'`. */
export interface AutomaticEngine {
  /** The engine. */
  kind: EngineKind
  /** Path of the native engine's binary; only with `'native'`. */
  file?: string
  /** Why the native engine was not chosen; only with `'js'`. */
  reason?: string
}

let automatic: AutomaticEngine | undefined
let native: NativeEngine | undefined

/**
 * Returns the engine that the option `engine: 'auto'` means, and why. The first call decides for the process.
 *
 * @throws as `engineInfo`
 * @internal
 */
export function automaticEngine(): AutomaticEngine {
  if (automatic === undefined) {
    automatic = chooseAutomatically()
    publish('engine', { ...automatic })
  }
  return automatic
}

/**
 * Chooses a generator's engine, and loads it.
 *
 * @param option - The option `engine`, unchecked.
 * @param state - The option `state`, checked; `undefined` if the default of the engine is wanted. `'host'`
 * and a path need the native engine.
 * @throws TypeError `ERR_OPTION_INVALID`; GraupelError `ERR_NATIVE_UNAVAILABLE`; GraupelError
 * `ERR_STATE_UNREACHABLE` if the js engine would keep the node for one process, and other processes run the
 * same program.
 * @internal
 */
export function chooseEngine(option: unknown, state: string | undefined): EngineKind {
  checkEngineOption(option, 'engine')
  if (state !== undefined && state !== 'process' && state !== 'thread') {
    if (option === 'js' || (option === 'auto' && isJsForced())) {
      const name = option === 'js' ? 'engine' : engineVariable
      throw new GraupelError(
        'ERR_NATIVE_UNAVAILABLE',
        `state is ${show(state)}, which needs the native engine, and ${name} is 'js'; leave state out, and the js engine keeps this node for one process of this host`,
        { option: 'state' },
      )
    }
    requireNative(`state is ${show(state)}`)
  }
  if (option === 'native') requireNative("engine is 'native'")
  const kind = option === 'auto' ? automaticEngine().kind : option
  const siblings = kind === 'js' && state === undefined ? platform.siblingProcesses() : undefined
  if (siblings === undefined) return kind
  throw new GraupelError(
    'ERR_STATE_UNREACHABLE',
    `${siblings}, and processes cannot share a node on the js engine; give each process a node of its own, and pass state: 'process'`,
    { option: 'state' },
  )
}

/** Whether the environment asks for the js engine. @internal */
export function isJsForced(): boolean {
  return platform.environmentVariable(engineVariable) === 'js'
}

/** Returns the addon; `undefined` if it does not load, or the environment forbids it. @internal */
export function allowedAddon(): Binding | undefined {
  const loaded = isJsForced() ? undefined : platform.loadNative()
  return loaded?.ok ? loaded.binding : undefined
}

/**
 * Loads the native engine.
 *
 * @param given - The option or variable that needs it, for the message.
 * @throws GraupelError `ERR_NATIVE_UNAVAILABLE` with the reason and the loader's error.
 * @internal
 */
export function requireNative(given = "engine is 'native'"): NativeEngine {
  if (native !== undefined) return native
  const loaded = platform.loadNative()
  if (!loaded.ok) {
    throw new GraupelError(
      'ERR_NATIVE_UNAVAILABLE',
      `${given}, and the native engine cannot be loaded: ${loaded.reason}; ${loaded.remedy ?? 'use the js engine'}`,
      { cause: loaded.cause },
    )
  }
  native = nativeEngine(loaded.binding, (fault, opened) => faultError(fault, opened, platform.systemErrorName))
  return native
}

function chooseAutomatically(): AutomaticEngine {
  const wanted = platform.environmentVariable(engineVariable) ?? 'auto'
  checkEngineOption(wanted, engineVariable)
  if (wanted === 'js') return { kind: 'js', reason: `${engineVariable} is 'js'` }
  if (wanted === 'native') requireNative(`${engineVariable} is 'native'`)
  const loaded = platform.loadNative()
  if (loaded.ok) return { kind: 'native', file: loaded.file }
  if (!loaded.isByDesign) {
    platform.warn(
      `graupel runs on its TypeScript engine: ${loaded.reason}; ${loaded.remedy}, or set GRAUPEL_ENGINE=js to have it without this warning`,
      'GRAUPEL_JS_ENGINE',
    )
  }
  return { kind: 'js', reason: loaded.reason }
}

function checkEngineOption(value: unknown, name: string): asserts value is EngineOption {
  if (!engineOptions.includes(value as EngineOption)) {
    throw typeError(
      'ERR_OPTION_INVALID',
      `${name} is ${show(value)}; pass one of ${engineOptions.map(show).join(', ')}`,
    )
  }
}
