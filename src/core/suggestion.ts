// Suggests a name in place of a name that does not exist.

/**
 * Returns ` (did you mean 'node'?)` for a message, or an empty text. @param written - Writes a name for the
 * message.
 */
export function didYouMean(given: string, names: readonly string[], written = (name: string) => `'${name}'`): string {
  const name = suggestionFor(given, names)
  return name === undefined ? '' : ` (did you mean ${written(name)}?)`
}

/**
 * Finds the nearest name with at most two wrong letters, one in a short name; otherwise the only name that
 * begins with the text.
 */
export function suggestionFor(given: string, names: readonly string[]): string | undefined {
  const plain = plainly(given)
  if (plain.length < 3) return undefined
  const most = plain.length < 6 ? 1 : 2
  const [nearest] = names
    .map((name) => ({ name, wrong: distance(plain, plainly(name)) }))
    .filter(({ wrong }) => wrong <= most)
    .sort((a, b) => a.wrong - b.wrong)
  if (nearest !== undefined) return nearest.name
  const begun = names.filter((name) => plainly(name).startsWith(plain))
  return begun.length === 1 ? begun[0] : undefined
}

/**
 * Removes case and separators: `MAX_WAIT_MS`, `max-wait-ms` and `maxWaitMs` become one text. Cuts overlong
 * names.
 */
function plainly(name: string): string {
  return name.slice(0, 40).toLowerCase().replace(/[-_.]/g, '')
}

/**
 * Counts the letters to insert, delete, replace or swap with a neighbour: the optimal string alignment
 * distance.
 */
function distance(a: string, b: string): number {
  // The first row and column are final: they are distances from an empty text. The other cells are counted
  // below.
  const rows = Array.from({ length: a.length + 1 }, (_, i) => Array.from({ length: b.length + 1 }, (_, j) => i + j))
  const at = (i: number, j: number) => rows[i]?.[j] as number
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      ;(rows[i] as number[])[j] = Math.min(
        at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
        at(i - 1, j) + 1,
        at(i, j - 1) + 1,
        isSwapped ? at(i - 2, j - 2) + 1 : Infinity,
      )
    }
  }
  return at(a.length, b.length)
}
