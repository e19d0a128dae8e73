import { engineInfo } from 'graupel'
import { runWorld as runCounters } from '../counter/simulation/world.ts'
import { simulateHosts } from '../engine/hosts.ts'
import { loadProcess } from '../lease/programs-simulation/load.ts'
import { mutations as ofPrograms } from '../lease/programs-simulation/mutations.ts'
import { type Setting as ProgramSetting, runWorld as runPrograms } from '../lease/programs-simulation/world.ts'
import { loadWorld as loadLeases } from '../lease/simulation/load.ts'
import { mutations as ofLeases } from '../lease/simulation/mutations.ts'
import { clockAhead, openTransactions, type Setting } from '../lease/simulation/shape.ts'
import { mutations as ofStrict } from '../lease/strict-simulation/mutations.ts'
import { runWorld as runStrict } from '../lease/strict-simulation/world.ts'
import { loadWorld as loadSegments } from '../segments/simulation/load.ts'
import { mutations as ofSegments } from '../segments/simulation/mutations.ts'
import type { Lived, Simulation } from './ledger.ts'
import type { Known } from './noticed.ts'

const durable = { durable: true }
const forgetful = { durable: false }
const isDurable = (mutation: { readonly durable: boolean }) => mutation.durable
const isForgetful = (mutation: { readonly durable: boolean }) => !mutation.durable

/** The worlds whose processes copy themselves, and are told. */
const copying: Setting = { durable: true, faults: { copy: 8 } }

/** The mutants of a list, each in the world in which it was found. */
function mutantsOf<M extends Known>(
  mutations: readonly M[],
  violationOf: (mutation: M, seed: number) => Promise<{ readonly violation?: unknown }>,
): Simulation['mutants'] {
  return mutations.map((mutation) => ({
    defect: mutation.defect,
    isFound: async () => (await violationOf(mutation, mutation.seed ?? 1)).violation !== undefined,
  }))
}

const issued = <O extends Omit<Lived, 'ids'> & { readonly issued: number }>(outcome: O): Lived => ({
  ...outcome,
  ids: outcome.issued,
})

function leases(name: string, about: string, setting: Setting, mutations: typeof ofLeases = []): Simulation {
  return {
    name,
    about,
    load: async () => {
      const run = await loadLeases()
      return async (seed, isRecorded) => issued(await run(seed, setting, isRecorded))
    },
    mutants: mutantsOf(mutations, async (mutation, seed) => {
      const { seed: _, ...own } = mutation
      return (await loadLeases(mutation))(seed, own)
    }),
  }
}

function programs(name: string, about: string, setting: ProgramSetting, mutations: typeof ofPrograms): Simulation {
  return {
    name,
    about,
    load: async () => {
      const start = await loadProcess()
      return async (seed, isRecorded) => issued(await runPrograms(start, seed, setting, isRecorded))
    },
    mutants: mutantsOf(mutations, async ({ seed: _, ...mutation }, seed) =>
      runPrograms(await loadProcess(mutation), seed, mutation),
    ),
  }
}

function segments(
  name: string,
  about: string,
  setting: { durable: boolean },
  mutations: typeof ofSegments,
): Simulation {
  return {
    name,
    about,
    load: async () => {
      const run = await loadSegments()
      return async (seed, isRecorded) => issued(await run(seed, setting, isRecorded))
    },
    mutants: mutantsOf(mutations, async (mutation, seed) => (await loadSegments(mutation))(seed, mutation)),
  }
}

const counters = (name: string, about: string, isKept: boolean): Simulation => ({
  name,
  about,
  load: async () => async (seed, isRecorded) => issued(await runCounters(seed, isKept, isRecorded)),
  mutants: [],
})

/** Answers of one world of hosts. */
const pairs = 20_000

/** All simulations of the project, in the order of the ledger. */
export const simulations: readonly Simulation[] = [
  leases(
    'lease',
    'leases: the shipped protocol, on a store that may lose acknowledged writes',
    forgetful,
    ofLeases.filter(isForgetful),
  ),
  leases('lease-durable', 'the same on a durable store', durable, ofLeases.filter(isDurable)),
  leases('lease-clock', 'the same on a server whose clock was ahead when it started', clockAhead),
  leases('lease-transactions', 'the same with transactions that other code leaves open', openTransactions),
  leases('lease-copies', 'the same with processes that are copied while they run, and are told', copying),
  programs('programs', 'shipped leases and generators that are parked, resumed and copied at any time', {}, ofPrograms),
  {
    name: 'strict',
    about: 'shipped strict leases of a group of servers, and the order of its answers in real time',
    load: async () => {
      const start = await loadProcess()
      return async (seed, isRecorded) => {
        const outcome = await runStrict(start, seed, {}, isRecorded)
        return { ...outcome, ids: outcome.answers }
      }
    },
    mutants: mutantsOf(ofStrict, async (mutation, seed) => runStrict(await loadProcess(mutation), seed)),
  },
  segments(
    'segments',
    'shipped segments with their threads, on a store that may lose acknowledged writes',
    forgetful,
    ofSegments.filter(isForgetful),
  ),
  segments('segments-durable', 'the same on a durable store', durable, ofSegments.filter(isDurable)),
  counters('counters', 'counters, on a store that may lose acknowledged writes', false),
  counters('counters-durable', 'the same on a durable store', true),
  {
    name: 'hosts',
    about: 'six hosts with wrong clocks, which observe the ids of each other',
    load: async () => async (seed) => {
      const { inversions, pairs: ids, ...lived } = simulateHosts(engineInfo().kind, pairs, seed, true)
      return { ...lived, ids, moments: [], ...(inversions > 0 && { violation: `${inversions} inversions` }) }
    },
    mutants: [],
  },
]
