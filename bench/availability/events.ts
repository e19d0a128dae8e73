/** An event of a store, and how long it lasts. Without `seconds` it lasts as long as the server needs. */
export interface Event {
  readonly title: string
  readonly seconds?: number
  /** How often it is measured. */
  readonly repeats: number
}

export const events = {
  restart: { title: 'restart', repeats: 3 },
  kill: { title: '`kill -9` and start', repeats: 3 },
  pause: { title: 'pause of 10 s', seconds: 10, repeats: 3 },
  failover: { title: 'failover', repeats: 3 },
  'partition-30s': { title: 'partition of 30 s', seconds: 30, repeats: 3 },
  'partition-5m': { title: 'partition of 5 min', seconds: 300, repeats: 1 },
  'partition-45m': { title: 'partition of 45 min', seconds: 2700, repeats: 1 },
} as const satisfies Readonly<Record<string, Event>>

export type EventName = keyof typeof events
export const eventNames = Object.keys(events) as EventName[]
