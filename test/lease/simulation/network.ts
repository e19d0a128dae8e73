import { type LeaseRecord, readLease } from '../../../src/lease/record.js'
import { StoreCalls, type Written } from '../../../src/stores/calls.js'
import { storeOf } from '../../simulation/network.ts'
import type { Process } from './process.ts'
import type { World } from './world.ts'

/** Writes of a process, which the judge sees. */
function writesOf(process: Process, world: World) {
  const { server } = world
  return (key: string, value: string, expected: string | undefined) => {
    const before = server.read(key)
    const version = server.write(key, value, expected)
    if (version === undefined) return undefined
    const read = (text: string | undefined): LeaseRecord | undefined =>
      text === undefined ? undefined : readLease({ key, value: text, version }, world.group)
    if (key === world.group.key || key === world.group.lifeKeyOf(0)) {
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
}

/** The calls of the package. They tell the judge the outcome of writes. */
export class WatchedCalls extends StoreCalls {
  readonly #process: Process
  readonly #world: World

  constructor(process: Process, world: World) {
    super(storeOf(process, world, writesOf(process, world)), process, 2000)
    this.#process = process
    this.#world = world
  }

  override async write(...words: Parameters<StoreCalls['write']>): Promise<Written> {
    const { server, judge } = this.#world
    const { losses } = server
    const written = await super.write(...words)
    const [key, value] = words
    // A server that has lost writes meanwhile may again have the version that the write expects.
    if (losses === server.losses) {
      judge.told(this.#process.number, value, written.landed, server.read(key)?.value === value, losses)
    }
    return written
  }
}
