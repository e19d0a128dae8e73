/** A run of consecutive numbers, as the service sends it. */
export interface SentRun {
  readonly first: bigint
  readonly count: number
  readonly stride: number
}

/**
 * Reads the runs of a body as docs/service.md describes them, without code of the service or of its client.
 */
export function readRuns(form: 'runs' | 'runs-json', body: Uint8Array): SentRun[] {
  if (form === 'runs-json') {
    const { runs } = JSON.parse(new TextDecoder().decode(body)) as {
      runs: { first: string; count: number; stride: number }[]
    }
    return runs.map(({ first, count, stride }) => ({ first: BigInt(first), count, stride }))
  }
  const view = new DataView(body.buffer, body.byteOffset, body.length)
  return Array.from({ length: body.length / 16 }, (_, i) => ({
    first: view.getBigUint64(i * 16, true),
    count: view.getUint32(i * 16 + 8, true),
    stride: view.getUint32(i * 16 + 12, true),
  }))
}

/** Returns the numbers of runs. */
export function expandRuns(runs: readonly SentRun[]): bigint[] {
  return runs.flatMap(({ first, count, stride }) =>
    Array.from({ length: count }, (_, i) => first + BigInt(i) * BigInt(stride)),
  )
}

/** Writes runs as bytes. */
export function writeRuns(runs: readonly SentRun[]): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(runs.length * 16))
  for (const [i, { first, count, stride }] of runs.entries()) {
    view.setBigUint64(i * 16, first, true)
    view.setUint32(i * 16 + 8, count, true)
    view.setUint32(i * 16 + 12, stride, true)
  }
  return new Uint8Array(view.buffer)
}

/** Writes each number as a run of its own. */
export function writeSingles(numbers: Iterable<bigint>): Uint8Array<ArrayBuffer> {
  return writeRuns(Array.from(numbers, (first) => ({ first, count: 1, stride: 1 })))
}
