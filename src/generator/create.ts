import { readGeneration } from '../engine/generation.js'
import { clockMs, openCore } from '../engine/open.js'
import { coreSpec } from '../engine/source/core-spec.js'
import { LeasedNode } from '../engine/source/leased-node.js'
import { GivenNode } from '../engine/source/node-source.js'
import { checkLifetime, type Field, type layouts } from '../layout/index.js'
import { Generator } from './generator.js'
import type { GeneratorOf, IdGenerator, NumbersOf, TagsOf } from './id-generator.js'
import type { GeneratorOptions } from './options.js'
import { resolveOptions } from './resolve.js'
import { warnInContainer, warnOfExpiry } from './warnings.js'

/**
 * Makes a generator. All generators with the same namespace, layout and node share one state, in all threads
 * and processes of this user on this host, so their ids are distinct. On the js engine a second process is
 * refused. The option `state` says which threads and processes share a state.
 *
 * The first generator decides which engine makes the ids of the process for its life. A generator with the
 * other engine is refused.
 *
 * The call may block until the next tick, if the state begins with that tick, and until a state file is
 * unlocked; each for at most `openTimeoutMs`.
 *
 * @param options - `node` is required, or `GRAUPEL_NODE` in the environment; {@link GeneratorOptions}
 * describes all.
 * @throws TypeError `ERR_OPTION_UNKNOWN`, `ERR_NODE_REQUIRED`, `ERR_LAYOUT_INVALID`; TypeError, RangeError
 * `ERR_OPTION_INVALID`, `ERR_NODE_INVALID`, `ERR_CLOCK_INVALID`; RangeError `ERR_EPOCH_INVALID`,
 * `ERR_LAYOUT_DECODE_ONLY`; GraupelError `ERR_CLOCK_BEFORE_EPOCH`, `ERR_LAYOUT_EXPIRED`,
 * `ERR_NATIVE_UNAVAILABLE`, `ERR_STATE_UNREACHABLE`, `ERR_STATE_UNAVAILABLE`, `ERR_STATE_UNSAFE`,
 * `ERR_STATE_MISMATCH`, `ERR_STATE_CORRUPT`, `ERR_STATE_FULL`.
 * @example
 * const ids = createGenerator({ node: { datacenter: 1, worker: 7 } })
 * ids.next() // a bigint
 */
export function createGenerator<const F extends readonly Field[] = layouts.Twitter>(
  options: GeneratorOptions<F> = {},
): GeneratorOf<F> {
  return createSeeded(options) as unknown as GeneratorOf<F>
}

/** Makes a generator. @param seed - The seed for `sequenceStart: 'random'`; random by default. @internal */
export function createSeeded<const F extends readonly Field[] = layouts.Twitter>(
  given: GeneratorOptions<F>,
  seed?: number,
): IdGenerator<F> {
  const options = resolveOptions(given, seed)
  const { layout, clock, engine, origin } = options
  const nowMs = typeof clock === 'function' ? clock() : clockMs(engine)
  checkLifetime(layout, nowMs)
  if (typeof clock !== 'function') warnOfExpiry(layout, nowMs)
  if (typeof origin === 'number') {
    if ((options.state.kind === 'host' || options.state.kind === 'file') && typeof clock !== 'function')
      warnInContainer(layout, origin)
    const spec = coreSpec(options, origin, nowMs, readGeneration(engine))
    return narrowed(new Generator(openCore(engine, spec), options, new GivenNode(origin)))
  }
  const source = new LeasedNode(origin, engine, options, nowMs)
  return narrowed(new Generator(source.core, options, source))
}

/** Gives a generator the type that its layout has: `nextNumber` is there for layouts of at most 53 bits. */
function narrowed<F extends readonly Field[]>(ids: Generator<F>): IdGenerator<F> {
  return ids as unknown as Generator<F> & NumbersOf<F> & TagsOf<F>
}
