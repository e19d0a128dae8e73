import { GraupelError } from '../../../src/core/errors.js'
import { readLease } from '../../../src/lease/record.js'
import { StoreCalls, type Written } from '../../../src/stores/calls.js'
import type { Store } from '../../../src/stores/store.js'
import { storeOf } from '../../simulation/network.ts'
import type { Process } from './process.ts'
import type { World } from './world.ts'

/** Writes of a process, which the judge sees. */
function writesOf(process: Process, world: World) {
  const { server } = world
  return (key: string, value: string, expected: string | undefined) => {
    if (world.isLocked(key, process)) throw new Error('the record is locked')
    const { transaction } = process
    const before = transaction?.get(key) ?? server.read(key)
    const version = transaction === undefined ? server.write(key, value, expected) : world.newToken()
    if (version === undefined || before?.version !== expected) return undefined
    transaction?.set(key, { key, value, version })
    if (key === world.group.key || key === world.group.lifeKeyOf(0)) {
      world.judge.applied(process.number, value, server.losses)
      world.note(process.number, undefined, () => `notes that the server lives its life ${server.life}`)
    } else {
      const node = Number(key.slice(key.lastIndexOf('/') + 1))
      const after = readLease({ key, value, version }, world.group)
      world.judge.applied(process.number, value, server.losses, node, before && readLease(before, world.group), after)
      const { floor, ceiling, isReleased } = after
      world.note(
        process.number,
        node,
        () => `its write lands: [${floor}, ${ceiling})${isReleased ? ', given back' : ''}`,
      )
    }
    if (transaction !== undefined) refuse(world)
    return version
  }
}

/** The answer of a store that has noticed an open transaction. */
function refuse({ shape }: World): void {
  if (shape.transactionsAreTold) throw new GraupelError('ERR_STORE_UNSAFE', 'the connection has an open transaction')
}

/** The store, as a connection sees it on which a transaction may be open. */
function connectionOf(process: Process, world: World): Store {
  const store = storeOf(process, world, writesOf(process, world))
  if (world.shape.faults.transaction === 0) return store
  return {
    ...store,
    read: async (key) => {
      const entry = await store.read(key)
      if (process.transaction !== undefined) refuse(world)
      return process.transaction?.get(key) ?? entry
    },
    list: async (folder) => {
      const entries = new Map((await store.list(folder)).map((entry) => [entry.key, entry]))
      if (process.transaction !== undefined) refuse(world)
      for (const [key, entry] of process.transaction ?? []) if (key.startsWith(folder)) entries.set(key, entry)
      return [...entries.values()]
    },
  }
}

/** The calls of the package. They tell the judge the outcome of writes. */
export class WatchedCalls extends StoreCalls {
  readonly #process: Process
  readonly #world: World

  constructor(process: Process, world: World) {
    super(connectionOf(process, world), process, 2000)
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
