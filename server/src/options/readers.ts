import { isIPv6 } from 'node:net'
import { defineLayout, type Layout, type LayoutSpec, layouts } from 'graupel'
import { didYouMean } from '#suggestion'
import { StartError, shown } from '../failure.js'

/**
 * Reads the value of an option: a text of a flag or a variable, or a value of the configuration file. @throws
 * StartError
 */
export type Read<T> = (name: string, value: unknown) => T

/** The options of segments, counters or kinds, by name. Only the configuration file can set them. */
export type NameOptions<T> = Readonly<Record<string, Partial<Omit<T, 'store' | 'name' | 'signal'>>>>

const invalid = (name: string, value: unknown, rule: string, choices: readonly string[] = []): StartError => {
  const meant = typeof value === 'string' ? didYouMean(value, choices, shown) : ''
  return new StartError('ERR_OPTION_INVALID', `${name} is ${shown(value)}${meant}; give ${rule}`)
}

export const whole =
  (least: number, most: number): Read<number> =>
  (name, value) => {
    const isDigits = typeof value === 'number' || (typeof value === 'string' && /^(0|[1-9][0-9]*)$/.test(value))
    const number = isDigits ? Number(value) : Number.NaN
    if (Number.isInteger(number) && number >= least && number <= most) return number
    throw invalid(name, value, `a whole number from ${least} to ${most}`)
  }

export const text: Read<string> = (name, value) => {
  if (typeof value === 'string' && value !== '') return value
  throw invalid(name, value, 'a text that is not empty')
}

/** Reads an address or a name of a host. A port in it would count as a host that does not exist. */
export const address: Read<string> = (name, value) => {
  const given = text(name, value)
  if (isIPv6(given) || /^[^:/\s]+$/.test(given)) return given
  throw invalid(name, value, 'an address without a port, such as 127.0.0.1 or ::1')
}

/** Reads the URL of a server, without a path. */
export const origin: Read<string> = (name, value) => {
  const given = text(name, value)
  const url = URL.canParse(given) ? new URL(given) : undefined
  const isPlain = url !== undefined && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href
  if (isPlain && given.length <= 255) return url.origin
  throw invalid(name, value, 'a URL of http or https without a path, such as http://10.0.0.5:4728')
}

export const flag: Read<boolean> = (name, value) => {
  if (typeof value === 'boolean') return value
  if (value === 'true') return true
  if (value === 'false') return false
  throw invalid(name, value, 'true or false')
}

export const choice =
  <T extends string>(...choices: readonly T[]): Read<T> =>
  (name, value) => {
    const found = choices.find((choice) => choice === value)
    if (found !== undefined) return found
    throw invalid(name, value, `one of ${choices.join(', ')}`, choices)
  }

/**
 * Reads names with commas between them, or an object with the options of each name.
 *
 * @param bigints - Options that may be texts of digits, because a number of JSON is too small.
 */
export const named =
  <T>(bigints: readonly string[] = []): Read<NameOptions<T>> =>
  (name, value) => {
    if (!isObject(value)) {
      const names = list(name, value)
      if (!names.every((one) => typeof one === 'string' && one !== ''))
        throw invalid(name, value, 'names with commas between them')
      if (new Set(names).size < names.length) throw invalid(name, value, 'each name once')
      return Object.fromEntries(names.map((one) => [one, {}]))
    }
    const all = Object.entries(value).map(([key, options]) => {
      if (!isObject(options)) throw invalid(`${name}.${key}`, options, 'an object of its options, such as {}')
      const isBig = (option: string, one: unknown) => bigints.includes(option) && /^\d{1,20}$/.test(`${one}`)
      const read = Object.entries(options).map(([option, one]) => [
        option,
        typeof one === 'string' && isBig(option, one) ? BigInt(one) : one,
      ])
      return [key, Object.fromEntries(read)]
    })
    return Object.fromEntries(all)
  }

function list(name: string, value: unknown): readonly unknown[] {
  if (Array.isArray(value) && value.length > 0) return value
  if (typeof value === 'string' && value !== '') return value.split(',')
  throw invalid(name, value, 'names with commas between them')
}

/** Printable ASCII without a space at its ends. */
const headerText = /^[!-~](?:[ -~]*[!-~])?$/

/** The presets that make ids. */
const makers = Object.values(layouts).flatMap(({ name, decodeOnly }) => (decodeOnly ? [] : [name]))

export const layoutList: Read<readonly Layout[]> = (name, value) => {
  const all = list(name, value).map((one) => layoutFrom(name, one))
  const unmade = all.find(({ decodeOnly }) => decodeOnly)
  if (unmade !== undefined) {
    throw new StartError(
      'ERR_LAYOUT_DECODE_ONLY',
      `${name} has the layout ${shown(unmade.name)}, which graupel only decodes; leave it out, because /v1/ids/ID decodes every preset anyway`,
    )
  }
  // The name is in a header of each answer.
  const unfit = all.find((layout) => !headerText.test(layout.name))
  if (unfit !== undefined) {
    throw new StartError(
      'ERR_LAYOUT_INVALID',
      `${name} has the layout ${shown(unfit.name)}, whose name is no text of a header; give it a name of printable ASCII`,
    )
  }
  const names = new Set(all.map((layout) => layout.name))
  if (names.size === all.length) return all
  throw invalid(name, value, 'each layout once')
}

function layoutFrom(name: string, value: unknown): Layout {
  if (isObject(value)) {
    try {
      return defineLayout(value as unknown as LayoutSpec) as Layout
    } catch (error) {
      throw new StartError(
        (error as { code?: string }).code ?? 'ERR_LAYOUT_INVALID',
        `${name}: ${(error as Error).message}`,
      )
    }
  }
  if (typeof value === 'string' && Object.hasOwn(layouts, value))
    return layouts[value as keyof typeof layouts] as Layout
  throw invalid(
    name,
    value,
    `one of ${makers.join(', ')}, or in the file an object of options for defineLayout`,
    makers,
  )
}

/** Reads a number, or fields with their numbers: `datacenter=1`. */
export const nodeChoice: Read<number | Readonly<Record<string, number>>> = (name, value) => {
  const number = whole(0, Number.MAX_SAFE_INTEGER)
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, number(name, one)]))
  if (typeof value !== 'string' || !value.includes('=')) return number(name, value)
  const pairs = value.split(',').map((pair): [string, number] => {
    const [, field, digits] = /^(\w+)=(\d+)$/.exec(pair) ?? []
    if (field === undefined) throw invalid(name, value, 'a number, or fields such as datacenter=1')
    return [field, number(name, digits)]
  })
  if (new Set(pairs.map(([field]) => field)).size < pairs.length) throw invalid(name, value, 'each field once')
  return Object.fromEntries(pairs)
}

/** Reads the first and the last node: `0-255`. */
export const range: Read<readonly [number, number]> = (name, value) => {
  const [first, last, ...more] = Array.isArray(value) ? value : `${value}`.split('-')
  const number = whole(0, Number.MAX_SAFE_INTEGER)
  if (last === undefined || more.length > 0) throw invalid(name, value, 'the first and the last node, such as 0-255')
  const nodes = [number(name, first), number(name, last)] as const
  if (nodes[0] > nodes[1]) throw invalid(name, value, 'the first node before the last, such as 0-255')
  return nodes
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
