import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { didYouMean } from '#suggestion'
import { StartError } from '../failure.js'
import { complete } from './complete.js'
import { flagOf, type Option, type OptionName, type Options, table, variableOf, variablePrefix } from './table.js'

/** The request of the command line. */
export type Command = { readonly kind: 'run'; readonly options: Options } | { readonly kind: 'help' | 'version' }

const names = Object.keys(table) as OptionName[]
const options: Readonly<Record<OptionName, Option<unknown>>> = table

/**
 * Reads the command. A flag overrides a variable, and a variable overrides the configuration file.
 *
 * @throws StartError `ERR_OPTION_UNKNOWN`, `ERR_OPTION_INVALID`
 */
export function readCommand(words: readonly string[], environment: NodeJS.ProcessEnv): Command {
  const flags = readFlags(words)
  if (flags.has('help')) return { kind: 'help' }
  if (flags.has('version')) return { kind: 'version' }
  const variables = readVariables(environment)
  const file = flags.get('config') ?? variables.get('config')
  const given: Record<string, unknown> = {}
  let nodeSource: string | undefined
  const sources = [file === undefined ? undefined : readFile(file), variables, flags].filter((one) => one !== undefined)
  for (const source of sources) {
    for (const name of names) {
      if (!source.has(name)) continue
      given[name] = options[name].read(source.nameOf(name), source.get(name))
      if (nodeOptions.includes(name)) nodeSource = source.nameOf(name)
    }
  }
  const node = environment[nodeVariable]
  // A strict group shares one node, and the others say more exactly which nodes may be leased.
  if (nodeSource === undefined && given['strict'] !== true && node !== undefined && node !== '') {
    given['node'] = options.node.read(nodeVariable, node)
    nodeSource = nodeVariable
  }
  return { kind: 'run', options: { ...complete(given), nodeSource } }
}

/** The options that say which node the service leases. */
const nodeOptions: readonly OptionName[] = ['node', 'nodes', 'statefulSet']

/** The variable of the library, which the service reads if none of these options is given. */
const nodeVariable = 'GRAUPEL_NODE'

/** Values by option, and the names that options have in this source. */
class Source extends Map<string, unknown> {
  nameOf: (name: string) => string

  constructor(nameOf: (name: string) => string) {
    super()
    this.nameOf = nameOf
  }
}

function readFlags(words: readonly string[]): Source {
  const all = new Map(names.map((name) => [flagOf(name), name as string]))
  for (const name of ['config', 'help', 'version']) all.set(name, name)
  const takesValue = (name: string) => name === 'config' || options[name as OptionName]?.value !== undefined
  const { tokens, positionals } = parseArgs({
    args: [...words],
    options: Object.fromEntries(
      [...all].map(([flag, name]) => [
        flag,
        { type: takesValue(name) ? ('string' as const) : ('boolean' as const), ...(name === 'help' && { short: 'h' }) },
      ]),
    ),
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const source = new Source((name) => `--${flagOf(name)}`)
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const name = all.get(token.name)
    if (name === undefined) {
      const meant = didYouMean(token.name, [...all.keys()], (one) => `--${one}`)
      throw new StartError('ERR_OPTION_UNKNOWN', `there is no flag ${token.rawName}${meant}; see graupel-server --help`)
    }
    if (source.has(name)) throw new StartError('ERR_OPTION_INVALID', `${token.rawName} was given twice; give it once`)
    const { value, inlineValue } = token
    // A flag without its value must not take the next flag as its value.
    if (takesValue(name) && (value === undefined || (!inlineValue && value.startsWith('-')))) {
      throw new StartError(
        'ERR_OPTION_INVALID',
        `${token.rawName} has no value; write ${token.rawName} ${standsFor(name)}`,
      )
    }
    if ((name === 'help' || name === 'version') && value !== undefined) {
      throw new StartError('ERR_OPTION_INVALID', `${token.rawName} takes no value; write ${token.rawName} alone`)
    }
    source.set(name, value ?? true)
  }
  // After the flags, because the word may be the value of an unknown flag.
  const [word] = positionals
  if (word !== undefined) {
    throw new StartError(
      'ERR_OPTION_INVALID',
      `there is the word '${word}', and graupel-server takes only flags; see graupel-server --help`,
    )
  }
  return source
}

function readVariables(environment: NodeJS.ProcessEnv): Source {
  const source = new Source(variableOf)
  const all = new Map(['config', ...names].map((name) => [variableOf(name), name]))
  for (const [variable, value = ''] of Object.entries(environment)) {
    // A value that was read from a file, as secrets are, ends with a line feed.
    const text = value.replace(/\r?\n$/, '')
    // An empty variable counts as unset, because orchestrators leave a variable out by an empty text.
    if (!variable.startsWith(variablePrefix) || text === '') continue
    const name = all.get(variable)
    if (name === undefined) {
      const meant = didYouMean(variable.slice(variablePrefix.length), [...all.values()], variableOf)
      throw new StartError('ERR_OPTION_UNKNOWN', `there is no variable ${variable}${meant}; see graupel-server --help`)
    }
    source.set(name, text)
  }
  return source
}

function readFile(file: unknown): Source {
  const source = new Source((name) => `${name} in ${file}`)
  let text: string
  let content: unknown
  try {
    text = readFileSync(`${file}`, 'utf8')
    content = JSON.parse(text)
  } catch (error) {
    const reason = (error as Error).message.replace(/\s+/g, ' ')
    throw new StartError(
      'ERR_OPTION_INVALID',
      `the configuration file cannot be read: ${reason}; give a file with JSON`,
    )
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new StartError('ERR_OPTION_INVALID', `${file} has no JSON object; write { "port": 4728 }`)
  }
  const twice = keyGivenTwice(text)
  if (twice !== undefined) throw new StartError('ERR_OPTION_INVALID', `${file} has ${twice} twice; give it once`)
  for (const [name, value] of Object.entries(content)) {
    if (!Object.hasOwn(table, name)) {
      throw new StartError(
        'ERR_OPTION_UNKNOWN',
        `${file} has ${JSON.stringify(name)}, which is no option${didYouMean(name, names, JSON.stringify)}; see graupel-server --help`,
      )
    }
    source.set(name, value)
  }
  return source
}

/**
 * Returns the first key that an object has twice, with its place: `segments.orders`. `JSON.parse` takes the
 * last value in silence. @param json - A text that was parsed.
 */
function keyGivenTwice(json: string): string | undefined {
  const objects: { readonly keys: Set<string>; key: string }[] = []
  for (const [token, name, colon] of json.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[{}]/g)) {
    const object = objects.at(-1)
    if (token === '{') objects.push({ keys: new Set(), key: '' })
    else if (token === '}') objects.pop()
    else if (colon !== undefined && object !== undefined) {
      object.key = JSON.parse(name as string)
      if (object.keys.has(object.key)) return objects.map(({ key }) => key).join('.')
      object.keys.add(object.key)
    }
  }
  return undefined
}

function standsFor(name: string): string {
  return name === 'config' ? 'FILE' : (options[name as OptionName].value as string)
}
