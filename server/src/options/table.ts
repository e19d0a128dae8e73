import { homedir } from 'node:os'
import { join } from 'node:path'
import { defineLayout, type Layout, type LayoutSpec, layouts } from 'graupel'
import type { CounterOptions, SegmentOptions } from 'graupel/segments'
import { StartError } from '../failure.js'

/** How a value is read, whether from a text (a flag, a variable) or from the configuration file. @throws StartError */
type Read<T> = (name: string, value: unknown) => T

/** One option of the service. */
export interface Option<T> {
  /** Stands for the value in the help; one without it is a switch. */
  readonly value?: string
  readonly help: string
  readonly read: Read<T>
}

/** By name: the options of one segment or counter that the configuration file may set. */
export type NameOptions<T> = Readonly<Record<string, Partial<Omit<T, 'store' | 'name' | 'signal'>>>>

const invalid = (name: string, value: unknown, rule: string): StartError =>
  new StartError('ERR_OPTION_INVALID', `${name} is ${shown(value)}; give ${rule}`)

const whole =
  (least: number, most: number): Read<number> =>
  (name, value) => {
    const isDigits = typeof value === 'number' || (typeof value === 'string' && /^(0|[1-9][0-9]*)$/.test(value))
    const number = isDigits ? Number(value) : Number.NaN
    if (Number.isInteger(number) && number >= least && number <= most) return number
    throw invalid(name, value, `a whole number from ${least} to ${most}`)
  }

const text: Read<string> = (name, value) => {
  if (typeof value === 'string' && value !== '') return value
  throw invalid(name, value, 'a text that is not empty')
}

const flag: Read<boolean> = (name, value) => {
  if (typeof value === 'boolean') return value
  if (value === 'true') return true
  if (value === 'false') return false
  throw invalid(name, value, 'true or false')
}

const choice =
  <T extends string>(...choices: readonly T[]): Read<T> =>
  (name, value) => {
    const found = choices.find((choice) => choice === value)
    if (found !== undefined) return found
    throw invalid(name, value, `one of ${choices.join(', ')}`)
  }

/**
 * Names with commas between them, or an object with the options of each.
 *
 * @param bigints - Options that may be digits in a text, because a number of JSON does not hold them.
 */
const named =
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

const layoutList: Read<readonly Layout[]> = (name, value) => {
  const all = list(name, value).map((one) => layoutFrom(name, one))
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
    `one of ${Object.keys(layouts).join(', ')}, or in the file an object as defineLayout takes it`,
  )
}

/** A number, or fields with their numbers: `datacenter=1`. */
const nodeChoice: Read<number | Readonly<Record<string, number>>> = (name, value) => {
  const number = whole(0, Number.MAX_SAFE_INTEGER)
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, number(name, one)]))
  if (typeof value !== 'string' || !value.includes('=')) return number(name, value)
  return Object.fromEntries(
    value.split(',').map((pair) => {
      const [, field, digits] = /^(\w+)=(\d+)$/.exec(pair) ?? []
      if (field === undefined) throw invalid(name, value, 'a number, or fields such as datacenter=1')
      return [field, number(name, digits)]
    }),
  )
}

/** The first and the last: `0-255`. */
const range: Read<readonly [number, number]> = (name, value) => {
  const [first, last, ...more] = Array.isArray(value) ? value : `${value}`.split('-')
  const number = whole(0, Number.MAX_SAFE_INTEGER)
  if (last === undefined || more.length > 0) throw invalid(name, value, 'the first and the last node, such as 0-255')
  const nodes = [number(name, first), number(name, last)] as const
  if (nodes[0] > nodes[1]) throw invalid(name, value, 'the first node before the last, such as 0-255')
  return nodes
}

/** Where services of the user keep what has to outlast a restart (XDG base directory specification 0.8). */
export const defaultData = join(process.env['XDG_STATE_HOME'] || join(homedir(), '.local/state'), 'graupel-server')

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** More than the library asks for: with 100 ms, the lease expired once a second on a busy host, and a node was leased anew. */
const leastWindowMs = 1000

