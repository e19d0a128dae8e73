import type { Style } from '../../../src/inspect/picture.ts'

const nodeStyles: readonly Style[] = ['yellow', 'magenta', 'blue']

/** The colour of a field of a design, as the picture of an id would have it. */
export function styleOf(names: readonly string[], at: number): Style {
  const name = names[at]
  if (name === 'timestamp') return 'cyan'
  if (name === 'sequence') return 'green'
  const nodes = names.filter((one) => one !== 'timestamp' && one !== 'sequence')
  return nodeStyles[nodes.indexOf(name as string) % nodeStyles.length] as Style
}
