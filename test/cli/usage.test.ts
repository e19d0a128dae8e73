import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { graupel, lines, spawnGraupel, spawnLines } from '../support/cli.js'

describe('a refused command', () => {
  const counts = ['1e3', '-1', '1.5', '', ' 1', '+1', '007', '-0', '0x10', '9007199254740992', 'NaN']

  it.each<[string, string[], RegExp]>([
    ...counts.map((count): [string, string[], RegExp] => ['ERR_OPTION_INVALID', ['-n', count], /--count is /]),
    ['ERR_OPTION_INVALID', ['-n'], /-n has no value; write -n N/],
    ['ERR_OPTION_INVALID', ['-n', '--layout', 'leaf'], /-n has no value/],
    ['ERR_OPTION_INVALID', ['-n', '5', '--count', '6'], /--count was given twice/],
    ['ERR_OPTION_INVALID', ['5'], /'5' is not the value of a flag.*-n/],
    ['ERR_OPTION_UNKNOWN', ['--nodes', '7'], /no flag --nodes \(did you mean --node\?\); see graupel next --help/],
    ['ERR_OPTION_UNKNOWN', ['--toString'], /no flag --toString/],
    ['ERR_OPTION_UNKNOWN', ['--a\nb\x1b[31m'], /--a\\u000ab\\u001b\[31m/],
    ['ERR_OPTION_INVALID', ['--help=yes'], /--help takes no value/],
    ['ERR_NODE_INVALID', ['--node', '1024'], /the node is 1024; .* 0 to 1023/],
    ...['x', '', '1.5', '-1', '07', 'worker', 'worker=1,', 'worker=1=2', '=1'].map(
      (node): [string, string[], RegExp] => [
        'ERR_NODE_INVALID',
        ['--node', node],
        /--node is '.*'; give a whole number/,
      ],
    ),
    ['ERR_NODE_INVALID', ['--node', 'worker=1'], /has no 'datacenter'/],
    ['ERR_NODE_INVALID', ['--node', 'datacenter=1,worker=7,rack=2'], /'rack'/],
    ['ERR_NODE_INVALID', ['--node', 'worker=1,worker=2'], /has 'worker' twice/],
    ['ERR_NODE_INVALID', ['--node', 'datacenter=1,worker=7,__proto__=1'], /'__proto__'/],
    [
      'ERR_OPTION_INVALID',
      ['--layout', 'Twitter'],
      /--layout is 'Twitter' \(did you mean 'twitter'\?\); it is one of twitter, leaf/,
    ],
    ['ERR_OPTION_INVALID', ['--layout', 'constructor'], /--layout is 'constructor'/],
    ['ERR_LAYOUT_EXPIRED', ['--layout', 'baidu'], /expired on 2024-11-20/],
    ['ERR_LAYOUT_DECODE_ONLY', ['--layout', 'mastodon'], /^graupel: layout 'mastodon' is for reading ids: /],
    ['ERR_EPOCH_INVALID', ['--epoch', '2020-01'], /--epoch is '2020-01'; give a day such as 2020-01-01/],
    ['ERR_CLOCK_BEFORE_EPOCH', ['--epoch', '9999999999999'], /set the clock, or choose an earlier epoch/],
    ['ERR_OPTION_INVALID', ['--namespace', ''], /^graupel: --namespace is ''/],
    [
      'ERR_OPTION_INVALID',
      ['--format', 'base64'],
      /--format is 'base64' \(did you mean 'base62'\?\); it is one of decimal/,
    ],
    ['ERR_OPTION_INVALID', ['--on-rollback', 'ignore'], /--on-rollback is 'ignore'/],
    ['ERR_OPTION_INVALID', ['--on-overflow', 'reuse'], /--on-overflow is 'reuse'/],
    ['ERR_OPTION_INVALID', ['--sequence-start', '1'], /--sequence-start is '1'/],
    ['ERR_OPTION_INVALID', ['--clock', 'sundial'], /--clock is 'sundial'/],
    ['ERR_OPTION_INVALID', ['--engine', 'rust'], /--engine is 'rust'/],
    ['ERR_OPTION_INVALID', ['--max-wait-ms', '-4'], /^graupel: --max-wait-ms is -4/],
    ['ERR_OPTION_INVALID', ['--window-ms', '500'], /--window-ms is for --store; for a state file give --reserve-ms/],
    ['ERR_OPTION_INVALID', ['--open-timeout-ms', '-1'], /^graupel: --open-timeout-ms is -1/],
    ['ERR_OPTION_INVALID', ['--reserve-ms', '0'], /^graupel: --reserve-ms is 0; pass milliseconds from 1 to/],
    ['ERR_OPTION_INVALID', ['--reserve-ms', '3s'], /^graupel: --reserve-ms is '3s'/],
    [
      'ERR_OPTION_INVALID',
      ['--state', 'hosts'],
      /^graupel: --state is 'hosts'; pass 'host', 'process', 'thread', or a path/,
    ],
    [
      'ERR_NATIVE_UNAVAILABLE',
      ['--state', 'host', '--engine', 'js'],
      /^graupel: --state is 'host', .* and engine is 'js'; leave state out, and the js engine keeps this node for one process /,
    ],
    ['ERR_OPTION_INVALID', ['--max-ahead-ms', '1s'], /--max-ahead-ms is '1s'/],
    ['ERR_OPTION_INVALID', ['-n', '99999999999999999'], /--count is 99999999999999999; give at most 9007199254740991 /],
    ['ERR_EPOCH_INVALID', ['--epoch', '-9007199254740992'], /--epoch is .*; give at least -9007199254740991 /],
  ])('%s for graupel next %j', async (code, words, message) => {
    const { status, stdout, stderr } = await graupel(['next', ...words], { GRAUPEL_NODE: '7' })
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/^graupel: [^\n]*\n$/)
    expect(stderr).toMatch(message)
    expect(stderr.endsWith(` (${code})\n`)).toBe(true)
  })

  it('without a node gets a message that names flags', async () => {
    const { status, stderr } = await graupel(['next', '--layout', 'js53'])
    expect(status).toBe(2)
    expect(stderr).toMatch(
      /^graupel: no node .* give --node with a number from 0 to 31 .* GRAUPEL_NODE \(ERR_NODE_REQUIRED\)\n$/,
    )
  })

  it('on the js engine is one of several processes, unless --state process is given', () => {
    const words = ['next', '--node', '7', '--engine', 'js']
    const { status, stderr } = spawnGraupel(words, { NODE_APP_INSTANCE: '1' })
    expect(status).toBe(2)
    expect(stderr).toMatch(/pass state: 'process'; see --state \(ERR_STATE_UNREACHABLE\)\n$/)
    expect(spawnLines([...words, '--state', 'process'], { NODE_APP_INSTANCE: '1' }).length).toBe(1)
  })

  it.each([
    [
      ['inspcet'],
      /no command 'inspcet' \(did you mean 'inspect'\?\); the commands are next, inspect, overlap, compose, convert, serial, sql, layouts, state, lease, store, doctor, build, help \(ERR_OPTION_UNKNOWN\)/,
    ],
    [['--nope'], /no flag --nope; see graupel --help \(ERR_OPTION_UNKNOWN\)/],
    [['help', 'nope'], /no command 'nope'/],
    [['--version', 'next'], /the command has to come first, and 'next' does not; see graupel --help/],
    [['-'], /the command has to come first, and '-' does not/],
    [['--'], /the command has to come first, and '--' does not/],
    [['--', 'next'], /the command has to come first, and 'next' does not/],
    [['--version', '--json'], /no flag --json/],
    [['doctor', '--prefix', 'a'], /--prefix is for --store; give both, or leave --prefix out/],
    [['doctor', '--table', 'a'], /--table is for --store/],
    [['next', '--epoch', '1577836800'], /the epoch is 1577836800, which is 2020-01-01T00:00:00.000Z in seconds/],
    [['sql', '--dialect', 'mysql', '--epoch', '1577836800'], /in seconds/],
    [['layouts', 'twitter'], /layouts takes no 'twitter'/],
    [['state', 'a', 'b'], /state takes one path, and 'b' is a second/],
  ])('is graupel %j', async (words, message) => {
    const { status, stdout, stderr } = await graupel(words)
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/^graupel: [^\n]*\n$/)
    expect(stderr).toMatch(message)
  })
})

