import { platform } from '#platform'

/** What the channels `graupel:rollback` and `graupel:overflow` of `node:diagnostics_channel` publish. */
export interface AheadEvent {
  type: 'rollback' | 'overflow'
  /** Name of the layout. */
  layout: string
  namespace: string
  node: number
  /** What the clock shows, in milliseconds since 1970. */
  nowMs: number
  /** Milliseconds by which the clock is behind the latest time it has shown; 0 for an overflow. */
  rollbackMs: number
  /** Milliseconds from the clock to the next id that is free. */
  aheadMs: number
}

/** What the channel `graupel:engine` publishes, once, when the engine was chosen. */
export interface EngineEvent {
  kind: 'native' | 'js'
  file?: string
  reason?: string
}

/** What the channel `graupel:lease` publishes. */
export interface LeaseEvent {
  /**
   * `acquired`; `waiting` until a time, before it is acquired or moves; `renewed late`, when two thirds of the window had passed;
   * `unreachable`, when a renewal fails after one that did not; `expired`, when the window has passed without a renewal; `lost`, when
   * another has the node; `moved` to a node, which may be the same one; `released`; `ended`, when it was lost for good.
   */
  type: 'acquired' | 'waiting' | 'renewed late' | 'unreachable' | 'expired' | 'lost' | 'moved' | 'released' | 'ended'
  /** Name of the store. */
  store: string
  /** Name of the layout. */
  layout: string
  namespace: string
  node: number
  /** Ids stay before this time; milliseconds since 1970. */
  ceilingMs: number
  /** With `waiting`: milliseconds since 1970. */
  untilMs?: number
  /** With `unreachable` and `ended`. */
  error?: Error
}

/** What the channel `graupel:segments` publishes. */
export interface SegmentsEvent {
  /** `failed`: an attempt to fetch a segment has failed. `skipped`: the store may have forgotten numbers, so some are left out. */
  type: 'failed' | 'skipped'
  /** Name of the store. */
  store: string
  /** What is numbered. */
  name: string
  /** With `failed`. */
  error?: Error
  /** With `skipped`: the first number, and how many. */
  from?: bigint
  count?: bigint
}

interface Events {
  lease: LeaseEvent
  segments: SegmentsEvent
  rollback: AheadEvent
  overflow: AheadEvent
  engine: EngineEvent
}

/** Publishes on `graupel:<name>`, where the platform has channels. Not called on the hot path. @internal */
export function publish<N extends keyof Events>(name: N, event: Events[N]): void {
  const channel = platform.channel(`graupel:${name}`)
  if (channel?.hasSubscribers) channel.publish(event)
}
