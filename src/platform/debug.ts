/** The kinds of lines that `NODE_DEBUG=graupel` prints (docs/guarantees.md). */
type Kind = 'reservation' | 'verdict' | 'renewal' | 'phase'

/** Prints a line such as `GRAUPEL 4711: verdict type=overflow layout=twitter …` to stderr. */
export type Debug = (kind: Kind, facts: object) => void

let made: { readonly debug: Debug | undefined } | undefined

/**
 * Returns the function that prints lines; `undefined` unless the process was started with
 * `NODE_DEBUG=graupel`. All lines of the package are printed by it.
 */
export function debugPrinter(): Debug | undefined {
  made ??= { debug: makeDebug() }
  return made.debug
}

function makeDebug(): Debug | undefined {
  // Asked first, because loading node:util takes time.
  if (!process.env['NODE_DEBUG']) return undefined
  const log = process.getBuiltinModule('node:util').debuglog('graupel')
  if (!log.enabled) return undefined
  return (kind, facts) => log('%s', [kind, ...Object.entries(facts).map(wordOf)].join(' '))
}

/** Writes a fact; a text that is not one word in quotes, so that a line can be split at its spaces. */
function wordOf([name, value]: [string, unknown]): string {
  const text = String(value)
  return `${name}=${/^[\w.:+/-]+$/.test(text) ? text : JSON.stringify(text)}`
}
