/** What a generator counts outside its hot path. */
export interface Counters {
  waits: number
  waitedMs: number
  rollbacks: number
  overflows: number
}
