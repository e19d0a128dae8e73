import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { until } from '../../support/until.ts'
import type { Running } from './process.ts'

const program = fileURLToPath(new URL('../programs/collect.js', import.meta.url))

/** For the environment of a service whose memory is measured. */
export const measurable = { NODE_OPTIONS: `--import=${program}` }

const line = 'garbage was collected'
const megabyte = 2 ** 20

/** What a process has after garbage was collected. */
export interface Memory {
  readonly heapMB: number
  readonly rssMB: number
}

/** @param metrics - Asks for the metrics, as text. */
export async function memoryOf({ child, stderr }: Running, metrics: () => Promise<string>): Promise<Memory> {
  const collected = () => stderr().split(line).length
  // Twice, because what was finalised by the first is freed by the second.
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

/** Its log without the lines of the measurement. */
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

/** The second half of what was measured is no higher than the first, but for so much. */
export function expectFlat(measured: readonly Memory[], heapMB: number, rssMB: number): void {
  const table = measured.map((one) => `${one.heapMB.toFixed(1)}/${one.rssMB.toFixed(0)}`).join(' ')
  console.info(`heap/rss in MB: ${table}`)
  const half = Math.ceil(measured.length / 2)
  const lowest = (name: keyof Memory, some: readonly Memory[]) => Math.min(...some.map((one) => one[name]))
  const [first, second] = [measured.slice(0, half), measured.slice(half)]
  // The lowest of each half, as what a measurement catches by chance only adds.
  expect(lowest('heapMB', second), table).toBeLessThan(lowest('heapMB', first) + heapMB)
  expect(lowest('rssMB', second), table).toBeLessThan(lowest('rssMB', first) + rssMB)
}
