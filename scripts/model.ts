// Checks the models of the lease, of its calls, of the claim, of observed ids and of strict order with Spin.
// `npm run model` checks the complete models within small bounds, and shows that they are violated without
// any one of their rules.
// `npm run model -- --full` searches larger bounds, for some minutes. docs/model.md has the results.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

type Model = 'lease' | 'hooks' | 'claim' | 'order' | 'strict'

function sourceOf(model: Model): string {
  return fileURLToPath(new URL(`../model/${model}.pml`, import.meta.url))
}

/** The rules that a model can do without, such as B3. */
function rulesOf(model: Model): string[] {
  const found = readFileSync(sourceOf(model), 'utf8').matchAll(/\brule\(([A-Z]\d+)\)/g)
  const names = [...new Set(Array.from(found, ([, rule]) => rule as string))]
  return names.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
}

/** The rules of the lease. */
export const rules = rulesOf('lease')
/** The rules of the calls of a program, and of copies. */
export const hookRules = rulesOf('hooks')
/** The rules of the claim. */
export const claimRules = rulesOf('claim')
/** The rules of observed ids. */
export const orderRules = rulesOf('order')
/** The rules of strict order. */
export const strictRules = rulesOf('strict')

/** The names that the model defines, and their values. */
export type Defines = Readonly<Record<string, number | string>>

interface Search {
  /** @default 'lease' */
  readonly model?: Model
  readonly defines: Defines
  /** Hashes states instead of storing them: some states may be missed. */
  readonly isBitstate?: boolean
  /** The longest trail. */
  readonly depth: number
  /** Takes the steps of a process in the opposite order. Some violations are found sooner. */
  readonly isReversed?: boolean
}

/** A trail: its steps, as the model prints them, and the claim that is violated in the end. */
export interface Trail {
  readonly steps: readonly string[]
  readonly claim: string
}

interface Result {
  readonly trail: Trail | undefined
  readonly states: number
  readonly seconds: number
  readonly isComplete: boolean
}

/** The complete model within small bounds. Spin visits all states. */
export const complete: Readonly<Record<string, Search>> = {
  'a durable store': { defines: { FAULTS: 1, TICKS: 2, WINDOW: 2 }, depth: 1e6 },
  // The first tick that a server can forget, and the first time at which the next life is trusted.
  'a store that forgets': { defines: { FORGETS: 1, FAULTS: 1, TICKS: 6, WINDOW: 1, TICK: 4 }, depth: 1e6 },
  'a durable store: some process gets a node': { defines: { LIVE: 1, FAULTS: 1, TICKS: 2, WINDOW: 1 }, depth: 1e6 },
  'a store that forgets: some process gets a node': {
    defines: { LIVE: 1, FORGETS: 1, FAULTS: 0, TICKS: 2, WINDOW: 1 },
    depth: 1e6,
  },
}

/** The complete model of the calls of a program, and of copies. Spin visits all states. */
export const completeHooks: Readonly<Record<string, Search>> = {
  'calls and copies': { model: 'hooks', defines: { CALLS: 1, RENEWALS: 1 }, depth: 1e6 },
  'six calls without a copy': { model: 'hooks', defines: { CALLS: 6, RENEWALS: 1, ALONE: 1 }, depth: 1e5 },
}

/** The complete model of the claim. Spin visits all states. */
export const completeClaim: Readonly<Record<string, Search>> = {
  'a claim, two processes': { model: 'claim', defines: { CRASHES: 1, LINKS: 5, SLOTS: 4 }, depth: 1e5 },
  'a claim, three processes, two of which are late': {
    model: 'claim',
    defines: { PROCESSES: 3, SLEEPERS: 2, CRASHES: 0, LINKS: 7, SLOT: 2 },
    depth: 1e5,
  },
  'a claim that is removed when its ceiling has passed': {
    model: 'claim',
    defines: { CLEANERS: 1, SLEEPERS: 2, CRASHES: 0, LINKS: 4, SLOTS: 3 },
    depth: 1e5,
  },
  'a claim that is deleted at any moment': {
    model: 'claim',
    defines: { DELETIONS: 1, CRASHES: 0, LINKS: 3, SLOTS: 2 },
    depth: 1e5,
  },
}

/** The complete model of observed ids. Spin visits all states. */
export const completeOrder: Readonly<Record<string, Search>> = {
  'observed ids, while a lease moves': { model: 'order', defines: { MOVES: 1 }, depth: 1e5 },
}

/** The model of observed ids without a rule. */
export function orderWithout(rule: string): Search {
  return { model: 'order', defines: { MOVES: 1, WITHOUT: rule }, depth: 200 }
}

