import { subscribe } from 'node:diagnostics_channel'
import { defineLayout, type LeaseEvent } from 'graupel'
import { acquireLease, type LeaseOptions } from 'graupel/lease'
import { memoryStore, type Store, type StoreEntry } from 'graupel/stores'
import { freshNamespace } from '../support/engines.js'

/** Two nodes. */
export const layout = defineLayout({
  name: 'pair',
  epochMs: Date.UTC(2025, 0, 1),
  tickMs: 1,
  fields: [
    ['timestamp', 41],
    ['worker', 1],
    ['sequence', 12],
  ],
})

export const sixteenNodes = defineLayout({
  name: 'sixteen',
  epochMs: Date.UTC(2025, 0, 1),
  tickMs: 1,
  fields: [
    ['timestamp', 41],
    ['worker', 4],
    ['sequence', 12],
  ],
})

const events: LeaseEvent[] = []
const listen = (event: unknown) => void events.push(event as LeaseEvent)
subscribe('graupel:lease', listen)
/** The events of a namespace, in order. */
export const eventsOf = (namespace: string) => events.filter((event) => event.namespace === namespace)
export const typesOf = (namespace: string) => eventsOf(namespace).map(({ type }) => type)

/** A lease on a store whose calls fail while `outage.error` is set. */
export async function leaseWith(options: Partial<LeaseOptions<typeof layout.fields>> = {}) {
  const namespace = freshNamespace()
  const inner = options.store ?? memoryStore()
  const outage: { error?: Error } = {}
  const guarded =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A) => {
      if (outage.error !== undefined) throw outage.error
      return call(...args)
    }
  const store: Store = {
    ...inner,
    read: guarded(inner.read),
    list: guarded(inner.list),
    write: guarded(inner.write),
    nowMs: guarded(inner.nowMs ?? (async () => Date.now())),
  }
  const lease = await acquireLease({ layout, namespace, windowMs: 3000, ...options, store })
  return { lease, store, inner, namespace, outage }
}

/** The record of a node in the group of a namespace. */
export async function recordOf(store: Store, namespace: string, node: number): Promise<StoreEntry> {
  for (const { key, value } of await store.list('groups/')) {
    if (!JSON.parse(value).ids.endsWith(namespace)) continue
    const entry = await store.read(`leases/${key.split('/')[1]}/0/${node}`)
    if (entry !== undefined) return entry
  }
  throw new Error(`no record of node ${node}`)
}

/** Writes what another process that has taken the node would have written. */
export async function steal(store: Store, namespace: string, node: number, aheadMs = 10_000): Promise<void> {
  const { key, value, version } = await recordOf(store, namespace, node)
  const record = JSON.parse(value)
  const { ceiling } = record
  const thief = { owner: 'thief', token: 'thief', attempt: 'thief', floor: ceiling, ceiling: ceiling + aheadMs }
  const written = await store.write(key, JSON.stringify({ ...record, ...thief }), version)
  // The holder has renewed meanwhile.
  if (written === undefined) await steal(store, namespace, node, aheadMs)
}
