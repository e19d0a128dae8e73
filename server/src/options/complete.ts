import { StartError, shown } from '../failure.js'
import { flagOf, type Given, type OptionName, type Options, type Rows, strictWindowMs, table } from './table.js'

const rows: Rows = table

function defaults(): Given {
  const names = Object.keys(rows) as OptionName[]
  const all = names.map((name) => [name, rows[name].byDefault] as const)
  return Object.fromEntries(all.filter(([, value]) => value !== undefined))
}

/**
 * Adds the defaults and checks the options together. Messages always name an option by its flag, because the
 * help lists flags and the value may be a default.
 *
 * @throws StartError if options contradict each other
 */
export function complete(given: Given): Options {
  const strictly = given.strict === true ? { windowMs: strictWindowMs, node: 0, drainMs: 0 } : {}
  const options = { ...defaults(), ...strictly, ...given } as Options
  const {
    port,
    adminPort,
    resp,
    respCounters,
    store,
    node,
    nodes,
    statefulSet,
    workers,
    leafAlloc,
    leafTable,
    tlsCert,
    tlsKey,
  } = options
  const together = (isWrong: boolean, rule: string) => {
    if (isWrong) throw new StartError('ERR_OPTION_INVALID', rule)
  }
  for (const rule of strictRules(options)) together(true, rule)
  together(
    adminPort !== undefined && adminPort === port && port !== 0,
    `--port and --admin-port are both ${port}; give another --admin-port`,
  )
  together(
    resp !== undefined && (resp === port || resp === adminPort) && resp !== 0,
    `--resp is ${resp}, which is the port of HTTP; give another --resp`,
  )
  together(
    respCounters !== undefined && resp === undefined,
    '--resp-counters needs --resp; give --resp, or leave --resp-counters out',
  )
  together(
    given.data !== undefined && store !== undefined,
    '--data and --store are given, and --data is a store itself; leave one out',
  )
  for (const name of ['prefix', 'assumeDurable'] as const) {
    together(
      store === undefined && given[name] !== undefined,
      `--${flagOf(name)} needs --store; give --store, or leave --${flagOf(name)} out`,
    )
  }
  together(statefulSet !== undefined && node !== undefined, '--node and --stateful-set are given; leave one out')
  together(statefulSet !== undefined && nodes !== undefined, '--nodes and --stateful-set are given; leave one out')
  together(
    (typeof node === 'number' || statefulSet !== undefined) && workers > 1,
    `there is one node for ${workers} workers, and each worker needs its own; give --nodes, or leave --workers out`,
  )
  together(
    leafAlloc === true && !/^(mysql|mariadb):/i.test(store ?? ''),
    "--leaf-alloc needs a mysql: store; give the URL of Leaf's database as --store",
  )
  together(
    leafTable !== undefined && leafAlloc !== true,
    '--leaf-table needs --leaf-alloc; give --leaf-alloc, or leave --leaf-table out',
  )
  together(
    (tlsCert === undefined) !== (tlsKey === undefined),
    'only one of --tls-cert and --tls-key is given; give both',
  )
  together(
    !isLoopback(options.host) && options.tokenFile === undefined && !options.allowAnonymous,
    `--host is ${shown(options.host)}, which other hosts can reach; give --token-file, or --allow-anonymous to serve every client`,
  )
  together(
    options.logIds && options.logLevel !== 'info' && options.logLevel !== 'debug',
    `--log-ids is given, and --log-level is ${options.logLevel}, which leaves its lines out; give --log-level info or debug`,
  )
  together(
    options.tokenFile !== undefined && options.allowAnonymous,
    '--token-file and --allow-anonymous are given; leave one out',
  )
  together(
    options.leases && options.allowAnonymous,
    '--leases and --allow-anonymous are given, and any client could take nodes from their holders; give --token-file',
  )
  together(
    options.leases && /^graupel\+/i.test(store ?? ''),
    '--leases is given, and --store is a service itself; leave --leases out, and give clients the URL of that service',
  )
  return options
}

/**
 * Returns what is wrong with the options of a strict group. It has one process, one node and one layout. The
 * lease checks the store, the window and the fields of the layout.
 */
function strictRules(options: Options): string[] {
  const { strict, advertise, workers, node, nodes, statefulSet, layouts, acquireTimeoutMs } = options
  if (!strict) {
    return advertise === undefined ? [] : ['--advertise needs --strict; give --strict, or leave --advertise out']
  }
  const rule = (isWrong: boolean, text: string) => (isWrong ? [text] : [])
  return [
    ...rule(
      workers > 1,
      `--strict is given, and --workers is ${workers}; one process gives ids in order: leave --workers out`,
    ),
    ...rule(
      typeof node !== 'number',
      '--strict is given, and --node has fields, so several nodes; give one node as a number, or leave --node out',
    ),
    ...rule(
      nodes !== undefined || statefulSet !== undefined,
      '--strict is given with --nodes or --stateful-set, and its servers share one node; leave them out',
    ),
    ...rule(
      layouts.length > 1,
      `--strict is given, and --layouts has ${layouts.length} layouts, which would have different holders; give one`,
    ),
    ...rule(
      acquireTimeoutMs !== undefined,
      '--strict and --acquire-timeout-ms are given, and a server of the group waits for as long as another one gives ids; leave --acquire-timeout-ms out',
    ),
  ]
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}
