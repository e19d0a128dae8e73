import type { Store } from '../../src/stores/store.js'
import type { Random } from '../support/random.ts'
import type { Server } from './server.ts'

/** The probability of each fault in calls of the store, from 0 to 1. */
export interface CallFaults {
  /** The request never arrives: an error, or no answer at all. */
  readonly lostRequest: number
  /** The store has done the call, and the answer never arrives: an error, or no answer at all. */
  readonly lostReply: number
  /** The client sends a write twice, and returns the answer to the second write. */
  readonly sentTwice: number
  /** A request or an answer is under way for seconds. */
  readonly slow: number
  /** A list is older than the records. */
  readonly staleList: number
  /** The process is stopped right before a request, or right before an answer reaches it. */
  readonly pauseInCall: number
  /** The server fails over, or is flushed, right before it does something. */
  readonly lossInCall: number
}

const settled = Promise.resolve()

/** The process that calls. */
interface Caller {
  readonly number: number
  readonly isCut: boolean
  readonly isStopped: boolean
  pause(when: string): void
  whenAwake(callback: () => void): void
  /** The process has got an answer. */
  issue(): void
}

/** The network between the process and the server. */
interface Surroundings {
  readonly time: { later(callback: () => void, ms: number): unknown }
  readonly server: Server
  readonly random: Random
  readonly shape: { readonly durable: boolean; readonly faults: CallFaults }
  happens(chance: number): boolean
  loseWrites(): void
  note(process: number | undefined, node: number | undefined, text: () => string): void
}

/** Does a write at the server. */
type Write = (key: string, value: string, expected: string | undefined) => string | undefined

/** The store as a process sees it, behind a network that loses and delays. */
export function storeOf(process: Caller, world: Surroundings, write: Write): Store {
  const { time, server, random, shape } = world
  const { faults } = shape
  const latencyMs = () => (world.happens(faults.slow) ? random() * 8000 : random() * 4)

  // Callbacks instead of promises: a world makes hundreds of calls, and waits several times in each.
  const call = <T>(what: string, apply: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      /** Fails at once, or never answers. */
      const lose = (lost: string) => {
        if (random() >= 0.4) reject(new Error(`the ${lost} was lost`))
      }
      const send = () => {
        if (world.happens(faults.lostRequest) || process.isCut || server.isCut) return lose('request')
        const { restores } = server
        time.later(() => {
          // A request to a server that was replaced does not reach the new server.
          if (server.isCut || server.restores !== restores) return lose('request')
          if (world.happens(faults.lossInCall)) world.loseWrites()
          try {
            reply(apply())
          } catch (error) {
            reject(error)
          }
        }, latencyMs())
      }
      const reply = (answer: T) => {
        if (what === 'write' && answer !== undefined && server.isReplicaAway) return lose('reply')
        if (world.happens(faults.lostReply)) {
          world.note(process.number, undefined, () => `gets no answer to ${what}, which was done`)
          return lose('reply')
        }
        const arrive = () => {
          if (world.happens(faults.pauseInCall)) process.pause(`before the answer to ${what} reaches it`)
          process.whenAwake(() => {
            process.issue()
            resolve(answer)
          })
        }
        // Half of the answers come at once: that is less work, and every order still occurs.
        if (random() < 0.5) time.later(arrive, latencyMs())
        else arrive()
      }
      if (world.happens(faults.pauseInCall)) process.pause(`before it calls ${what}`)
      if (process.isStopped) process.whenAwake(send)
      else settled.then(send)
    })
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
    nowMs: (_signal, key) => call('nowMs', () => server.nowMs(key)),
    incarnation: (_signal, key) => call('incarnation', () => `life ${server.lifeOf(key)}`),
  }
}
