import type { Known } from '../../simulation/noticed.ts'
import type { Setting } from './shape.ts'

/** A defect, and the worlds that show the defect best. */
export type Shown = Known & Setting

const source = 'segments/store-source.ts'
const prefetcher = 'numbers/prefetcher.ts'
const memory = 'segments/memory.ts'
const run = 'segments/run.ts'
const range = 'segments/range.ts'
const calls = 'stores/calls.ts'
const durable = { durable: true }
const forgetful = { durable: false }
const oldVersion = 'if (found?.version !== expected) return { landed: false, found }'

// No defect leaves out the read of the incarnation before the record, because a record of an older life shows
// its age.
export const mutations: Shown[] = [
  {
    defect: 'the incarnation is not read again after the write',
    seed: 46,
    file: source,
    from: 'written.landed && (await this.#incarnation(key, signal)) === incarnation',
    to: 'written.landed',
    ...forgetful,
    faults: { lossInCall: 0.1, failover: 4 },
  },
  {
    defect: 'the incarnation is ignored',
    seed: 42,
    file: source,
    from: 'record !== undefined && record.incarnation !== incarnation',
    to: 'false',
    ...forgetful,
    faults: { failover: 4 },
  },
  {
    defect: 'there is no gap',
    seed: 14,
    file: source,
    from: '? failoverGap : 0n',
    to: '? 0n * failoverGap : 0n',
    ...forgetful,
    faults: { failover: 4 },
  },
  {
    defect: 'what a process knows of the record is ignored',
    seed: 3,
    file: source,
    from: 'const hasForgotten = next < this.#known',
    to: 'const hasForgotten = false',
    ...durable,
    faults: { restore: 6, crash: 0 },
    shape: { processes: 2, steps: 30 },
  },
  {
    defect: 'a process knows nothing of the record',
    seed: 16,
    file: source,
    from: 'this.#known = next',
    to: '',
    ...durable,
    faults: { restore: 4, crash: 0 },
  },
  {
    defect: 'the record is one number short',
    seed: 1,
    file: source,
    from: 'lastOf(segment, range) + 1n',
    to: 'lastOf(segment, range)',
    ...durable,
  },
  {
    defect: 'a segment whose write did not land is used',
    seed: 1,
    file: source,
    from: 'if (written.landed &&',
    to: 'if (',
    ...durable,
  },
  {
    defect: 'the record counts numbers without their stride',
    seed: 1,
    file: range,
    from: 'return first + BigInt(count - 1) * BigInt(stride)',
    to: 'return first + BigInt(count - 1 + 0 * stride)',
    ...durable,
  },
  {
    defect: 'a segment goes on after the largest number',
    seed: 46,
    file: range,
    from: 'left < BigInt(count) ? Number(left) : count',
    to: 'left < 0n ? Number(left) : count',
    ...durable,
  },
  {
    defect: 'a segment is fetched while there is no room',
    seed: 84,
    file: memory,
    from: 'return segments < 2n || this.#read(segments).to <= this.#load(words.taken)',
    to: 'return segments < 2n || this.#read(segments).to >= 0n',
    ...durable,
  },
  {
    defect: 'several segments are fetched at once',
    seed: 1,
    file: prefetcher,
    from: 'if (this.#isFetching || this.#stop.signal.aborted',
    to: 'if (this.#stop.signal.aborted',
    ...durable,
  },
  {
    defect: 'a segment that did not come is not tried again',
    seed: 1,
    file: prefetcher,
    from: 'this.#cancelPause = clock.background(again, pauseMs * (0.5 + clock.random() / 2))',
    to: 'void [again, clock]',
    ...durable,
  },
  {
    defect: 'calls that wait are not told',
    seed: 1,
    file: prefetcher,
    from: 'this.#news.settle(failure)',
    to: '',
    ...durable,
  },
  {
    defect: 'numbers beyond 32 bits go on without their stride',
    seed: 10,
    file: run,
    from: 'first + BigInt(ready) * BigInt(this.#stride)',
    to: 'first + BigInt(ready)',
    ...durable,
    shape: { burst: 12 },
  },
  {
    defect: 'an attempt expects what the one before has found',
    seed: 1,
    file: calls,
    from: oldVersion,
    to: 'expected = found?.version',
    ...durable,
  },
  {
    defect: 'whatever came after the expected version is taken for our own',
    seed: 1,
    file: calls,
    from: oldVersion,
    to: 'if (found !== undefined && found.version !== expected) return { landed: true, version: found.version }',
    ...durable,
  },
]