/** The complete model of strict order. Spin visits all states. */
export const completeStrict: Readonly<Record<string, Search>> = {
  'strict order': { model: 'strict', defines: { TAKES: 3, WRITES: 4 }, depth: 1e5 },
}

/** The model of strict order without a rule. */
export function strictWithout(rule: string): Search {
  return { model: 'strict', defines: { TAKES: 3, WRITES: 4, WITHOUT: rule }, depth: 1e5 }
}

/** A claim that is deleted at any moment, while the clock is set back by two slots. */
const deletedWhileSetBack: Search = {
  model: 'claim',
  defines: { DELETIONS: 1, SLEEPERS: 1, CRASHES: 0, LINKS: 3, SLOTS: 3, SLOT: 3, BACK: 2 },
  depth: 1e5,
}

/**
 * A claim that is removed when its ceiling has passed, while the clock is set back. Two processes may make
 * the same id.
 */
export const cleanedWhileSetBack: Search = {
  model: 'claim',
  defines: { CLEANERS: 1, SLEEPERS: 2, CRASHES: 0, LINKS: 4, SLOTS: 3, BACK: 1 },
  depth: 200,
  isBitstate: true,
}

/** The complete model within larger bounds. */
export const full: Readonly<Record<string, Search>> = {
  'a durable store, two faults': { defines: { FAULTS: 2, TICKS: 2, WINDOW: 2 }, depth: 1e6 },
  'a store that forgets, any tick': { defines: { FORGETS: 1, FAULTS: 1, TICKS: 6, WINDOW: 1 }, depth: 1e6 },
  'a durable store, three processes': {
    defines: { PROCESSES: 3, FAULTS: 0, TICKS: 2, WINDOW: 2 },
    depth: 1e6,
    isBitstate: true,
  },
  'a durable store, three processes, a fault': {
    defines: { PROCESSES: 3, FAULTS: 1, TICKS: 1, WINDOW: 2 },
    depth: 1e6,
    isBitstate: true,
  },
  'calls and copies, two calls': { model: 'hooks', defines: { CALLS: 2 }, depth: 1e6 },
}

/** The bounds of a search, for a replay of its trail. */
export interface Bounds {
  readonly isDurable: boolean
  /** How many ticks a window has. */
  readonly window: number
}

/** The ticks whose observation leads to a violation soonest, and the last times that this takes. */
const soonest: Readonly<Record<string, Defines>> = { C1: { TICK: 4, TICKS: 4, WINDOW: 2 }, C6: { TICK: 5 } }

/** The model without a rule, within bounds in which Spin finds a violation soon. */
export function without(rule: string): Search & { readonly bounds: Bounds } {
  const isDurable = !rule.startsWith('C')
  const usual = isDurable ? { TICKS: 3, WINDOW: 2 } : { FORGETS: 1, TICKS: 7, WINDOW: 1 }
  const defines = { FAULTS: 1, ...usual, ...soonest[rule], WITHOUT: rule }
  const depth = rule in soonest ? 300 : 220
  return { defines, depth, isBitstate: true, bounds: { isDurable, window: defines.WINDOW } }
}

/** How many calls a violation without a rule takes; one if it is not said. */
const callsWithout: Readonly<Record<string, number>> = { D1: 2, D5: 0, D8: 2, D9: 0, D11: 3 }

/** The calls and copies without a rule. D11 takes a copy that nothing tells, and D10 long trails. */
export function hooksWithout(rule: string): Search {
  const isUntold = rule === 'D11'
  return {
    model: 'hooks',
    defines: { CALLS: callsWithout[rule] ?? 1, ...(isUntold && { UNTOLD: 1 }), WITHOUT: rule },
    depth: rule === 'D10' ? 320 : 200,
    isBitstate: true,
    isReversed: isUntold,
  }
}

/**
 * The claim without a rule. S3 takes two late processes, while a third one makes five links; S8 and S9 take a
 * claim that is removed, S10 a claim that is deleted, S11 one that is deleted while the clock is set back.
 */
export function claimWithout(rule: string): Search {
  if (rule === 'S8' || rule === 'S9') {
    return { ...cleanedWhileSetBack, defines: { ...cleanedWhileSetBack.defines, BACK: 0, WITHOUT: rule } }
  }
  if (rule === 'S10') {
    return {
      model: 'claim',
      defines: { DELETIONS: 1, CRASHES: 0, LINKS: 3, SLOTS: 2, WITHOUT: rule },
      depth: 150,
      isBitstate: true,
    }
  }
  if (rule === 'S11') {
    return {
      ...deletedWhileSetBack,
      defines: { ...deletedWhileSetBack.defines, WITHOUT: rule },
      depth: 150,
      isBitstate: true,
    }
  }
  const usual = { CRASHES: 1, LINKS: 5, SLOTS: 3 }
  const late = completeClaim['a claim, three processes, two of which are late'] as Search
  return {
    model: 'claim',
    defines: { ...(rule === 'S3' ? late.defines : usual), WITHOUT: rule },
    depth: rule === 'S3' ? 150 : 200,
    isBitstate: true,
  }
}

