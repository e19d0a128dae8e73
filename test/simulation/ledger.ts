import type { Tally } from './nature.ts'
import { lineOf, type Moment } from './report.ts'

/** The result of a world: its violation, its counts and its events. */
export interface Lived extends Tally {
  /** `undefined`, or what must not happen. */
  readonly violation?: unknown
  readonly virtualMs: number
  /** The ids, numbers or answers that the judge has compared. */
  readonly ids: number
  readonly moments: readonly Moment[]
}

/** Runs the world of a seed. */
type RunWorld = (seed: number, isRecorded: boolean) => Promise<Lived>

/** Worlds of one kind: their seeds decide all that differs. */
export interface Simulation {
  readonly name: string
  /** The parts of a world, for readers of the ledger. */
  readonly about: string
  load(): Promise<RunWorld>
  /** Looks whether each defect of the source is found in the world in which it was found once. */
  readonly mutants: readonly { readonly defect: string; isFound(): Promise<boolean> }[]
}

/** A line of the ledger. */
export interface Line extends Tally {
  readonly simulation: string
  readonly first: number
  worlds: number
  virtualMs: number
  ids: number
  /** Processor time of the worlds, without loading and without the mutants. */
  cpuMs: number
  found: number
  readonly mutants: number
}

/** Milliseconds of a year of 365.25 days. */
export const yearMs = 31_557_600_000

/** When a run ends: after so many worlds, or so much virtual time, whichever comes first. */
export interface Limits {
  readonly worlds?: number
  readonly virtualMs?: number
}

/** @throws Error with the command that runs a world again, if the world goes wrong */
export async function runLine(simulation: Simulation, first: number, limits: Limits): Promise<Line> {
  const { name } = simulation
  const run = await simulation.load()
  const line: Line = {
    ...{ simulation: name, first, worlds: 0, virtualMs: 0, kills: 0, faults: 0, ids: 0, cpuMs: 0, found: 0 },
    mutants: simulation.mutants.length,
  }
  const { worlds = Number.POSITIVE_INFINITY, virtualMs = Number.POSITIVE_INFINITY } = limits
  const before = process.cpuUsage()
  while (line.worlds < worlds && line.virtualMs < virtualMs) {
    const seed = first + line.worlds
    const world = await run(seed, false)
    if (world.violation !== undefined) throw new Error(await story(simulation, seed))
    line.worlds++
    line.virtualMs += world.virtualMs
    line.kills += world.kills
    line.faults += world.faults
    line.ids += world.ids
    // Gives other work in this process, such as the reporter, a turn now and then.
    if (line.worlds % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  const { user, system } = process.cpuUsage(before)
  line.cpuMs = (user + system) / 1000
  return line
}

/** Counts the defects that are found, each in one world. @returns the defects that are not found */
export async function findMutants({ mutants }: Simulation, line: Line): Promise<string[]> {
  const missed: string[] = []
  for (const { defect, isFound } of mutants) {
    if (await isFound()) line.found++
    else missed.push(defect)
  }
  return missed
}

/** Runs one world again, and tells what happened in it. */
export async function story(simulation: Simulation, seed: number): Promise<string> {
  const run = await simulation.load()
  const { violation, virtualMs, kills, faults, ids, moments } = await run(seed, true)
  const text = violation === undefined ? 'nothing went wrong' : ((violation as { text?: string }).text ?? violation)
  return [
    ...moments.map(lineOf),
    `${simulation.name}, seed ${seed}: ${text}; ${(virtualMs / 1000).toFixed(3)} s, ${kills} kills, ${faults} faults, ${ids} ids`,
    `again: npm run ledger -- --simulation ${simulation.name} --seed ${seed}`,
  ].join('\n')
}
