/** Something that happened in a world, for people. */
export interface Moment {
  readonly atMs: number
  /** `undefined` for the server. */
  readonly process: number | undefined
  readonly node?: number | undefined
  readonly text: string
}

/** The number of lines that fit a screen below the summary. */
const maxMoments = 40

/**
 * Reports why a world went wrong: what happened, how to run it again, and the events before.
 *
 * @param replay - The command that runs the world of the seed.
 * @param world - A description of the world.
 */
export function tell(
  seed: number,
  replay: string,
  violation: string | undefined,
  world: string,
  moments: readonly Moment[],
): string {
  const left = moments.length - maxMoments
  return [
    `seed ${seed}: ${violation}`,
    `again: GRAUPEL_SEED=${seed} GRAUPEL_RUNS=1 ${replay}`,
    world,
    '',
    ...(left > 0 ? [`          … ${left} moments before`] : []),
    ...moments.slice(-maxMoments).map(lineOf),
  ].join('\n')
}

/** Returns one line for an event. */
export function lineOf({ atMs, process, node, text }: Moment): string {
  const who = process === undefined ? 'the server' : `process ${process}`
  const where = node === undefined ? '' : `node ${node}: `
  return `${(atMs / 1000).toFixed(3).padStart(9)} s  ${who.padEnd(10)}  ${where}${text}`
}