/** Searches all states, or the states up to the first violation. */
export function search({ model = 'lease', defines, isBitstate = false, depth, isReversed = false }: Search): Result {
  const folder = mkdtempSync(join(tmpdir(), 'graupel-model-'))
  const words = Object.entries({ PROCESSES: 2, ...defines }).map(([name, value]) => `-D${name}=${value}`)
  const isLive = 'LIVE' in defines
  try {
    execFileSync('spin', ['-a', ...words, sourceOf(model)], { cwd: folder })
    const kind = [isLive ? '-DNFAIR=3' : '-DSAFETY', isBitstate ? '-DBITSTATE' : '-DCOLLAPSE', '-DMEMLIM=4000']
    if (isReversed) kind.push('-DT_REVERSE')
    // A search that ends soon takes less time than its optimization.
    execFileSync('cc', [isBitstate && depth < 1000 ? '-O0' : '-O1', '-w', ...kind, '-o', 'pan', 'pan.c'], {
      cwd: folder,
    })
    const options = [
      `-m${depth}`,
      ...(isLive ? ['-a', '-f'] : []),
      // The processes of the claim end when all steps are made.
      ...(model === 'claim' ? ['-E'] : []),
      ...(isBitstate ? [depth < 1000 ? '-w27' : '-w33'] : []),
    ]
    const started = performance.now()
    const { stdout } = spawnSync(join(folder, 'pan'), options, { cwd: folder, encoding: 'utf8', maxBuffer: 1e8 })
    const seconds = (performance.now() - started) / 1000
    const states = Number(/^\s*([\d.e+]+) states, stored/m.exec(stdout)?.[1])
    const isComplete = /errors: 0/.test(stdout) && !/search depth too small|Search not completed/.test(stdout)
    const fault = /^pan:\d+: block in d_step.*/m.exec(stdout)?.[0]
    if (fault !== undefined) throw new Error(`the model ${model} is wrong: ${fault}`)
    const trail = /errors: 0/.test(stdout) ? undefined : trailIn(folder, model, words, stdout)
    return { trail, states, seconds, isComplete }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Replays the trail that Spin has written. */
function trailIn(folder: string, model: Model, words: readonly string[], found: string): Trail {
  const replay = spawnSync('spin', ['-k', `${model}.pml.trail`, ...words, sourceOf(model)], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 1e8,
  })
  const steps = Array.from(replay.stdout.matchAll(/^\s*@ (.*)$/gm), (step) => step[1] as string)
  return { steps, claim: /assertion violated (.*) \(at depth/.exec(found)?.[1] ?? 'acceptance cycle' }
}

function searchWithout(rule: string): Search {
  if (claimRules.includes(rule)) return claimWithout(rule)
  if (orderRules.includes(rule)) return orderWithout(rule)
  if (strictRules.includes(rule)) return strictWithout(rule)
  return hookRules.includes(rule) ? hooksWithout(rule) : without(rule)
}

function tell(name: string, { trail, states, seconds, isComplete }: Result, isExpected: boolean): void {
  const outcome = trail === undefined ? (isComplete ? 'no violation' : 'NOT COMPLETE') : `violated: ${trail.claim}`
  console.log(`${name}: ${outcome}, ${states.toLocaleString('en')} states, ${seconds.toFixed(1)} s`)
  if (isExpected) return
  process.exitCode = 1
  for (const step of trail?.steps ?? []) console.log(`  ${step}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const isFull = process.argv.includes('--full')
  const small = { ...complete, ...completeHooks, ...completeClaim, ...completeOrder, ...completeStrict }
  for (const [name, how] of Object.entries(isFull ? full : small)) {
    const result = search(how)
    tell(name, result, result.trail === undefined)
  }
  if (!isFull) {
    const result = search(cleanedWhileSetBack)
    tell('a claim that is removed while the clock is set back', result, result.trail !== undefined)
  }
  for (const rule of isFull ? [] : [...rules, ...hookRules, ...claimRules, ...orderRules, ...strictRules]) {
    const result = search(searchWithout(rule))
    tell(`without ${rule}`, result, result.trail !== undefined)
    if (process.argv.includes('--trails')) for (const step of result.trail?.steps ?? []) console.log(`  ${step}`)
  }
}
