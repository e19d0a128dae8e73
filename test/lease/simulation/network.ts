import { type LeaseRecord, readLease } from '../../../src/lease/record.js'
import { StoreCalls, type Written } from '../../../src/stores/calls.js'
import type { Timing } from '../../../src/stores/deadline.js'
import type { Store } from '../../../src/stores/store.js'
import type { Process } from './process.ts'
import type { World } from './world.ts'

/** The store as one process sees it: far away, behind a network that loses and delays. */
function storeOf(process: Process, world: World): Store {
  const { time, server, random, shape } = world
  const { faults } = shape
  const latencyMs = () => (world.happens(faults.slow) ? random() * 8000 : random() * 4)

  /** Fails at once, or never answers. */
  const lose = (what: string): Promise<never> => {
    if (random() < 0.4) return new Promise(() => {})
    return Promise.reject(new Error(`the ${what} was lost`))
  }
  const call = async <T>(what: string, apply: () => T): Promise<T> => {
    if (world.happens(faults.pauseInCall)) process.pause(`before it calls ${what}`)
    await process.awake()
    if (world.happens(faults.lostRequest) || process.isCut || server.isCut) return lose('request')
    await time.sleep(latencyMs())
    if (server.isCut) return lose('request')
    if (world.happens(faults.lossInCall)) world.loseWrites()
    const answer = apply()
    if (world.happens(faults.lostReply)) {
      world.note(process.number, undefined, () => `gets no answer to ${what}, which was done`)
      return lose('reply')
    }
    // Half of the answers come at once: less work, and all orders are still there.
    if (random() < 0.5) await time.sleep(latencyMs())
    if (world.happens(faults.pauseInCall)) process.pause(`before the answer to ${what} reaches it`)
    await process.awake()
    process.issue()
    return answer
  }
  const write = (key: string, value: string, expected: string | undefined) => {
    const before = server.read(key)
    const version = server.write(key, value, expected)
    if (version === undefined) return undefined
    const read = (text: string | undefined): LeaseRecord | undefined =>
      text === undefined ? undefined : readLease({ key, value: text, version }, world.group)
    if (key === world.group.key) {
      world.judge.applied(process.number, value, server.losses)
      world.note(process.number, undefined, () => `notes that the server lives its life ${server.life}`)
    } else {
      const node = Number(key.slice(key.lastIndexOf('/') + 1))
      const after = read(value) as LeaseRecord
      world.judge.applied(process.number, value, server.losses, node, read(before?.value), after)
      const { floor, ceiling, isReleased } = after
      world.note(
        process.number,
        node,
        () => `its write lands: [${floor}, ${ceiling})${isReleased ? ', given back' : ''}`,
      )
    }
    return version
  }
  return {
    name: 'simulated',
    durable: shape.durable,
    read: (key) => call('read', () => server.read(key)),
    list: (folder) => call('list', () => server.list(folder, world.happens(faults.staleList))),
    write: (key, value, expected) =>
      call('write', () => {
        const version = write(key, value, expected)
        return world.happens(faults.sentTwice) ? write(key, value, expected) : version
      }),
    nowMs: () => call('nowMs', () => server.nowMs()),
    incarnation: () => call('incarnation', () => `life ${server.life}`),
  }
}

/** The calls as they are shipped; the judge hears what they say of writes. */
export class WatchedCalls extends StoreCalls {
  readonly #process: Process
  readonly #world: World

  constructor(process: Process, world: World, timing: Timing) {
    super(storeOf(process, world), timing, 2000, world.random)
    this.#process = process
    this.#world = world
  }

  override async write(...words: Parameters<StoreCalls['write']>): Promise<Written> {
    const { server, judge } = this.#world
    const { losses } = server
    const written = await super.write(...words)
    const [key, value] = words
    // A server that has lost writes meanwhile may have brought back what the write expects.
    if (losses === server.losses) {
      judge.told(this.#process.number, value, written.landed, server.read(key)?.value === value, losses)
    }
    return written
  }
}
