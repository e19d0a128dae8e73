import type { Store } from '../stores/store.js'
import { type Output, paintFor, printable, table } from './output.js'

/** The result of a check. */
export interface Check {
  readonly check: string
  /** `note`: works, and has a limit that the operator should know. */
  readonly state: 'ok' | 'note' | 'bad'
  readonly text: string
}

/** Writes a line for each check, or a JSON array. @returns 1 if a check is bad, and 0 otherwise */
export async function writeChecks(checks: readonly Check[], isJson: boolean, output: Output): Promise<number> {
  await output.write(isJson ? `${JSON.stringify(checks, undefined, 2)}\n` : linesOf(checks, output.isTerminal))
  return checks.some(({ state }) => state === 'bad') ? 1 : 0
}

function linesOf(checks: readonly Check[], isTerminal: boolean): string {
  const paint = paintFor(isTerminal)
  const colours = { ok: 'green', note: 'yellow', bad: 'red' } as const
  const lines = table(checks.map(({ check, state, text }) => [state, check, printable(text)]))
  return lines.map((line, i) => `${paint(colours[(checks[i] as Check).state], line)}\n`).join('')
}

/** Returns the message of an error with its code. */
export function messageOf(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string }
  return code === undefined ? String(message) : `${message} (${code})`
}

/** Says whether a store keeps what it has acknowledged. */
export function durabilityText({ durable }: Store): string {
  return durable
    ? 'durable'
    : 'may forget what it acknowledged, so the first lease after its start or failover takes 11 s'
}
