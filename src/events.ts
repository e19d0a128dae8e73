import { platform } from '#platform'

/** What `graupel:rollback` and `graupel:overflow` of `node:diagnostics_channel` publish. */
export interface AheadEvent {
  type: 'rollback' | 'overflow'
  /** Name of the layout. */
  layout: string
  namespace: string
  node: number
  /** What the clock shows, in milliseconds since 1970. */
  nowMs: number
  /** Milliseconds the clock is behind the latest time it has shown; 0 for an overflow. */
  rollbackMs: number
  /** Milliseconds from the clock to the next id that is free. */
  aheadMs: number
}

/** What `graupel:engine` publishes, once, when the engine has been chosen. */
export interface EngineEvent {
  kind: 'native' | 'js'
  file?: string
  reason?: string
}

interface Events {
  rollback: AheadEvent
  overflow: AheadEvent
  engine: EngineEvent
}

/** Publishes on `graupel:<name>`, where the platform has channels. Never called for an id that was simply made. @internal */
export function publish<N extends keyof Events>(name: N, event: Events[N]): void {
  const channel = platform.channel(`graupel:${name}`)
  if (channel?.hasSubscribers) channel.publish(event)
}
