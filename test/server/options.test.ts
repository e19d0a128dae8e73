import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { layouts } from 'graupel'
import { describe, expect, test } from 'vitest'
import { exitCodeOf, lineOf } from '../../server/src/failure.ts'
import { helpText } from '../../server/src/options/help.ts'
import { checkNumbers } from '../../server/src/options/numbers.ts'
import { readCommand } from '../../server/src/options/read.ts'
import { optionsOf } from './support/in-process.ts'
import { folder, run } from './support/process.ts'

/** Returns the line with which these options are refused. */
function refusalOf(flags: readonly string[], variables: Record<string, string> = {}): string {
  try {
    readCommand(flags, variables)
  } catch (error) {
    expect(exitCodeOf(error)).toBe(2)
    return lineOf(error)
  }
  throw new Error(`these were accepted: ${flags.join(' ')}`)
}

let files = 0
function fileOf(content: unknown): string {
  const file = join(folder, `config ${files++}.json`)
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

describe('an option', () => {
  test('has a default if nothing is given', () => {
    expect(optionsOf([])).toMatchObject({ host: '127.0.0.1', port: 4728, workers: 1, layouts: [layouts.twitter] })
  })

  test.each([
    ['at a terminal', true, 'warn'],
    ['into a file', undefined, 'info'],
  ])('for the log has a useful default %s', (_, isTerminal, level) => {
    const before = Object.getOwnPropertyDescriptor(process.stderr, 'isTTY')
    Object.defineProperty(process.stderr, 'isTTY', { value: isTerminal, configurable: true })
    try {
      expect(optionsOf([]).logLevel).toBe(level)
      expect(optionsOf(['--log-level', 'error']).logLevel).toBe('error')
    } finally {
      if (before === undefined) Reflect.deleteProperty(process.stderr, 'isTTY')
      else Object.defineProperty(process.stderr, 'isTTY', before)
    }
  })

  test('may have the name of another option at another place of the file', () => {
    const text =
      '{ "segments": { "port": {}, "a": { "step": 1 }, "b": { "step": 1 } }, "port": 1, "prefix": "port", "store": "redis://h" }'
    expect(optionsOf(['--config', fileOf(text)]).port).toBe(1)
  })

  test('comes from a flag before a variable, and from a variable before the file', () => {
    const config = fileOf({ port: 1, maxCount: 2, drainMs: 3 })
    const variables = { GRAUPEL_OPTION_PORT: '4', GRAUPEL_OPTION_MAX_COUNT: '5', GRAUPEL_OPTION_CONFIG: config }
    expect(optionsOf(['--port', '6'], variables)).toMatchObject({ port: 6, maxCount: 5, drainMs: 3 })
  })

  test('of the environment differs from the variables that Kubernetes sets for the ports of a Service', () => {
    const variables = { GRAUPEL_SERVER_PORT: 'tcp://10.0.0.1:80', GRAUPEL_PORT: 'tcp://10.0.0.1:80' }
    expect(optionsOf([], variables).port).toBe(4728)
  })

  test('of the environment that was read from a file may end with a line feed', () => {
    const url = 'redis://:password@127.0.0.1:6379'
    for (const end of ['\n', '\r\n']) expect(optionsOf([], { GRAUPEL_OPTION_STORE: url + end }).store).toBe(url)
  })

  test('of the environment that is empty counts as unset', () => {
    const empty = { GRAUPEL_OPTION_PORT: '', GRAUPEL_OPTION_ALLOW_ANONYMOUS: '\n', GRAUPEL_OPTION_CONFIG: '' }
    expect(optionsOf([], empty)).toEqual(optionsOf([]))
    expect(optionsOf(['--config', fileOf({ port: 1 })], empty).port).toBe(1)
  })

  test('that is a switch can be given without a value, and be switched off', () => {
    const store = ['--store', 'redis://127.0.0.1']
    expect(optionsOf([...store, '--assume-durable']).assumeDurable).toBe(true)
    expect(
      optionsOf([...store, '--assume-durable=false'], { GRAUPEL_OPTION_ASSUME_DURABLE: 'true' }).assumeDurable,
    ).toBe(false)
    expect(optionsOf(['--config', fileOf({ allowAnonymous: true })]).allowAnonymous).toBe(true)
  })

  test('can be an address or the name of a host', () => {
    for (const host of ['::1', 'localhost', '127.0.0.2']) expect(optionsOf(['--host', host]).host).toBe(host)
    const far = ['--allow-anonymous', '--host']
    for (const host of ['::', 'fe80::1%eth0', 'ids.example.com']) expect(optionsOf([...far, host]).host).toBe(host)
  })

  test('can be a node, some fields of a node, or a range of nodes', () => {
    expect(optionsOf(['--node', '7']).node).toBe(7)
    expect(optionsOf(['--node', 'datacenter=1,worker=2']).node).toEqual({ datacenter: 1, worker: 2 })
    expect(optionsOf(['--nodes', '0-255']).nodes).toEqual([0, 255])
    expect(optionsOf(['--config', fileOf({ node: { datacenter: 1 }, nodes: [3, 9] })])).toMatchObject({
      node: { datacenter: 1 },
      nodes: [3, 9],
    })
  })

  test('can be layouts by their names, and in the file also by their definitions', () => {
    expect(optionsOf(['--layouts', 'sonyflake,twitter']).layouts.map(({ name }) => name)).toEqual([
      'sonyflake',
      'twitter',
    ])
    const fields = [
      ['timestamp', 41],
      ['node', 12],
      ['sequence', 10],
    ]
    const own = { name: 'own', epochMs: 1_600_000_000_000, tickMs: 1, fields }
    expect(optionsOf(['--config', fileOf({ layouts: ['twitter', own] })]).layouts[1]).toMatchObject({ name: 'own' })
  })

  test('of a segment may be a number beyond JSON, as a text of digits', () => {
    const { segments } = optionsOf([
      '--config',
      fileOf({ segments: { orders: { max: '9223372036854775807', step: 5 } } }),
    ])
    expect(segments).toEqual({ orders: { max: 2n ** 63n - 1n, step: 5 } })
  })
})

describe('the node to lease', () => {
  const given = { GRAUPEL_NODE: 'datacenter=1,worker=7' }

  test.each<[string, string[], Record<string, string>, unknown, string | undefined]>([
    ['any node without a source', [], {}, undefined, undefined],
    ['GRAUPEL_NODE', [], { GRAUPEL_NODE: '39' }, 39, 'GRAUPEL_NODE'],
    ['the fields of GRAUPEL_NODE', [], given, { datacenter: 1, worker: 7 }, 'GRAUPEL_NODE'],
    ['any node if GRAUPEL_NODE is empty', [], { GRAUPEL_NODE: '' }, undefined, undefined],
    ['a flag before GRAUPEL_NODE', ['--node', '3'], given, 3, '--node'],
    ['an own variable before GRAUPEL_NODE', [], { ...given, GRAUPEL_OPTION_NODE: '3' }, 3, 'GRAUPEL_OPTION_NODE'],
    ['a range before GRAUPEL_NODE', ['--nodes', '0-9'], given, undefined, '--nodes'],
    ['the ordinal of a pod before GRAUPEL_NODE', ['--stateful-set', 'ids'], given, undefined, '--stateful-set'],
  ])('is %s', (_, flags, variables, node, nodeSource) => {
    const options = optionsOf(flags, variables)
    expect({ node: options.node, nodeSource: options.nodeSource }).toEqual({ node, nodeSource })
  })

  test('is 0 in a strict group, whose servers share it, whatever GRAUPEL_NODE is', () => {
    expect(optionsOf(['--strict'], given)).toMatchObject({ node: 0, nodeSource: undefined })
  })

  test('is refused with the name of the variable', () => {
    expect(refusalOf([], { GRAUPEL_NODE: 'x' })).toMatch(/^GRAUPEL_NODE is "x"; give /)
  })
})

describe('the service refuses', () => {
  const store = ['--store', 'redis://127.0.0.1']
  test.each<[string, string[], RegExp]>([
    [
      'an unknown flag',
      ['--prot', '1'],
      /^there is no flag --prot \(did you mean --port\?\); see graupel-server --help \(ERR_OPTION_UNKNOWN\)$/,
    ],
    ['a word', ['start'], /^there is the word 'start', and graupel-server takes only flags; see graupel-server --help/],
    ['a flag that is given twice', ['--port', '1', '--port', '2'], /^--port was given twice/],
    ['a flag without its value', ['--store', '--assume-durable'], /^--store has no value; write --store URL/],
    ['a flag at the end without its value', ['--port'], /^--port has no value; write --port PORT/],
    ['a port that is too large', ['--port', '65536'], /^--port is "65536"; give a whole number from 0 to 65535/],
    ['a number in another form', ['--port', '0x10'], /^--port is "0x10"/],
    ['a number with a fraction', ['--max-count', '1.5'], /^--max-count is "1.5"/],
    ['a number that is negative', ['--drain-ms=-1'], /^--drain-ms is "-1"/],
    ['a port in the address', ['--host', '127.0.0.1:80'], /^--host is "127.0.0.1:80"; give an address without a port/],
    ['a URL', ['--host', 'http://127.0.0.1'], /^--host is "http:\/\/127.0.0.1"; give an address/],
    ['an address in brackets', ['--host', '[::1]'], /^--host is "\[::1\]"; give an address .* or ::1/],
    ['an empty text', ['--host', ''], /^--host is ""; give a text that is not empty/],
    ['another word for a switch', ['--allow-anonymous=yes'], /^--allow-anonymous is "yes"; give true or false/],
    [
      'an unknown log level',
      ['--log-level', 'loud'],
      /^--log-level is "loud"; give one of debug, info, warn, error, silent/,
    ],
    [
      'an unknown layout',
      ['--layouts', 'twiter'],
      /^--layouts is "twiter" \(did you mean "twitter"\?\); give one of twitter, /,
    ],
    [
      'a decode-only layout',
      ['--layouts', 'twitter,mastodon'],
      /^--layouts has the layout "mastodon", which graupel only decodes; leave it out, .* \(ERR_LAYOUT_DECODE_ONLY\)$/,
    ],
    ['a layout twice', ['--layouts', 'twitter,twitter'], /give each layout once/],
    ['no name', ['--segments', 'a,,b'], /^--segments is "a,,b"; give names with commas between them/],
    ['a name twice', ['--counters', 'a,b,a'], /^--counters is "a,b,a"; give each name once/],
    ['half a range', ['--nodes', '5'], /^--nodes is "5"; give the first and the last node, such as 0-255/],
    [
      'a range that ends before it begins',
      ['--nodes', '9-3'],
      /^--nodes is "9-3"; give the first node before the last/,
    ],
    ['a value of the help', ['--help=foo'], /^--help takes no value; write --help alone/],
    ['a value of the version', ['--version=1'], /^--version takes no value/],
    [
      'a window that a busy host cannot keep',
      ['--window-ms', '999'],
      /^--window-ms is "999"; give a whole number from 1000 /,
    ],
    ['a field of a node twice', ['--node', 'datacenter=1,datacenter=2'], /^--node is .*; give each field once/],
    ['a node that is no number', ['--node', 'datacenter=x'], /^--node is "datacenter=x"/],
    ['no workers', ['--workers', '0'], /^--workers is "0"/],
    ['a database beside a store', ['--data', 'x', ...store], /leave one out/],
    ['a prefix of the embedded database', ['--prefix', 'x'], /^--prefix needs --store; give --store/],
    ['durability of the embedded database', ['--assume-durable'], /^--assume-durable needs --store/],
    ['one node for several workers', ['--node', '7', '--workers', '2'], /^there is one node for 2 workers/],
    ['a node beside a StatefulSet', ['--node', '7', '--stateful-set', 'x'], /leave one out/],
    ['a range beside a StatefulSet', ['--nodes', '0-7', '--stateful-set', 'x'], /leave one out/],
    ["Leaf's table in another store", ['--leaf-alloc', ...store], /^--leaf-alloc needs a mysql: store/],
    [
      "the name of Leaf's table alone",
      ['--leaf-table', 'x', '--store', 'mysql://127.0.0.1/x'],
      /^--leaf-table needs --leaf-alloc/,
    ],
    [
      'the port of HTTP for clients of Redis',
      ['--resp', '4728'],
      /^--resp is 4728, which is the port of HTTP; give another/,
    ],
    [
      'a prefix of counters without a port',
      ['--resp-counters', 'c:'],
      /^--resp-counters needs --resp; give --resp, or/,
    ],
    ['a certificate without its key', ['--tls-cert', 'x'], /^only one of --tls-cert and --tls-key is given; give both/],
    [
      'an address that other hosts can reach without a token',
      ['--host', '0.0.0.0'],
      /^--host is "0.0.0.0", which other hosts can reach; give --token-file, or --allow-anonymous/,
    ],
    [
      'a record of ids that the level of the log leaves out',
      ['--log-ids', '--log-level', 'warn'],
      /^--log-ids is given, and --log-level is warn, which leaves its lines out; give --log-level info or debug/,
    ],
    ['a token beside --allow-anonymous', ['--token-file', 'x', '--allow-anonymous'], /leave one out/],
    [
      'a file that does not exist',
      ['--config', '/nowhere/graupel.json'],
      /^the configuration file cannot be read: ENOENT/,
    ],
  ])('%s', (_, flags, line) => {
    expect(refusalOf(flags)).toMatch(line)
  })

  test.each<[string, unknown, RegExp]>([
    ['a file that is no JSON', '{ port: 1 }', /^the configuration file cannot be read: .*; give a file with JSON/],
    ['a key twice', '{ "port": 1, "maxCount": 5, "port": 2 }', /json has port twice; give it once/],
    ['a key twice, once in escapes', '{ "port": 1, "p\\u006frt" : 2 }', /json has port twice/],
    [
      'a name of a segment twice',
      '{ "segments": { "a\\"{": {}, "orders": { "step": 1 }, "orders": {} } }',
      /json has segments\.orders twice; give it once/,
    ],
    ['an option of a name twice', '{"counters":{"a":{"start":1,"start":2}}}', /json has counters\.a\.start twice/],
    ['a key of a layout twice', '{"layouts":["twitter",{"name":"a","name":"b"}]}', /json has layouts\.name twice/],
    ['a file without an object', [], /has no JSON object; write \{ "port": 4728 \}/],
    [
      'an unknown key',
      { prot: 1 },
      /has "prot", which is no option \(did you mean "port"\?\); see graupel-server --help \(ERR_OPTION_UNKNOWN\)$/,
    ],
    ['a key of every object', { constructor: 1 }, /has "constructor", which is no option/],
    ['another type', { port: true }, /^port in .* is true; give a whole number/],
    ['a list without elements', { layouts: [] }, /^layouts in .* is \[\]/],
    [
      'a decode-only layout',
      { layouts: [{ ...layouts.twitter, name: 'x', decodeOnly: true }] },
      /^layouts in .* has the layout "x", which graupel only decodes/,
    ],
    [
      'a layout whose name fits no header',
      {
        layouts: [
          {
            name: '订单',
            epochMs: 0,
            tickMs: 1,
            fields: [
              ['timestamp', 41],
              ['node', 6],
              ['sequence', 12],
            ],
          },
        ],
      },
      /^layouts in .* has the layout "订单", whose name is no text of a header; .*\(ERR_LAYOUT_INVALID\)$/,
    ],
    [
      'a layout that breaks a rule',
      { layouts: [{ name: 'x' }] },
      /^layouts in .*: the epoch is undefined; .*\(ERR_EPOCH_INVALID\)$/,
    ],
    [
      'options of a name that are no object',
      { segments: { orders: 5 } },
      /^segments in .*\.orders is 5; give an object/,
    ],
  ])('in the file: %s', (_, content, line) => {
    expect(refusalOf(['--config', fileOf(content)])).toMatch(line)
  })

  test('an unknown variable with the prefix of options', () => {
    expect(refusalOf([], { GRAUPEL_OPTION_PROT: '1' })).toMatch(
      /^there is no variable GRAUPEL_OPTION_PROT \(did you mean GRAUPEL_OPTION_PORT\?\); see/,
    )
  })
})

describe('before it asks a store, the service refuses', () => {
  const leaf = { leafAlloc: true, store: 'mysql://127.0.0.1/leaf' }
  test.each<[string, object, RegExp]>([
    ['an option that segments do not have', { segments: { orders: { stpe: 5 } } }, /^segments\.orders: .*stpe/],
    ['a value that it cannot have', { segments: { orders: { step: 0 } } }, /^segments\.orders: step is 0; /],
    ['a name that is too long', { segments: ['x'.repeat(129)] }, /^segments\.x{40}…: /],
    [
      'an option that the service sets',
      { segments: { orders: { store: {} } } },
      /^segments\.orders has store, which the service sets itself/,
    ],
    ['a handle', { segments: { orders: { handle: {} } } }, /^segments\.orders has handle/],
    [
      "a start of Leaf's table",
      { ...leaf, segments: { orders: { start: 5 } } },
      /^segments\.orders: start is 5, and the numbers/,
    ],
    [
      'a pattern that cannot be read',
      { counters: { invoices: { pattern: 'IN-{cuont}' } } },
      /^counters\.invoices: .*ERR_PATTERN_INVALID/,
    ],
    ['an option that counters do not have', { counters: { invoices: { step: 5 } } }, /^counters\.invoices: .*step/],
  ])('%s', async (_, content, line) => {
    const error = await checkNumbers(optionsOf(['--config', fileOf(content)])).catch((error) => error)
    expect(lineOf(error)).toMatch(line)
    expect(exitCodeOf(error)).toBe(2)
  })

  test('nothing if all is right', async () => {
    const counters = { invoices: { pattern: 'IN-{yyyy}-{count:6}', reset: 'year' } }
    await checkNumbers(optionsOf(['--config', fileOf({ segments: { orders: { start: 5, step: 10 } }, counters })]))
    await checkNumbers(optionsOf(['--config', fileOf({ ...leaf, segments: { orders: { step: 10 } } })]))
  })
})

describe('the command', () => {
  test('ends with one line and exit code 2 if an option is wrong, and otherwise shows its version', async () => {
    const wrong = run(['--port', 'x'])
    const store = run(['--store', 'redis://127.0.0.1:99999'])
    const version = run(['--version'])
    expect(await wrong.ended).toBe(2)
    expect(wrong.stderr()).toMatch(/^graupel-server: --port is "x"; give .*\n$/)
    expect(wrong.stdout()).toBe('')
    expect(await store.ended).toBe(2)
    expect(store.stderr()).toMatch(/^graupel-server: store has a port that is not a number up to 65535; .*\n$/)
    expect(await version.ended).toBe(0)
    expect(version.stdout()).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  test('lists the options in its help', () => {
    expect(readCommand(['-h'], {})).toEqual({ kind: 'help' })
    expect(helpText()).toMatch(/^Usage: graupel-server \[flags\]\n.* --max-count N +how many ids/s)
  })

  test('wraps its help at 80 columns', () => {
    expect(
      helpText()
        .split('\n')
        .filter((line) => line.length > 80),
    ).toEqual([])
  })
})
