import { subscribe } from 'node:diagnostics_channel'
import type { SegmentsEvent } from 'graupel'
import { memoryStore, type Store, type StoreEntry } from 'graupel/stores'

const events: SegmentsEvent[] = []
subscribe('graupel:segments', (event) => void events.push(event as SegmentsEvent))
/** The events of a name, in order. */
export const eventsOf = (name: string) => events.filter((event) => event.name === name)

type Call = 'incarnation' | 'read' | 'write'

/** A store that may forget, and the faults of the store. */
export function faultyStore(durable = false) {
  let inner = memoryStore()
  let life = 1
  let copy: StoreEntry[] = []
  const calls: Call[] = []
  const world = {
    /** The calls so far. */
    calls,
    /** Called before a call reaches the store, and after it. */
    before(_call: Call): void | Promise<void> {},
    after(_call: Call): void | Promise<void> {},
    /** Keeps a copy of all records. */
    async backup() {
      copy = await inner.list('numbers/')
    },
    /** Another server takes over, with the records of the copy. */
    async failover(isNoticed = true) {
      if (isNoticed) life++
      const other = memoryStore()
      for (const { key, value } of copy) await other.write(key, value, undefined)
      inner = other
    },
    async valueOf(name: string) {
      return JSON.parse((await inner.read(`numbers/${name}`))?.value ?? '{}')
    },
    /** Writes a record like another program. */
    async put(name: string, value: string) {
      const key = `numbers/${name}`
      await inner.write(key, value, (await inner.read(key))?.version)
    },
    get read() {
      return (name: string) => inner.read(`numbers/${name}`)
    },
  }
  const around = async <T>(call: Call, run: () => Promise<T>): Promise<T> => {
    calls.push(call)
    await world.before(call)
    const result = await run()
    await world.after(call)
    return result
  }
  const store: Store = {
    name: 'faulty',
    durable,
    list: (folder) => inner.list(folder),
    nowMs: async () => Date.now(),
    incarnation: () => around('incarnation', async () => `life ${life}`),
    read: (key) => around('read', () => inner.read(key)),
    write: (key, value, expected) => around('write', () => inner.write(key, value, expected)),
  }
  return { store, world }
}
