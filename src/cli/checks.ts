import type { StoreCalls } from '../stores/calls.js'
import { type Output, paintFor, printable } from './output.js'

/** The result of a check. */
export interface Check {
  readonly check: string
  /** `note`: works, and has a limit that the operator should know. */
  readonly state: 'ok' | 'note' | 'bad'
  readonly text: string
}

/** The result of a check. */
export type Result = Omit<Check, 'check'>

/** Writes a line for each check, or a JSON array. @returns 1 if a check is bad, and 0 otherwise */
export async function writeChecks(checks: readonly Check[], isJson: boolean, output: Output): Promise<number> {
  const width = Math.max(...checks.map(({ check }) => check.length))
  const lines = () => checks.map((check) => lineOf(check, width, output)).join('')
  await output.write(isJson ? `${JSON.stringify(checks, undefined, 2)}\n` : lines())
  return exitCodeOf(checks)
}

/** Returns 1 if a check is bad, and 0 otherwise. */
export function exitCodeOf(checks: readonly Check[]): number {
  return checks.some(({ state }) => state === 'bad') ? 1 : 0
}

/** @param width - How many characters the longest name of a check has. */
export function lineOf({ check, state, text }: Check, width: number, { isTerminal }: Output): string {
  const colours = { ok: 'green', note: 'yellow', bad: 'red' } as const
  const line = `${state.padEnd('note'.length)}  ${check.padEnd(width)}  ${printable(text)}`
  return `${paintFor(isTerminal)(colours[state], line)}\n`
}

/** Returns the message of an error with its code. */
export function messageOf(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string }
  return code === undefined ? String(message) : `${message} (${code})`
}

/** Says whether a store keeps what it has acknowledged. @throws as `StoreCalls.incarnation` */
export async function durabilityOf(calls: StoreCalls): Promise<Result> {
  if (calls.store.durable) return { state: 'ok', text: 'durable' }
  // Refuses a server that evicts records, and warns of one that may acknowledge after another was promoted.
  await calls.incarnation()
  const text = 'may forget what it acknowledged, so the first lease after its start or failover takes 11 s'
  return { state: 'note', text }
}

/** Says what an operator should change about the server. @throws as `StoreCalls.advice` */
export async function serverOf(calls: StoreCalls): Promise<Result> {
  const advice = await calls.advice()
  return { state: advice.length === 0 ? 'ok' : 'note', text: advice.join('; ') || 'nothing to change is known' }
}
