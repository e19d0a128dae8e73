import { platform } from '#platform'

/**
 * The message of the channels `graupel:rollback` and `graupel:overflow` of `node:diagnostics_channel`.
 *
 * @example
 * import { subscribe } from 'node:diagnostics_channel'
 * subscribe('graupel:rollback', ({ node, rollbackMs }) => {
 *   console.warn(`node ${node}: the clock is ${rollbackMs} ms behind`)
 * })
 */
export interface AheadEvent {
  /** Why the next id is ahead of the clock: the clock stepped back, or the ids of a tick are used up. */
  type: 'rollback' | 'overflow'
  /** Name of the layout. */
  layout: string
  /** The namespace of the generator. */
  namespace: string
  /** The node of the generator. */
  node: number
  /** The time of the clock, in milliseconds since 1970. */
  nowMs: number
  /** Milliseconds by which the clock is behind the latest time it has shown; 0 for an overflow. */
  rollbackMs: number
  /** Milliseconds from the clock to the next id that is free. */
  aheadMs: number
}

/**
 * The message of the channel `graupel:observed`: an id that was observed is ahead of this host's clock.
 *
 * @example
 * import { subscribe } from 'node:diagnostics_channel'
 * subscribe('graupel:observed', ({ type, id, aheadMs }) => {
 *   console.warn(`id ${id} is ${aheadMs} ms ahead: ${type}`)
 * })
 */
export interface ObservedEvent {
  /** `ahead`: the next ids are above the id. `refused`: it is too far ahead, and nothing has changed. */
  type: 'ahead' | 'refused'
  /** Name of the layout. */
  layout: string
  /** The namespace of the generator. */
  namespace: string
  /** The node of the generator. */
  node: number
  /** The time of the clock, in milliseconds since 1970. */
  nowMs: number
  /** The id. */
  id: bigint
  /** Milliseconds from the clock to the time of the id. */
  aheadMs: number
}

/** The message of the channel `graupel:engine`, which publishes once, when the engine was chosen. */
export interface EngineEvent {
  /** The engine. */
  kind: 'native' | 'js'
  /** Path of the native engine's binary; only with `'native'`. */
  file?: string
  /** Why the native engine was not chosen; only with `'js'`. */
  reason?: string
}

/** The message of the channel `graupel:lease`. */
export interface LeaseEvent {
  /**
   * The change:
   *
   * - `acquired`
   * - `waiting`, until a time: before the lease is acquired or moves
   * - `standby`: another lease has the node that this strict lease waits for; `holder` is its owner
   * - `late`: a renewal came after two thirds of the window
   * - `unreachable`: a renewal failed after a renewal that did not
   * - `expired`: the window has passed without a renewal
   * - `lost`: another process has the node
   * - `copied`: this machine is a copy, and leaves the node to the original
   * - `parked`, with `error` if the store could not be told
   * - `moved` to a node, perhaps the same node
   * - `released`, with `error` if the store could not be told: the node is free when its window has passed
   * - `ended`, with `error`: no other node was free, or a record is damaged or of another version
   */
  type:
    | 'acquired'
    | 'waiting'
    | 'standby'
    | 'late'
    | 'unreachable'
    | 'expired'
    | 'lost'
    | 'copied'
    | 'parked'
    | 'moved'
    | 'released'
    | 'ended'
  /** Name of the store. */
  store: string
  /** Name of the layout. */
  layout: string
  /** The namespace of the lease. */
  namespace: string
  /** The node that the lease has, or had last. Not with `waiting` and `standby` before the first node. */
  node?: number
  /**
   * Ids stay before this time; milliseconds since 1970. Not with `waiting` and `standby` before the first
   * node.
   */
  ceilingMs?: number
  /**
   * The place of the records: server, database, schema, table or prefix. Only with `acquired` and `moved`, if
   * the store can tell it.
   */
  place?: string
  /** The end of the wait, in milliseconds since 1970; only with `waiting`. */
  untilMs?: number
  /** The `owner` of the lease that has the node; only with `standby`. */
  holder?: string
  /** The error of the store; only with `unreachable`, `ended`, `parked` and `released`. */
  error?: Error
}

/** The message of the channel `graupel:segments`. */
export interface SegmentsEvent {
  /**
   * `failed`: an attempt to fetch a segment has failed. `skipped`: the store may have forgotten numbers, so
   * some are left out.
   */
  type: 'failed' | 'skipped'
  /** Name of the store. */
  store: string
  /** The name of the numbers. */
  name: string
  /** Why the attempt has failed; only with `failed`. */
  error?: Error
  /** The first number that is left out; only with `skipped`. */
  from?: bigint
  /** How many numbers are left out; only with `skipped`. */
  count?: bigint
}

interface Events {
  lease: LeaseEvent
  segments: SegmentsEvent
  rollback: AheadEvent
  overflow: AheadEvent
  observed: ObservedEvent
  engine: EngineEvent
}

/** Whether the program listens to `graupel:<name>`. @internal */
export function isHeard(name: keyof Events): boolean {
  return platform.channel(`graupel:${name}`)?.hasSubscribers === true
}

/** Publishes on `graupel:<name>`, if the platform has channels. Not called on the hot path. @internal */
export function publish<N extends keyof Events>(name: N, event: Events[N]): void {
  const channel = platform.channel(`graupel:${name}`)
  if (channel?.hasSubscribers) channel.publish(event)
}
