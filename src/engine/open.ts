import { platform } from '#platform'
import { type EngineKind, requireNative } from './choose.js'
import type { PageStep } from './claims.js'
import type { Core, CoreSpec } from './engine.js'
import { ClaimedError } from './fault.js'
import { JsCore } from './js/core.js'
import { SlotClock } from './js/slot-clock.js'
import { keepEngine, refuseOther } from './kept-engine.js'
import { statesFor } from './states.js'

/** Attempts to open a key. An attempt fails only if another process has made a step of the claim. */
const maxAttempts = 100

let closesFilesAtExit = false

/**
 * Opens a generator's access to an engine that `chooseEngine` gave.
 *
 * @throws GraupelError `ERR_STATE_UNREACHABLE` if the other engine counts the key; what the engine throws
 * @internal
 */
export function openCore(kind: EngineKind, spec: CoreSpec): Core {
  const reopen = (spec: CoreSpec) => openCore(kind, spec)
  refuseOther(spec, kind)
  const core = kind === 'native' ? openNative(spec, reopen) : new JsCore(spec, statesFor(spec), reopen)
  try {
    keepEngine(spec, kind)
  } catch (error) {
    core.close()
    throw error
  }
  return core
}

/** What the clock of generators without a `clock` function shows; milliseconds since 1970. @internal */
export function clockMs(kind: EngineKind): number {
  return kind === 'native' ? requireNative().binding.wallMs() : platform.wallMs()
}

function openNative(spec: CoreSpec, reopen: (spec: CoreSpec) => Core): Core {
  const { binding } = requireNative()
  const core = openBesideClaim(spec, reopen)
  // process.exit() and uncaught errors do not take the environment down, and the files would not get their exact words.
  if (spec.bound === 'file' && !closesFilesAtExit) {
    closesFilesAtExit = true
    platform.atExit(() => binding.closeFiles())
  }
  return core
}

/** Opens a key natively. A claim of the key leaves the key to the page first. */
function openBesideClaim(spec: CoreSpec, reopen: (spec: CoreSpec) => Core): Core {
  let step: PageStep | undefined
  for (let attempts = 1; ; attempts++) {
    try {
      return requireNative().open(spec, step, reopen)
    } catch (error) {
      if (!(error instanceof ClaimedError) || platform.claims === undefined || attempts === maxAttempts) throw error
      const { key, description } = spec
      const nowMs = typeof spec.clock === 'function' ? spec.clock : platform.wallMs
      step = platform.claims.giveToPage(error.path, { key, description, owner: '' }, new SlotClock(spec, nowMs))
    }
  }
}
