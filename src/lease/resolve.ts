import { platform } from '#platform'
import { rangeError, typeError } from '../core/errors.js'
import { type Resolved, readTable } from '../core/options.js'
import { checkLifetime, type Field, type Layout, optionsElsewhere, resolveLayout } from '../layout/index.js'
import type { Store } from '../stores/store.js'
import { chooseNodes, type NodeSet } from './group.js'
import { type LeaseOptions, leaseRows } from './options.js'
import { maxForgottenMs } from './server-life.js'

type Read = Resolved<LeaseOptions, typeof leaseRows>

/** The options of a lease, checked, with their defaults. */
export interface ResolvedLeaseOptions<F extends readonly Field[] = readonly Field[]>
  extends Omit<Read, 'layout' | 'epoch' | 'node' | 'nodes' | 'owner'> {
  readonly layout: Layout<F>
  readonly nodes: NodeSet
  readonly owner: string
}

/** Checks options. @throws TypeError, RangeError by the codes that {@link acquireLease} lists. */
export function resolveLeaseOptions<F extends readonly Field[]>(options: LeaseOptions<F>): ResolvedLeaseOptions<F> {
  const read = readTable(options, leaseRows, '{ store }', optionsElsewhere)
  const { epoch, node, nodes, owner = platform.processName(), ...others } = read
  const layout = resolveLayout({ layout: read.layout, epoch })
  checkLifetime(layout, platform.wallMs())
  checkWindow(read.windowMs, layout, read.store)
  if (read.strict) checkStrict(read, layout)
  return { ...others, owner, layout, nodes: chooseNodes(layout, node, nodes) }
}

/**
 * A store that forgets a record lets another lease take the node while the holder still answers. A lease that
 * waits for its floor for a window, because the store's clock is ahead, would lose its node meanwhile. The
 * ids of a node ascend if the timestamp is their first field and no tag is above the sequence.
 */
function checkStrict(
  { store, windowMs, maxClockSkewMs }: Pick<ResolvedLeaseOptions, 'store' | 'windowMs' | 'maxClockSkewMs'>,
  { name, placements, tagFields, sequence }: Pick<Layout, 'name' | 'placements' | 'tagFields' | 'sequence'>,
): void {
  if (!store.durable) {
    throw typeError(
      'ERR_OPTION_INVALID',
      `strict is true, and the store '${store.name}' may forget what it has acknowledged, so the order could be wrong; use a durable store, or pass assumeDurable: true (--assume-durable) if it never forgets`,
      'strict',
    )
  }
  const [first] = placements
  if (first?.name !== 'timestamp') {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `strict is true, and the ids of layout '${name}' begin with the ${first?.name}, so later ids may be smaller; pass a layout that begins with the timestamp`,
      'layout',
    )
  }
  const tag = tagFields.find(({ shift }) => shift > sequence.shift)
  if (tag !== undefined) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `strict is true, and the tag '${tag.name}' of layout '${name}' is above its sequence, so later ids of a tick may be smaller; pass a layout whose tags are below the sequence`,
      'layout',
    )
  }
  if (windowMs >= 2 * maxClockSkewMs) return
  throw rangeError(
    'ERR_OPTION_INVALID',
    `windowMs is ${windowMs}, and maxClockSkewMs ${maxClockSkewMs}; with strict, pass a window of at least twice maxClockSkewMs`,
    'windowMs',
  )
}

function checkWindow(windowMs: number, { name, tickMs }: Layout, store: Store): void {
  if (windowMs < 3 * tickMs) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `windowMs is ${windowMs}, and a tick of layout '${name}' has ${tickMs} ms; pass at least three ticks`,
      'windowMs',
    )
  }
  if (!store.durable && windowMs > maxForgottenMs) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `windowMs is ${windowMs}, and the store '${store.name}' may forget what it has acknowledged; pass at most ${maxForgottenMs}, or if it never forgets, assumeDurable: true to the store, or --assume-durable to a graupel-server`,
      'windowMs',
    )
  }
}
