import { platform } from '#platform'
import { type AutomaticEngine, automaticEngine, requireNative } from './choose.js'

/** The engine that `engine: 'auto'` chooses in this process, and why. */
export interface EngineInfo extends AutomaticEngine {
  /**
   * Whether a copy of the machine that continues with its memory would be noticed (docs/guarantees.md):
   * `'detected'`, a device tells it; `'hooked'`, the program has called `lease.park()` or `lease.resume()`;
   * `'possible'`, the hypervisor can copy this machine, and nothing tells it; `'unknown'`.
   */
  copies: 'detected' | 'hooked' | 'possible' | 'unknown'
  /** Path of the device that tells it; only with `'detected'`. */
  copiesDevice?: string
}

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
  const automatic = automaticEngine()
  return { ...automatic, ...copiesOf(automatic) }
}

function copiesOf({ kind }: AutomaticEngine): Pick<EngineInfo, 'copies' | 'copiesDevice'> {
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
