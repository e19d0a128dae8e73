import { platform } from '#platform'
import { isNodeUnique } from '../engine/source/environment.js'
import type { Layout } from '../layout/index.js'

let isContainerChecked = false

/**
 * Warns if another container of this host may have the node. A node of one process is not for this: with
 * `state: 'process'`, the program says that no other process has the node.
 *
 * @throws TypeError `ERR_OPTION_INVALID` if `GRAUPEL_NODE_UNIQUE` is not 1
 */
export function warnInContainer({ nodeFields }: Layout, node: number): void {
  if (isContainerChecked || nodeFields.length === 0) return
  const isUnique = isNodeUnique()
  isContainerChecked = true
  const sign = isUnique ? undefined : platform.containerSign()
  if (sign === undefined) return
  platform.warnOnce(
    `node ${node} was given by hand in a container (${sign}), and another container with this node makes equal ids, also on this host; lease a node (docs/leases.md), or set GRAUPEL_NODE_UNIQUE=1 if no other container has it (docs/nodes.md)`,
    'GRAUPEL_CONTAINER_NODE',
  )
}

const yearMs = 365.25 * 24 * 3600 * 1000

const warned = new Set<string>()

/** Warns if the layout expires within a year. */
export function warnOfExpiry(layout: Layout, nowMs: number): void {
  if (layout.expiresAt.getTime() - nowMs >= yearMs) return
  const message = `layout '${layout.name}' expires on ${layout.expiresAt.toISOString()}; no id can be made from then on. Plan the move to a later epoch.`
  if (warned.has(message)) return
  warned.add(message)
  platform.warn(message, 'GRAUPEL_LAYOUT_EXPIRES')
}
