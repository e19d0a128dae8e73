import { createGenerator, defineLayout, type EngineKind, type GeneratorSettings } from 'graupel'
import { freshNamespace } from './engines.ts'

/** A layout of eight ids a tick, so that tests reach every edge quickly. */
export const tiny = defineLayout({
  name: 'tiny',
  epochMs: 0,
  tickMs: 1,
  fields: [
    ['timestamp', 30],
    ['node', 4],
    ['sequence', 3],
  ],
})

/** Returns the timestamp and the sequence of an id of the layout tiny. */
export function parts(id: bigint): [number, number] {
  return [Number(id >> 7n), Number(id & 7n)]
}

/** Makes generators of the layout tiny on an engine. Their clock shows `time.now`. */
export function simulatedOn(engine: EngineKind) {
  return (options: Omit<GeneratorSettings<typeof tiny.fields>, 'lease'> = {}, time = { now: 1000 }) => {
    const clock = () => time.now
    const all = { engine, namespace: freshNamespace(), layout: tiny, node: 5, clock, ...options } as const
    return { ids: createGenerator(all), time, another: () => createGenerator(all) }
  }
}