/** Every option, in the order of the help. */
export const table = {
  host: { value: 'ADDRESS', help: 'where to listen; any but loopback needs --token-file (127.0.0.1)', read: text },
  port: { value: 'PORT', help: 'the port, 0 for any that is free (4728)', read: whole(0, 65_535) },
  data: { value: 'FOLDER', help: `where the embedded database is (${defaultData})`, read: text },
  store: { value: 'URL', help: 'a store in place of it, such as redis://127.0.0.1:6379', read: text },
  prefix: { value: 'NAME', help: 'what the names of its keys begin with (graupel)', read: text },
  table: { value: 'NAME', help: 'its table, in a SQL database (graupel_store)', read: text },
  durable: { help: 'the store never forgets a write that it has acknowledged', read: flag },
  layouts: { value: 'NAMES', help: 'which ids there are; the first is the default (twitter)', read: layoutList },
  namespace: { value: 'TEXT', help: 'ids of different namespaces may share a node (default)', read: text },
  node: { value: 'NODE', help: 'the node to lease: 7, or some fields of it: datacenter=1 (any)', read: nodeChoice },
  nodes: { value: 'FIRST-LAST', help: 'the nodes that may be leased (all)', read: range },
  statefulSet: { value: 'NAME', help: 'lease the node that is the number of this pod of a StatefulSet', read: text },
  windowMs: { value: 'MS', help: 'how long ids are made without the store (6000)', read: whole(leastWindowMs, hourMs) },
  maxClockSkewMs: { value: 'MS', help: "how far this clock may be from the store's (1000)", read: whole(0, hourMs) },
  acquireTimeoutMs: { value: 'MS', help: 'how long to wait for a free node (30000)', read: whole(0, dayMs) },
  segments: {
    value: 'NAMES',
    help: 'the only segments there are (any name)',
    read: named<SegmentOptions>(['start', 'max', 'failoverGap']),
  },
  counters: { value: 'NAMES', help: 'the only counters there are (any name)', read: named<CounterOptions>() },
  maxNames: {
    value: 'N',
    help: 'how many names of segments, and of counters, may be open (1000)',
    read: whole(1, 1_000_000),
  },
  leafAlloc: { help: "take segments from Leaf's table, in the mysql: store", read: flag },
  leafTable: { value: 'NAME', help: 'the name of that table (leaf_alloc)', read: text },
  maxCount: { value: 'N', help: 'how many ids one request may have (65536)', read: whole(1, 1_048_576) },
  workers: { value: 'N', help: 'processes, each with a node of its own (1)', read: whole(1, 256) },
  tokenFile: { value: 'FILE', help: 'a file of bearer tokens, one a line; read again when it changes', read: text },
  allowAnonymous: { help: 'serve others than loopback without a token', read: flag },
  tlsCert: { value: 'FILE', help: 'a certificate chain in PEM; read again when it changes', read: text },
  tlsKey: { value: 'FILE', help: 'its private key in PEM', read: text },
  drainMs: { value: 'MS', help: 'how long to serve on after SIGTERM, not ready (1000)', read: whole(0, hourMs) },
  shutdownTimeoutMs: { value: 'MS', help: 'how long requests may then take (10000)', read: whole(0, hourMs) },
  keepAliveMs: { value: 'MS', help: 'how long an idle connection stays (75000)', read: whole(1, hourMs) },
  requestTimeoutMs: { value: 'MS', help: 'how long a request may take to arrive (10000)', read: whole(1, hourMs) },
  maxConnections: { value: 'N', help: 'connections of one process (10000)', read: whole(1, 1_000_000) },
  logLevel: {
    value: 'LEVEL',
    help: 'debug, with a line for each request; info, warn, error or silent (info; warn at a terminal)',
    read: choice('debug', 'info', 'warn', 'error', 'silent'),
  },
} satisfies Record<string, Option<unknown>>

type Table = typeof table
export type OptionName = keyof Table
type ValueOf<N extends OptionName> = Table[N]['read'] extends Read<infer T> ? T : never
type Given = { readonly [N in OptionName]?: ValueOf<N> }

const defaults = {
  host: '127.0.0.1',
  port: 4728,
  data: defaultData,
  layouts: [layouts.twitter as Layout],
  windowMs: 6000,
  maxNames: 1000,
  maxCount: 65_536,
  workers: 1,
  allowAnonymous: false,
  drainMs: 1000,
  shutdownTimeoutMs: 10_000,
  // Balancers keep idle connections for 60 s, and must be the ones that close them.
  keepAliveMs: 75_000,
  requestTimeoutMs: 10_000,
  maxConnections: 10_000,
  /** A person at a terminal reads what is printed at the start, and lines of JSON only where something is wrong. */
  get logLevel() {
    return process.stderr.isTTY ? 'warn' : 'info'
  },
} satisfies Given

/** The options of the service, checked, with their defaults. */
export type Options = Given & { readonly [N in keyof typeof defaults]: NonNullable<Given[N]> }

/**
 * Messages call an option by its flag, wherever it was given: it may be a default, and the help has flags.
 *
 * @param given - Each checked by itself.
 * @throws StartError for options that do not go together
 */
export function complete(given: Given): Options {
  const options = { ...defaults, ...given } as Options
  const { store, node, nodes, statefulSet, workers, leafAlloc, leafTable, tlsCert, tlsKey } = options
  const together = (isWrong: boolean, rule: string) => {
    if (isWrong) throw new StartError('ERR_OPTION_INVALID', rule)
  }
  together(
    given.data !== undefined && store !== undefined,
    '--data and --store are given; the database of --data is a store itself: leave one out',
  )
  for (const name of ['prefix', 'durable'] as const) {
    together(
      store === undefined && given[name] !== undefined,
      `--${name} is for --store; give --store, or leave it out`,
    )
  }
  together(statefulSet !== undefined && node !== undefined, '--node and --stateful-set are given; leave one out')
  together(statefulSet !== undefined && nodes !== undefined, '--nodes and --stateful-set are given; leave one out')
  together(
    (typeof node === 'number' || statefulSet !== undefined) && workers > 1,
    `there is one node for ${workers} workers, and each needs its own; give --nodes, or leave --workers out`,
  )
  together(
    leafAlloc === true && !/^(mysql|mariadb):/i.test(store ?? ''),
    "--leaf-alloc is for a mysql: store; give the URL of Leaf's database by --store",
  )
  together(
    leafTable !== undefined && leafAlloc !== true,
    '--leaf-table is for --leaf-alloc; give --leaf-alloc, or leave it out',
  )
  together((tlsCert === undefined) !== (tlsKey === undefined), '--tls-cert and --tls-key go together; give both')
  together(
    !isLoopback(options.host) && options.tokenFile === undefined && !options.allowAnonymous,
    `--host is ${shown(options.host)}, which others can reach; give --token-file, or --allow-anonymous to let all of them have ids`,
  )
  together(
    options.tokenFile !== undefined && options.allowAnonymous,
    '--token-file and --allow-anonymous are given; leave one out',
  )
  return options
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function shown(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value)
  return json.length > 60 ? `${json.slice(0, 60)}…` : json
}
