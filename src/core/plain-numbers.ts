/**
 * Reads a whole number in plain digits, without sign, blank or leading zero. Returns `undefined` for another
 * text.
 */
export function plainNumber(text: string): number | undefined {
  if (!/^(0|[1-9][0-9]*)$/.test(text)) return undefined
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : undefined
}

/**
 * Reads numbers with their names: `datacenter=1,worker=7`.
 *
 * @param refuse - Makes the error for a name that is there twice, or for a text of another form.
 */
export function namedNumbers(text: string, refuse: (twice: string | undefined) => Error): Record<string, number> {
  const numbers = new Map<string, number>()
  for (const piece of text.split(',')) {
    const [, name, digits = ''] = /^([^=]+)=(.*)$/.exec(piece) ?? []
    const number = plainNumber(digits)
    if (name === undefined || number === undefined) throw refuse(undefined)
    if (numbers.has(name)) throw refuse(name)
    numbers.set(name, number)
  }
  return Object.fromEntries(numbers)
}
