/** Options of the library that have another form as flags. */
const flagged = ['onRollback', 'onOverflow', 'maxAheadMs', 'maxWaitMs', 'sequenceStart']

/**
 * An error as one line for somebody who typed flags; `undefined` for one without a code: a defect, which should be
 * seen whole.
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
    .replace(new RegExp(`\\b(${flagged.join('|')})\\b`, 'g'), (name) => `--${kebab(name)}`)
    .replace(/^(namespace|state|engine)\b/, '--$1')
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** What was typed may stand in a message: no control character of it reaches the terminal, and the line stays one. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it is about
  return text.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
