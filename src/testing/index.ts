import { platform } from '#platform'
import { show, typeError } from '../core/errors.js'
import type { Instant } from '../core/moment.js'
import { type Rows, readTable } from '../core/options.js'
import { JsCore } from '../engine/js/core.js'
import { ThreadStates } from '../engine/js/thread-states.js'
import { coreSpec } from '../engine/source/core-spec.js'
import { GivenNode } from '../engine/source/node-source.js'
import { Generator } from '../generator/generator.js'
import type { GeneratorOf } from '../generator/id-generator.js'
import { type ResolvedOptions, resolveOptions } from '../generator/resolve.js'
import {
  checkLifetime,
  type Field,
  type Layout,
  type layouts,
  type NodeOf,
  optionsElsewhere,
  resolveLayout,
} from '../layout/index.js'
import type { Core, CoreSpec } from '../state/engine.js'
import { StateTable } from '../state/table.js'

export type { AheadEvent } from '../platform/events.js'

/**
 * The options of {@link testGenerator}, with the meaning that they have for `createGenerator`.
 *
 * @example
 * testGenerator({ node: 7, clock: () => Date.UTC(2030, 0, 1) })
 */
export interface TestGeneratorOptions<F extends readonly Field[] = readonly Field[]> {
  /** The fields of an id and their widths. @default layouts.twitter */
  layout?: Layout<F>
  /**
   * The time of timestamp 0: milliseconds since 1970, a Date or a `Temporal.Instant`; in the past. @default
   * the layout's
   */
  epoch?: Date | Instant | number
  /** One number over all node fields of the layout, or a number for each field. @default 0 */
  node?: NodeOf<F>
  /**
   * Returns milliseconds since 1970. `() => Date.now()` follows the fake timers of a test runner.
   *
   * @default stands at 2026-01-01T00:00:00.000Z, or at the epoch of the layout if that is later
   */
  clock?: () => number
}

/**
 * A generator for tests, made by {@link testGenerator}.
 *
 * @example
 * const ids = testGenerator()
 * ids.reset()
 */
export type TestGenerator<F extends readonly Field[] = readonly Field[]> = GeneratorOf<F> & {
  /**
   * Begins again: the next id is the first id of a new generator. Needs no `this`: `beforeEach(ids.reset)`.
   */
  reset(this: void): void
}

const rows = {
  node: { byDefault: 0 },
  layout: {},
  epoch: {},
  clock: { read: clockFunction },
} satisfies Rows<TestGeneratorOptions>

function clockFunction(name: string, value: unknown): () => number {
  if (typeof value === 'function') return value as () => number
  throw typeError(
    'ERR_OPTION_INVALID',
    `${name} is ${show(value)}; pass a function that returns milliseconds since 1970`,
    name,
  )
}

/**
 * Makes a generator for tests: its ids are the same in each run. Each generator counts by itself, from the
 * first id of the time that `clock` shows. If the ids of a tick are used up, or the clock goes back, it
 * counts on ahead of the clock, and never waits.
 *
 * Its ids are not distinct from those of other generators. It runs on the js engine, without a binary. It
 * reads neither `GRAUPEL_ENGINE` nor `GRAUPEL_NODE`.
 *
 * @throws TypeError `ERR_OPTION_UNKNOWN`, `ERR_LAYOUT_INVALID`; TypeError, RangeError `ERR_OPTION_INVALID`,
 * `ERR_NODE_INVALID`, `ERR_CLOCK_INVALID`; RangeError `ERR_EPOCH_INVALID`; GraupelError
 * `ERR_CLOCK_BEFORE_EPOCH`, `ERR_LAYOUT_EXPIRED`.
 * @example
 * const ids = testGenerator()
 * ids.next() // 2006515713438646272n
 * ids.next() // 2006515713438646273n
 * ids.reset()
 * ids.next() // 2006515713438646272n
 */
export function testGenerator<const F extends readonly Field[] = layouts.Twitter>(
  options: TestGeneratorOptions<F> = {},
): TestGenerator<F> {
  const read = readTable(options, rows, '{ node: 7 }', optionsElsewhere)
  const layout = resolveLayout(read)
  const startMs = Math.max(Date.UTC(2026, 0, 1), layout.epochMs)
  const { node, clock = () => startMs } = read
  const resolved = resolveOptions<F>({
    layout,
    node,
    clock,
    engine: 'js',
    state: 'thread',
    onOverflow: 'advance',
    maxAheadMs: Number.MAX_SAFE_INTEGER,
  })
  const ids = new ResettableGenerator(resolved, resolved.origin as number)
  return ids as unknown as TestGenerator<F>
}

class ResettableGenerator<F extends readonly Field[]> extends Generator<F> {
  readonly reset: () => void

  constructor(options: ResolvedOptions<F>, node: number) {
    const core = open(freshSpec(options, node))
    const source = new GivenNode(node)
    super(core, options, source)
    this.reset = () => {
      core.moveTo(freshSpec(options, node))
      this.follow()
      source.views?.follow()
    }
  }
}

/** Describes a state that no other generator has. */
function freshSpec(options: ResolvedOptions, node: number): CoreSpec {
  const { layout, clock } = options
  const nowMs = (clock as () => number)()
  checkLifetime(layout, nowMs)
  // In a table of its own, whose generation stays 0: ids of tests may be equal in a copy of the machine.
  return coreSpec({ ...options, namespace: 'graupel/testing' }, node, nowMs, 0)
}

/** Bytes enough for the table of one state. */
const tableBytes = 32 * 1024

/**
 * Opens a state in memory of its own, which goes with the generator: a suite may make and reset many
 * thousands.
 */
function open(spec: CoreSpec): Core {
  const table = new StateTable(new ArrayBuffer(tableBytes))
  return JsCore.open(spec, new ThreadStates(table, { ...platform, claims: undefined }), open)
}
