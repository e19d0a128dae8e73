import { printable } from './paint.js'

/** Options of the library that are written differently as flags. */
const flagged = [
  'onRollback',
  'onOverflow',
  'maxAheadMs',
  'maxWaitMs',
  'sequenceStart',
  'windowMs',
  'acquireTimeoutMs',
  'timeZone',
]

/**
 * An error as one line, in terms of flags; `undefined` for an error without a code: a defect, which has to be seen whole.
 */
export function failureLine(error: unknown): string | undefined {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (typeof code !== 'string' || typeof message !== 'string') return undefined
  return `graupel: ${printable(inFlags(message))} (${code})`
}

/** A warning of the process as one line. */
export function warningLine({ message, name, code }: Error & { code?: string }): string {
  return `graupel: warning: ${printable(message)} (${code ?? name})`
}

/** The library's message with flags in place of the options they stand for. */
function inFlags(message: string): string {
  return message
    .replace(/\b(state|engine): '(\w+)'/g, '--$1 $2')
    .replace(/\b(state|engine) is (?=')/g, '--$1 is ')
    .replace(new RegExp(`\\b(${flagged.join('|')})\\b`, 'g'), (name) => `--${kebab(name)}`)
    .replace(/^(namespace|state|engine|prefix|table|store)\b/, '--$1')
    .replace(/; pass (prefix|table), or leave it out$/, '; give --$1, or leave it out')
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
