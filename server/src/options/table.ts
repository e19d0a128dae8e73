import { join } from 'node:path'
import { type Layout, layouts } from 'graupel'
import type { CounterOptions, SegmentOptions } from 'graupel/segments'
import { leaseRows } from '#lease-options'
import { leafTableRow, prefixRow, tableRow } from '#store-options'
import type { KindChoice } from './kinds.js'
import {
  address,
  choice,
  flag,
  layoutList,
  named,
  nodeChoice,
  origin,
  type Read,
  range,
  text,
  whole,
} from './readers.js'

/** One option of the service. */
export interface Option<T> {
  /** The placeholder of the value in the help. An option without it is a switch. */
  readonly value?: string
  /** The title of the group of the help that begins with this option. */
  readonly group?: string
  readonly help: string
  /** The value if the option is not given. */
  readonly byDefault?: T
  /** The help shows this text instead of the default. Without a default, it is the library's default. */
  readonly shownDefault?: string
  readonly read: Read<T>
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** More than the library's least window: with 100 ms, a busy host lost its lease once a second. */
const leastWindowMs = 1000
/** The default of --window-ms with --strict. Clients wait for the next holder for this time and a poll. */
export const strictWindowMs = 2000

/**
 * Returns the folder in which a user's services keep state across restarts (XDG base directory specification
 * 0.8).
 */
export function stateFolder(home: string): string {
  return join(process.env['XDG_STATE_HOME'] || join(home, '.local/state'), 'graupel-server')
}

/** Every option, in the order of the help. */
export const table = {
  host: {
    group: 'Address',
    value: 'ADDRESS',
    help: 'the address to listen on; any but loopback needs --token-file',
    byDefault: '127.0.0.1',
    read: address,
  },
  port: { value: 'PORT', help: 'the port, 0 for any free port', byDefault: 4728, read: whole(0, 65_535) },
  adminPort: {
    value: 'PORT',
    help: 'a second port, for /livez, /readyz and /metrics only',
    shownDefault: 'none',
    read: whole(0, 65_535),
  },

  resp: {
    value: 'PORT',
    help: 'a port for clients of Redis: INCR orders, GET id:twitter',
    shownDefault: 'none',
    read: whole(0, 65_535),
  },
  respCounters: {
    value: 'PREFIX',
    help: 'there, keys that begin so are counters, not segments',
    shownDefault: 'none',
    read: text,
  },

  tokenFile: {
    group: 'Security',
    value: 'FILE',
    help: 'a file of bearer tokens, one a line; read again when it changes',
    read: text,
  },
  allowAnonymous: { help: 'serve clients beyond loopback without a token', byDefault: false, read: flag },
  tlsCert: { value: 'FILE', help: 'a certificate chain in PEM; read again when it changes', read: text },
  tlsKey: { value: 'FILE', help: 'its private key in PEM', read: text },

  data: {
    group: 'Store',
    value: 'FOLDER',
    help: 'the folder of the embedded database',
    // The folder itself is asked for only if it is used, because a container may have no home directory.
    get shownDefault() {
      return stateFolder('~')
    },
    read: text,
  },
  store: {
    value: 'URL',
    help: 'the store, instead of the embedded database, such as redis://127.0.0.1:6379',
    read: text,
  },
  prefix: { value: 'NAME', help: 'the beginning of its keys', shownDefault: prefixRow.byDefault, read: text },
  table: {
    value: 'NAME',
    help: 'its table or collection, in a SQL database, DynamoDB or MongoDB',
    shownDefault: tableRow.byDefault,
    read: text,
  },
  assumeDurable: { help: 'assert that the store never forgets an acknowledged write', read: flag },

  leases: {
    help: 'lend the records of the store to clients that lease nodes (serviceStore)',
    byDefault: false,
    read: flag,
  },

  layouts: {
    group: 'Ids',
    value: 'NAMES',
    help: 'the layouts of the ids; the first is the default',
    byDefault: [layouts.twitter as Layout],
    shownDefault: layouts.twitter.name,
    read: layoutList,
  },
  kinds: {
    value: 'PREFIXES',
    help: 'the prefixes of texts such as ord_01kb6wyr9m2z8, for kind=ord',
    shownDefault: 'none',
    read: named<KindChoice>(),
  },
  namespace: {
    value: 'TEXT',
    help: 'ids of different namespaces may share a node',
    shownDefault: leaseRows.namespace.byDefault,
    read: text,
  },
  node: {
    value: 'NODE',
    help: 'the node to lease: 7, or some of its fields: datacenter=1; also by GRAUPEL_NODE',
    shownDefault: 'any',
    read: nodeChoice,
  },
  nodes: { value: 'FIRST-LAST', help: 'the nodes that may be leased', shownDefault: 'all', read: range },
  statefulSet: { value: 'NAME', help: 'lease the node that is the number of this pod of a StatefulSet', read: text },
  strict: {
    help: 'be one of a group of servers of which one gives ids, in the order of real time',
    byDefault: false,
    read: flag,
  },
  advertise: {
    value: 'URL',
    help: 'where clients reach this server, which the others of a strict group tell them',
    shownDefault: 'not told',
    read: origin,
  },
  windowMs: {
    value: 'MS',
    help: 'how long ids can be made without the store',
    byDefault: leaseRows.windowMs.byDefault,
    shownDefault: `${leaseRows.windowMs.byDefault}; ${strictWindowMs} with --strict`,
    read: whole(leastWindowMs, leaseRows.windowMs.most),
  },
  maxClockSkewMs: {
    value: 'MS',
    help: "how far this clock may differ from the store's",
    shownDefault: `${leaseRows.maxClockSkewMs.byDefault}`,
    read: whole(0, leaseRows.maxClockSkewMs.most),
  },
  acquireTimeoutMs: {
    value: 'MS',
    help: 'how long to wait for a free node',
    shownDefault: `${leaseRows.acquireTimeoutMs.byDefault}`,
    read: whole(0, dayMs),
  },

  segments: {
    group: 'Numbers',
    value: 'NAMES',
    help: 'the only allowed segments',
    shownDefault: 'any name',
    read: named<SegmentOptions>(['start', 'max', 'failoverGap']),
  },
  counters: {
    value: 'NAMES',
    help: 'the only allowed counters',
    shownDefault: 'any name',
    read: named<CounterOptions>(),
  },
  maxNames: {
    value: 'N',
    help: 'how many segments, and how many counters, may be open',
    byDefault: 1000,
    read: whole(1, 1_000_000),
  },
  leafAlloc: { help: "take segments from Leaf's table, in the mysql: store", read: flag },
  leafTable: { value: 'NAME', help: 'the name of that table', shownDefault: leafTableRow.byDefault, read: text },

  workers: {
    group: 'Load',
    value: 'N',
    help: 'processes, each with a node of its own',
    byDefault: 1,
    read: whole(1, 256),
  },
  maxCount: {
    value: 'N',
    help: 'how many ids one request may ask for; at most 1 048 576, but 16 777 216 numbers of segments as runs',
    byDefault: 65_536,
    read: whole(1, 16_777_216),
  },
  maxConnections: {
    value: 'N',
    help: 'how many connections one process accepts',
    byDefault: 10_000,
    read: whole(1, 1_000_000),
  },
  requestTimeoutMs: {
    value: 'MS',
    help: 'how long a request may take to arrive',
    byDefault: 10_000,
    read: whole(1, hourMs),
  },
  keepAliveMs: {
    value: 'MS',
    help: 'how long an idle connection stays open',
    // Longer than balancers keep idle connections (60 s), so the balancer closes first.
    byDefault: 75_000,
    read: whole(1, hourMs),
  },

  drainMs: {
    group: 'Shutdown',
    value: 'MS',
    help: 'how long to keep serving after SIGTERM, while not ready',
    byDefault: 1000,
    shownDefault: '1000; 0 with --strict',
    read: whole(0, hourMs),
  },
  shutdownTimeoutMs: {
    value: 'MS',
    help: 'how long requests may take after that',
    byDefault: 10_000,
    read: whole(0, hourMs),
  },

  logLevel: {
    group: 'Other',
    value: 'LEVEL',
    help: 'debug, with a line for each request; info, warn, error or silent',
    // A person at a terminal reads the lines of the start, and lines of JSON only if something is wrong.
    get byDefault() {
      return process.stderr.isTTY ? ('warn' as const) : ('info' as const)
    },
    shownDefault: 'info; warn at a terminal',
    read: choice('debug', 'info', 'warn', 'error', 'silent'),
  },
  logIds: { help: 'log who took which ids, numbers and counts; needs info or debug', byDefault: false, read: flag },
} satisfies Record<string, Option<unknown>>

type Table = typeof table
export type OptionName = keyof Table
type ValueOf<N extends OptionName> = Table[N]['read'] extends Read<infer T> ? T : never
type WithDefault = { [N in OptionName]: Table[N] extends { byDefault: unknown } ? N : never }[OptionName]

/** The table, with each default in the type of its option. */
export type Rows = { readonly [N in OptionName]: Option<ValueOf<N>> }

/** Options as they were given, each checked by itself. */
export type Given = { readonly [N in OptionName]?: ValueOf<N> }

/** The options of the service, checked, with their defaults. */
export type Options = Given & { readonly [N in WithDefault]: ValueOf<N> } & {
  /** The flag, variable or property that says which node is leased; absent if any node may be leased. */
  readonly nodeSource?: string | undefined
}

/** GRAUPEL_SERVER_ would clash: Kubernetes sets such variables in every pod beside a Service of that name. */
export const variablePrefix = 'GRAUPEL_OPTION_'

/** Returns an option's name on the command line, without dashes before it: `max-count` for `maxCount`. */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** Returns an option's name in the environment: `GRAUPEL_OPTION_MAX_COUNT` for `maxCount`. */
export function variableOf(name: string): string {
  return `${variablePrefix}${flagOf(name).replaceAll('-', '_').toUpperCase()}`
}
