import { platform } from '#platform'
import { GraupelError, show, typeError } from '../core/errors.js'
import { publish } from '../core/events.js'
import { type NativeEngine, nativeEngine } from './native/core.js'
import { faultError } from './native/fault.js'

/** Which engine makes the ids: `'native'` is C++, `'js'` is TypeScript. */
export type EngineKind = 'native' | 'js'

/** The engine that `engine: 'auto'` chooses in this process, and why. */
export interface EngineInfo {
  /** The engine. */
  kind: EngineKind
  /** Path of the native engine's binary; only with `'native'`. */
  file?: string
  /** Why the native engine was not chosen; only with `'js'`. */
  reason?: string
}

/** @internal */
export const engineOptions = ['auto', 'native', 'js'] as const
/** The option `engine`: `'auto'` is the native engine where that loads, and else the js engine. */
export type EngineOption = (typeof engineOptions)[number]

/** The variable of the environment that overrides `'auto'`. @internal */
export const engineVariable = 'GRAUPEL_ENGINE'
const withoutNative =
  "leave state out, and the js engine keeps this node for one process of this host, or pass state: 'process' if no other process uses this node"

let automatic: EngineInfo | undefined
let native: NativeEngine | undefined

/**
 * Tells which engine a generator with the default `engine: 'auto'` uses in this process. The variable `GRAUPEL_ENGINE`
 * decides, where it is set; otherwise it is the native engine if that loads. The first call loads it, and the answer is kept.
 *
 * @throws TypeError `ERR_OPTION_INVALID` for another value of `GRAUPEL_ENGINE`; GraupelError `ERR_NATIVE_UNAVAILABLE`
 * where that is `native` and the native engine does not load.
 * @example
 * engineInfo().kind // 'native'
 */
export function engineInfo(): EngineInfo {
  if (automatic === undefined) {
    automatic = chooseAutomatically()
    publish('engine', { ...automatic })
  }
  return { ...automatic }
}

/**
 * Chooses a generator's engine, and loads it.
 *
 * @param option - The option `engine`, as it was given.
 * @param state - The option `state`, checked; `undefined` where it was not given. `'host'` and a path need the native engine.
 * @throws TypeError `ERR_OPTION_INVALID`; GraupelError `ERR_NATIVE_UNAVAILABLE`; GraupelError `ERR_STATE_UNREACHABLE` where
 * the js engine would keep the node for one process, and others run the same program.
 * @internal
 */
export function chooseEngine(option: unknown, state: string | undefined): EngineKind {
  checkEngineOption(option, 'engine')
  if (state !== undefined && state !== 'process' && state !== 'thread') {
    const asked = `state is ${show(state)}`
    if (option === 'js' || (option === 'auto' && isJsForced())) {
      throw new GraupelError(
        'ERR_NATIVE_UNAVAILABLE',
        `${asked}, which only the native engine can do, and ${option === 'js' ? 'engine' : engineVariable} is 'js'; ${withoutNative}`,
        { option: 'state' },
      )
    }
    requireNative(asked, withoutNative)
  }
  if (option === 'native') requireNative("engine is 'native'")
  const kind = option === 'auto' ? engineInfo().kind : option
  const siblings = kind === 'js' && state === undefined ? platform.siblingProcesses() : undefined
  if (siblings === undefined) return kind
  throw new GraupelError(
    'ERR_STATE_UNREACHABLE',
    `${siblings}, and processes cannot share a node with the js engine; use the native engine, or give each process a node of its own and pass state: 'process' to say so`,
    { option: 'state' },
  )
}

/** Whether the environment asks for the js engine. @internal */
export function isJsForced(): boolean {
  return platform.environmentVariable(engineVariable) === 'js'
}

/**
 * The native engine, loaded.
 *
 * @param because - What needs it, for the message.
 * @param instead - What can be done without it, for the message.
 * @throws GraupelError `ERR_NATIVE_UNAVAILABLE` with the reason and the loader's error.
 * @internal
 */
export function requireNative(because = 'the native engine is needed', instead = "allow engine: 'auto'"): NativeEngine {
  if (native !== undefined) return native
  const loaded = platform.loadNative()
  if (!loaded.ok) {
    throw new GraupelError(
      'ERR_NATIVE_UNAVAILABLE',
      `${because}, but the native engine cannot be loaded: ${loaded.reason}; ${remedyText(loaded.remedy)}${instead}`,
      { cause: loaded.cause },
    )
  }
  native = nativeEngine(loaded.binding, (fault, opened) => faultError(fault, opened, platform.systemErrorName))
  return native
}

function chooseAutomatically(): EngineInfo {
  const wanted = platform.environmentVariable(engineVariable) ?? 'auto'
  checkEngineOption(wanted, engineVariable)
  if (wanted === 'js') return { kind: 'js', reason: `${engineVariable} is 'js'` }
  if (wanted === 'native') requireNative(`${engineVariable} is 'native'`, `unset ${engineVariable}`)
  const loaded = platform.loadNative()
  if (loaded.ok) return { kind: 'native', file: loaded.file }
  if (!loaded.isByDesign) {
    platform.warn(
      `graupel runs on its TypeScript engine: ${loaded.reason}; ${remedyText(loaded.remedy)}set ${engineVariable}=js to have it without this warning`,
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

function remedyText(remedy: string | undefined): string {
  return remedy === undefined ? '' : `${remedy}, or `
}
