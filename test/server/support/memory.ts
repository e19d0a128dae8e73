import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { until } from '../../support/until.ts'
import type { Running } from './process.ts'

const program = fileURLToPath(new URL('../programs/collect.js', import.meta.url))

/** The environment of a service whose memory is measured. */
export const measurable = { NODE_OPTIONS: `--import=${program}` }

const line = 'garbage was collected'
const megabyte = 2 ** 20

/** The memory of a process after garbage collection. */
export interface Memory {
  readonly heapMB: number
  readonly rssMB: number
}

/** Measures the memory of a process. @param metrics - Resolves to its metrics, as text. */
export async function memoryOf({ child, stderr }: Running, metrics: () => Promise<string>): Promise<Memory> {
  const collected = () => stderr().split(line).length
  // Twice, because the second collection frees the objects that the first one finalized.
  for (let round = 0; round < 2; round++) {
    const before = collected()
    child.kill('SIGUSR2')
    await until(() => collected() > before)
  }
  const text = await metrics()
  return {
    heapMB: seriesIn(text, 'nodejs_heap_size_used_bytes') / megabyte,
    rssMB: seriesIn(text, 'process_resident_memory_bytes') / megabyte,
  }
}

/** Returns its log without the lines of the measurement. */
export function logOf({ stderr }: Running): string[] {
  return stderr()
    .split('\n')
    .filter((one) => one !== line && one !== '')
}

export function seriesIn(metrics: string, name: string): number {
  const [, value] = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(metrics) ?? []
  if (value === undefined) throw new Error(`the metrics have no ${name}`)
  return Number(value)
}

/**
 * Expects the second half of the measurements to be no higher than the first half, apart from a tolerance.
 */
export function expectFlat(measured: readonly Memory[], heapMB: number, rssMB: number): void {
  const table = measured.map((one) => `${one.heapMB.toFixed(1)}/${one.rssMB.toFixed(0)}`).join(' ')
  console.info(`heap/rss in MB: ${table}`)
  const half = Math.ceil(measured.length / 2)
  const lowest = (name: keyof Memory, some: readonly Memory[]) => Math.min(...some.map((one) => one[name]))
  const [first, second] = [measured.slice(0, half), measured.slice(half)]
  // Compares the lowest of each half, because chance only adds to a measurement.
  expect(lowest('heapMB', second), table).toBeLessThan(lowest('heapMB', first) + heapMB)
  expect(lowest('rssMB', second), table).toBeLessThan(lowest('rssMB', first) + rssMB)
}