describe('help', () => {
  it('is shown by --help, -h and help, and on stderr with exit code 2 if no command was given', async () => {
    const { stdout } = await graupel(['--help'])
    expect(stdout).toMatch(/graupel <command>/)
    expect(stdout).toMatch(/Exit codes\n {2}0 .*\n {2}1 .*\n {2}2 .*\n {2}3 .*\n\n.*docs\/errors\.md/)
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
    expect(await graupel(['-h'])).toEqual({ status: 0, stdout, stderr: '' })
    for (const words of [['help'], ['help', 'help'], ['help', '--help']])
      expect(await graupel(words)).toEqual({ status: 0, stdout, stderr: '' })
    expect(await graupel([])).toEqual({ status: 2, stdout: '', stderr: stdout })
  })

  it.each(['next', 'inspect', 'overlap', 'serial', 'sql', 'layouts', 'state', 'lease', 'store', 'build', 'compose'])(
    'of graupel %s names its flags and fits 80 columns',
    async (command) => {
      const { stdout } = await graupel([command, '--help'])
      expect((await graupel(['help', command])).stdout).toBe(stdout)
      expect(stdout).toMatch(new RegExp(`graupel ${command} [^]*--help`))
      expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
    },
  )

  it('--version is the version of the package', async () => {
    const file = fileURLToPath(new URL('../../package.json', import.meta.url))
    expect(await lines(['--version'])).toEqual([JSON.parse(readFileSync(file, 'utf8')).version])
  })
})
