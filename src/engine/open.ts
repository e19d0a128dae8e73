import { platform } from '#platform'
import type { PageLink } from '../state/claims.js'
import type { Core, CoreSpec } from '../state/engine.js'
import { type EngineKind, requireNative } from './choose.js'
import { readGeneration } from './generation.js'
import { JsCore } from './js/core.js'
import { ClaimedError } from './native/fault.js'
import { checkEngine, useEngine } from './process-engine.js'
import { SlotClock } from './slots.js'
import { statesFor } from './states.js'

/** How often a key is opened anew. Opening fails only if another process has made a link of the claim. */
const maxOpenings = 100

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
  checkEngine(kind)
  const core = openUnasked(kind, spec)
  try {
    // Now that the core is open: an engine that cannot open any does not stay.
    useEngine(kind)
  } catch (error) {
    core.close()
    throw error
  }
  return core
}

/**
 * Opens a core that makes no ids, such as one that seals a state. It does not decide the engine of the
 * process. @internal
 */
export function openUnasked(kind: EngineKind, spec: CoreSpec): Core {
  if (kind === 'native') return openNative(spec)
  const states = statesFor(spec)
  // Lets the table have the present generation.
  readGeneration()
  return JsCore.open(spec, states, reopenJs)
}

// One function for all cores of an engine: a function for each would be a tenth of a generator's memory.
const reopenJs = (spec: CoreSpec) => openUntraced('js', spec)
const reopenNative = (spec: CoreSpec) => openUntraced('native', spec)

/** Reads the clock of generators without a `clock` function; milliseconds since 1970. @internal */
export function clockMs(kind: EngineKind): number {
  return kind === 'native' ? requireNative().binding.wallMs() : platform.wallMs()
}

function openNative(spec: CoreSpec): Core {
  const { binding } = requireNative()
  const core = openBesideClaim(spec)
  // process.exit() and uncaught errors do not tear the environment down, so nothing else writes the exact
  // words to the files.
  if (spec.state.kind === 'file' && !closesFilesAtExit) {
    closesFilesAtExit = true
    platform.atExit(() => binding.closeFiles())
  }
  return core
}

/** Opens a key natively. If the key has a claim, the claim first leaves the key to the page. */
function openBesideClaim(spec: CoreSpec): Core {
  let link: PageLink | undefined
  for (let openings = 1; ; openings++) {
    try {
      return requireNative().open(spec, link, reopenNative)
    } catch (error) {
      if (!(error instanceof ClaimedError) || platform.claims === undefined || openings === maxOpenings) throw error
      const nowMs = typeof spec.clock === 'function' ? spec.clock : platform.wallMs
      link = platform.claims.giveToPage(error.path, spec, new SlotClock(spec, nowMs))
    }
  }
}
