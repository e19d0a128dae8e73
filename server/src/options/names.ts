/** Not GRAUPEL_SERVER_: Kubernetes sets variables that begin so in every pod beside a Service of that name. */
export const variablePrefix = 'GRAUPEL_OPTION_'

/** `maxCount` on the command line, without its dashes: `max-count`. */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** `maxCount` in the environment: `GRAUPEL_OPTION_MAX_COUNT`. */
export function variableOf(name: string): string {
  return `${variablePrefix}${flagOf(name).replaceAll('-', '_').toUpperCase()}`
}
