import { platform } from '#platform'
import { GraupelError, show, typeError } from '../errors.js'
import { publish } from '../events.js'
import type { Core, CoreSpec } from './engine.js'
import { faultError } from './fault.js'
import { endLease, JsCore } from './js.js'
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
      `graupel runs on its TypeScript engine: ${loaded.reason}; ${remedyOf(loaded.remedy)}set ${variable}=js to choose it`,
      'GRAUPEL_JS_ENGINE',
    )
  }
  return { kind: 'js', reason: loaded.reason }
}

function remedyOf(remedy: string | undefined): string {
  return remedy === undefined ? '' : `${remedy}, or `
}

let leavesAtExit = false

function openNative(spec: CoreSpec): Core {
  const { open, binding } = requireNative('this generator counts natively')
  const core = open(spec)
  // process.exit() and uncaught errors do not take the environment down, and the files would not get their exact words.
  if (spec.place === 'file' && !leavesAtExit) {
    leavesAtExit = true
    platform.atExit(() => binding.leave())
  }
  // An injected clock is a world of its own in each engine; on the real one, both engines must not count one key.
  if (typeof spec.clock !== 'function') takeOver(spec, core)
  return core
}

/** The native engine counts this key from now on, by the generator that was just opened; the js engine's word, if it has one, is carried over. */
function takeOver(spec: CoreSpec, core: Core): void {
  const shared = stateTable()
  if (typeof shared === 'string') return
  const { binding } = requireNative('this generator counts natively')
  const state = new State(shared, shared.find(spec.key), spec.sequenceBits, spec.maxTick)
  state.moveTo((slot) => {
    if (!binding.raise(slot)) throw core.failure()
  })
  endLease(spec.key)
}

function openJs(spec: CoreSpec): Core {
  const shared = stateTable()
  if (typeof shared === 'string') {
    throw new GraupelError(
      'ERR_STATE_UNREACHABLE',
      `the js engine cannot reach the states of this process from this thread: ${shared}; import 'graupel' in the main thread before it starts workers, or use the native engine`,
    )
  }
  return new JsCore(spec, shared, openTakenOver)
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

/** The table, or why it cannot be reached. */
function stateTable(): StateTable | string {
  if (table !== undefined) return table
  const memory = platform.stateMemory()
  if ('unreachable' in memory) return memory.unreachable
  table = new StateTable(memory)
  return table
}
