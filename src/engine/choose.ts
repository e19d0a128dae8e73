import { platform } from '#platform'
import { GraupelError, show, typeError } from '../core/errors.js'
import { publish } from '../platform/events.js'
import type { Binding } from '../state/addon.js'
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
  /**
   * Whether a copy of the machine that continues with its memory would be noticed (docs/guarantees.md):
   * `'detected'`, a device tells it; `'hooked'`, the program has called `lease.park()` or `lease.resume()`;
   * `'possible'`, the hypervisor can copy this machine, and nothing tells it; `'unknown'`.
   */
  copies: 'detected' | 'hooked' | 'possible' | 'unknown'
  /** Path of the device that tells it; only with `'detected'`. */
  copiesDevice?: string
}

/** @internal */
export const engineOptions = ['auto', 'native', 'js'] as const
/** The option `engine`: `'auto'` is the native engine if it loads, and the js engine otherwise. */
export type EngineOption = (typeof engineOptions)[number]

/** The variable of the environment that overrides `'auto'`. */
const engineVariable = 'GRAUPEL_ENGINE'

type Choice = Omit<EngineInfo, 'copies' | 'copiesDevice'>

let automatic: Choice | undefined
let native: NativeEngine | undefined

/**
 * Tells which engine a generator with the default `engine: 'auto'` uses in this process: the engine that the
 * variable `GRAUPEL_ENGINE` names; if it is not set, the native engine if it loads, and the js engine
 * otherwise. The first call decides for the process.
 *
 * @throws TypeError `ERR_OPTION_INVALID` for another value of `GRAUPEL_ENGINE`; GraupelError
 * `ERR_NATIVE_UNAVAILABLE` if `GRAUPEL_ENGINE` is `native` and the native engine does not load,
 * `ERR_STATE_UNREACHABLE` while `node --build-snapshot` runs.
 * @example
 * engineInfo().kind // 'native'
 */
export function engineInfo(): EngineInfo {
  if (automatic === undefined) {
    automatic = chooseAutomatically()
    publish('engine', { ...automatic })
  }
  return { ...automatic, ...copiesOf(automatic) }
}

function copiesOf({ kind }: Choice): Pick<EngineInfo, 'copies' | 'copiesDevice'> {
  const copiesDevice = kind === 'native' ? requireNative().binding.generationDevice() : ''
  if (copiesDevice !== '') return { copies: 'detected', copiesDevice }
  if (isHooked) return { copies: 'hooked' }
  return { copies: platform.canBeCopied() ? 'possible' : 'unknown' }
}

let isHooked = false

/** Remembers that the program tells of copies of the machine by itself. @internal */
export function noteHook(): void {
  isHooked = true
}

/**
 * Chooses a generator's engine, and loads it.
 *
 * @param option - The option `engine`, unchecked.
 * @param state - The option `state`, checked; `undefined` if it was not given. `'host'` and a path need the
 * native engine.
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
  const kind = option === 'auto' ? engineInfo().kind : option
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

function chooseAutomatically(): Choice {
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
