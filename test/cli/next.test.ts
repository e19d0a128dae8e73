import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { failureLine } from '../../src/cli/failure.js'
import { next } from '../../src/cli/next.js'
import { Output } from '../../src/cli/output.js'
import { Progress } from '../../src/cli/progress.js'
import { decode, encodings, type Layout, layouts, parseId, type TextEncoding } from '../../src/index.js'
import { environment, graupel, lines, program, removePages, start } from '../support/cli.js'
import { engines, freshNamespace } from '../support/engines.js'

const isWindows = process.platform === 'win32'
const isNative = engines.includes('native')
const textEncodings = encodings.filter((encoding): encoding is TextEncoding => encoding !== 'bytes')

describe.each(engines)('graupel next on the %s engine', (engine) => {
  // The js engine keeps a node for one process, and the examples of documents, which run at the same time, take node 7 and others.
  const own = ['--engine', engine, '--namespace', freshNamespace()]

  it('prints two million ids in ascending order, so no two are equal', async () => {
    const child = start(['next', '-n', '2000000', '--node', '7', ...own])
    let count = 0
    let last = -1n
    let faults = 0
    for await (const line of createInterface({ input: child.stdout })) {
      const id = BigInt(line)
      if (id <= last || (id >> 12n) % 1024n !== 7n) faults++
      last = id
      count++
    }
    expect({ count, faults }).toEqual({ count: 2_000_000, faults: 0 })
  })

  it.each(
    Object.values(layouts).filter(({ expiresAt, decodeOnly }) => !decodeOnly && expiresAt.getTime() > Date.now()),
  )('makes ids of layout $name, more than a tick holds', (layout: Layout) => {
    const count = Math.min(2 ** layout.sequence.bits + 10, 10_000)
    const ids = lines(['next', `-n${count}`, '--node', '5', '--layout', layout.name, ...own])
    expect(ids.length).toBe(count)
    expect(new Set(ids).size).toBe(count)
    expect(new Set(ids.map((id) => decode(id, layout).node))).toEqual(new Set([5]))
  })
})

describe('graupel next', () => {
  it('prints one id without -n, and none with -n 0', () => {
    expect(lines(['next', '--node', '7'])).toEqual([expect.stringMatching(/^[0-9]{19}$/)])
    expect(lines(['next', '--node', '7', '-n', '0'])).toEqual([])
  })

  it('takes the node as one number, field by field, or from GRAUPEL_NODE', () => {
    const nodeOf = (words: string[], variables = {}) => decode(lines(words, variables)[0] as string, layouts.twitter)
    expect(nodeOf(['next', '--node', '39']).fields).toEqual({ datacenter: 1, worker: 7 })
    expect(nodeOf(['next', '--node', 'worker=7,datacenter=1']).node).toBe(39)
    expect(nodeOf(['next'], { GRAUPEL_NODE: '39' }).node).toBe(39)
    expect(nodeOf(['next', '--node', '3'], { GRAUPEL_NODE: '39' }).node).toBe(3)
  })

  it.each(textEncodings)('writes ids in %s that read back as ids of this moment', (format) => {
    const before = Date.now()
    const texts = lines(['next', '-n', '5', '--node', '7', '--format', format])
    const ids = texts.map((text) => parseId(text, format))
    expect(ids.length).toBe(5)
    for (const id of ids) {
      const { timestampMs, node } = decode(id, layouts.twitter)
      expect(node).toBe(7)
      expect(timestampMs).toBeGreaterThanOrEqual(before)
      expect(timestampMs).toBeLessThanOrEqual(Date.now())
    }
    expect(ids).toEqual([...ids].sort((a, b) => (a < b ? -1 : 1)))
  })

  it('writes bytes without line ends', () => {
    const words = ['next', '-n', '3', '--node', '7', '--format', 'bytes']
    const { stdout } = spawnSync(process.execPath, [program, ...words], { env: environment() })
    const ids = [0, 8, 16].map((at) => parseId(stdout.subarray(at, at + 8), 'bytes'))
    expect(stdout.length).toBe(24)
    expect(ids.map((id) => decode(id, layouts.twitter).node)).toEqual([7, 7, 7])
  })

  it('writes json with every part of the id, by the epoch that was given', () => {
    const [line] = lines(['next', '--node', '39', '--epoch', '1600000000000', '--format', 'json'])
    const { id, timestampMs, ...rest } = JSON.parse(line as string)
    expect(rest).toEqual({
      timestamp: new Date(timestampMs).toISOString(),
      node: 39,
      fields: { datacenter: 1, worker: 7 },
      sequence: 0,
    })
    expect(id).toBe(String((BigInt(timestampMs - 1600000000000) << 22n) | (39n << 12n)))
  })

  it('waits for the next tick where the library alone would refuse, because a tick lasts a second', () => {
    const epoch = String(Date.now() - 1_000_000)
    const ids = lines(['next', '-n', '8200', '--node', '7', '--layout', 'baidu', '--epoch', epoch])
    expect(new Set(ids).size).toBe(8200)
  })

  it('ends only when its last tick is over where nothing remembers it, so that the next run cannot repeat it', () => {
    const alone = ['--node', '7', '--state', 'process']
    const words = ['next', ...alone, '--layout', 'baidu', '--epoch', String(Date.now() - 1_000_000)]
    expect(lines(words)).not.toEqual(lines(words))
    // These are 780 ms ahead of the clock when they have been made.
    const ahead = ['next', '-n', '20000', ...alone, '--layout', 'sonyflake', '--on-overflow', 'advance']
    expect(new Set([...lines(ahead), ...lines(ahead)]).size).toBe(40_000)
  })

  it.runIf(isNative)('remembers where it is told to, and then ends at once', () => {
    const folder = mkdtempSync(join(tmpdir(), 'graupel-'))
    const namespace = freshNamespace()
    const words = ['next', '-n', '250000', '--node', '7', '--namespace', namespace, '--layout', 'baidu']
    // Half a minute ahead of the clock each time, for which it would wait if nothing remembered that.
    const ahead = ['--epoch', '1600000000000', '--on-overflow', 'advance', '--max-ahead-ms', '600000']
    try {
      const states = ['host', join(folder, 'ids.state')].flatMap((state) => [state, state])
      const startMs = performance.now()
      const ids = states.flatMap((state) => lines([...words, ...ahead, '--state', state, '--window-ms', '90000']))
      expect(performance.now() - startMs).toBeLessThan(60_000)
      expect(new Set(ids).size).toBe(1_000_000)
    } finally {
      rmSync(folder, { recursive: true })
      removePages(namespace)
    }
  })

  it.runIf(isNative)('makes ids of one node by many commands at once, no two of them equal', async () => {
    const namespace = freshNamespace()
    const words = ['next', '-n', '100000', '--node', '7', '--layout', 'wide', '--namespace', namespace]
    const outputs = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const child = start(words)
        let stdout = ''
        child.stdout.on('data', (text) => {
          stdout += text
        })
        expect(await once(child, 'close')).toEqual([0, null])
        return stdout.split('\n').slice(0, -1)
      }),
    )
    removePages(namespace)
    expect(new Set(outputs.flat()).size).toBe(400_000)
  })

  it('passes the policies on, and speaks of them as flags', () => {
    // A tick of 10 ms holds 256 ids, which takes far less to make.
    const words = ['next', '--node', '7', '--layout', 'sonyflake', '-n', '20000']
    const refused = (more: string[]) => {
      const { status, stderr } = graupel([...words, ...more])
      return { status, stderr }
    }
    expect(refused(['--on-overflow', 'throw'])).toEqual({
      status: 2,
      stderr: expect.stringMatching(/^graupel: node 7 has issued all 256 ids [^\n]*\(ERR_SEQUENCE_OVERFLOW\)\n$/),
    })
    expect(refused(['--max-wait-ms', '0'])).toEqual({
      status: 2,
      stderr: expect.stringMatching(/ --max-wait-ms is 0[^\n]*\(ERR_SEQUENCE_OVERFLOW\)\n$/),
    })
  })

  it('starts each tick where --sequence-start says', () => {
    const words = ['next', '--node', '7', '--layout', 'sonyflake', '-n', '1000']
    const starts = (start: string) => {
      const decoded = lines([...words, '--sequence-start', start]).map((id) => decode(id, layouts.sonyflake))
      return decoded
        .filter(({ timestampMs }, i) => timestampMs !== decoded[i - 1]?.timestampMs)
        .map(({ sequence }) => sequence)
    }
    expect(new Set(starts('zero'))).toEqual(new Set([0]))
    // At least four ticks, of at least 128 starts each.
    expect(new Set(starts('random')).size).toBeGreaterThan(1)
  })

  it('shows a warning of the library in one line, and the ids all the same', () => {
    const epoch = String(Date.now() - 2 ** 28 * 1000 + 24 * 3600_000)
    const { status, stdout, stderr } = graupel(['next', '--node', '7', '--layout', 'baidu', '--epoch', epoch])
    expect(status).toBe(0)
    expect(stdout).toMatch(/^[0-9]+\n$/)
    expect(stderr).toMatch(/^graupel: warning: layout 'baidu' expires on .* \(GRAUPEL_LAYOUT_EXPIRES\)\n$/)
  })
})

describe('streaming', () => {
  it('makes nothing more while its output is not read, so memory stays flat', async () => {
    const waiting: (() => void)[] = []
    const output = new Output(new Writable({ write: (_chunk, _encoding, done) => void waiting.push(done) }))
    const done = next({ values: { count: '50000', node: '7' }, positionals: [] }, output)
    for (let chunk = 1; chunk <= Math.ceil(50_000 / 4096); chunk++) {
      for (let i = 0; i < 20; i++) await turn()
      expect(waiting.length).toBe(chunk)
      waiting.at(-1)?.()
    }
    await done
  })

  it('ends at once, quietly and with 0, when its reader is gone', async () => {
    const child = start(['next', '-n', '9007199254740991', '--node', '7'])
    let stderr = ''
    child.stderr.on('data', (text) => {
      stderr += text
    })
    await once(child.stdout, 'data')
    child.stdout.destroy()
    const [status] = await once(child, 'close')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  it.skipIf(isWindows)('is ended by Ctrl-C, also while its output is not read; shells call that 130', async () => {
    const child = start(['next', '-n', '9007199254740991', '--node', '7'])
    await once(child.stdout, 'readable')
    child.kill('SIGINT')
    const [, signal] = await once(child, 'exit')
    expect(signal).toBe('SIGINT')
  })

  it.skipIf(!existsSync('/dev/full'))('says in one line that the disk is full', () => {
    const { status, stderr } = spawnSync(process.execPath, [program, 'next', '-n', '100000', '--node', '7'], {
      env: environment(),
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
      encoding: 'utf8',
    })
    expect(status).toBe(2)
    expect(stderr).toMatch(/^graupel: .*\(ENOSPC\)\n$/)
  })

  it('shows progress on a terminal only, only for many ids, and leaves nothing of it', () => {
    let nowMs = 0
    const shown = (isTTY: boolean, total: number) => {
      const written: string[] = []
      const progress = new Progress({ isTTY, write: (text) => written.push(text) }, total, () => nowMs)
      nowMs += 50
      progress.update(total / 4)
      nowMs += 950
      progress.update(total / 2)
      progress.erase()
      progress.erase()
      return written
    }
    const line = '\r\x1b[K1,000,000 of 2,000,000 ids, 50 %, 1,000,000 a second'
    expect(shown(true, 2_000_000)).toEqual([line, '\r\x1b[K'])
    expect(shown(true, 999_999)).toEqual([])
    expect(shown(false, 2_000_000)).toEqual([])
    expect(process.listenerCount('SIGINT')).toBe(0)
  })

  it('shows progress of a list of nodes, too', () => {
    let nowMs = 0
    const written: string[] = []
    const terminal = { isTTY: true, write: (text: string) => written.push(text) }
    for (const nodes of [9999, 20_000]) {
      const progress = new Progress(terminal, nodes, () => nowMs, 'nodes')
      nowMs += 1000
      progress.update(nodes / 2)
      progress.erase()
    }
    expect(written).toEqual(['\r\x1b[K10,000 of 20,000 nodes, 50 %, 10,000 a second', '\r\x1b[K'])
  })
})

describe.skipIf(isWindows)('a progress line', () => {
  /** How a process ends that shows one, when it is interrupted. */
  async function interrupted(listener: string) {
    const module = new URL('../../src/cli/progress.ts', import.meta.url).href
    const code = `
      import { Progress } from ${JSON.stringify(module)}
      let nowMs = 0
      const terminal = { isTTY: true, write: (text) => process.stdout.write(text) }
      ${listener}
      new Progress(terminal, 1_000_000, () => (nowMs += 1000)).update(1)
      setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let shown = ''
    child.stdout.on('data', (text) => {
      shown += text
    })
    await once(child.stdout, 'data')
    child.kill('SIGINT')
    const [status, signal] = await once(child, 'close')
    expect(shown).toContain('ids, 0 %,')
    return { status, signal, shown }
  }

  it('is erased by Ctrl-C, which ends the run as ever', async () => {
    const { signal, shown } = await interrupted('')
    expect(signal).toBe('SIGINT')
    expect(shown.endsWith('\r\x1b[K')).toBe(true)
  })

  it('leaves it to another listener to end the run', async () => {
    const last = "process.on('SIGINT', () => setImmediate(() => process.exit(7)))"
    const { status, shown } = await interrupted(last)
    expect(status).toBe(7)
    expect(shown.endsWith('\r\x1b[K')).toBe(true)
  })
})

describe('what is refused', () => {
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
    ['ERR_NODE_INVALID', ['--node', 'worker=1'], /'datacenter' is missing/],
    ['ERR_NODE_INVALID', ['--node', 'datacenter=1,worker=7,rack=2'], /'rack'/],
    ['ERR_NODE_INVALID', ['--node', 'worker=1,worker=2'], /has 'worker' twice/],
    [
      'ERR_OPTION_INVALID',
      ['--layout', 'Twitter'],
      /--layout is 'Twitter' \(did you mean 'twitter'\?\); it is one of twitter, leaf/,
    ],
    ['ERR_OPTION_INVALID', ['--layout', 'constructor'], /--layout is 'constructor'/],
    ['ERR_LAYOUT_EXPIRED', ['--layout', 'baidu'], /expired on 2024-11-20/],
    ['ERR_LAYOUT_DECODE_ONLY', ['--layout', 'mastodon'], /^graupel: layout 'mastodon' is for reading ids: /],
    ['ERR_EPOCH_INVALID', ['--epoch', '2020-01'], /--epoch is '2020-01'; give a day such as 2020-01-01/],
    ['ERR_EPOCH_INVALID', ['--epoch', '9999999999999'], /in the future/],
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
    ['ERR_OPTION_INVALID', ['--window-ms', '0'], /^graupel: --window-ms is 0; pass milliseconds from 1 to/],
    ['ERR_OPTION_INVALID', ['--window-ms', '3s'], /^graupel: --window-ms is '3s'/],
    [
      'ERR_OPTION_INVALID',
      ['--state', 'hosts'],
      /^graupel: --state is 'hosts'; pass 'host', 'process', 'thread', or a path/,
    ],
    [
      'ERR_NATIVE_UNAVAILABLE',
      ['--state', 'host', '--engine', 'js'],
      /^graupel: --state is 'host', .* and --engine is 'js'; leave state out, .* pass --state process if no other process/,
    ],
    ['ERR_OPTION_INVALID', ['--max-ahead-ms', '1s'], /--max-ahead-ms is '1s'/],
    ['ERR_OPTION_INVALID', ['-n', '99999999999999999'], /--count is 99999999999999999; give at most 9007199254740991 /],
    ['ERR_EPOCH_INVALID', ['--epoch', '-9007199254740992'], /--epoch is .*; give at least -9007199254740991 /],
  ])('%s for graupel next %j', (code, words, message) => {
    const { status, stdout, stderr } = graupel(['next', ...words], { GRAUPEL_NODE: '7' })
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/^graupel: [^\n]*\n$/)
    expect(stderr).toMatch(message)
    expect(stderr.endsWith(` (${code})\n`)).toBe(true)
  })

  it('is a run without a node, in words of the command line', () => {
    const { status, stderr } = graupel(['next', '--layout', 'js53'])
    expect(status).toBe(2)
    expect(stderr).toMatch(
      /^graupel: no node .* give --node with a number from 0 to 31 .* GRAUPEL_NODE \(ERR_NODE_REQUIRED\)\n$/,
    )
  })

  it.each([
    [
      "which is what onOverflow 'throw' allows; choose a larger windowMs",
      "which is what --on-overflow 'throw' allows; choose a larger --window-ms",
    ],
    ['which is what maxWaitMs (50) allows', 'which is what --max-wait-ms (50) allows'],
    ["make the folder writable, or pass state: 'process' if", 'make the folder writable, or pass --state process if'],
    ["engine is 'native', but allow engine: 'auto'", "--engine is 'native', but allow --engine auto"],
    ['the state file /a/state is on NFS', 'the state file /a/state is on NFS'],
  ])('is explained in flags where the library says %j', (message, line) => {
    expect(failureLine({ code: 'ERR_X', message })).toBe(`graupel: ${line} (ERR_X)`)
  })

  it('is one process of several, until it is told that it counts alone', () => {
    const words = ['next', '--node', '7', '--engine', 'js']
    const { status, stderr } = graupel(words, { NODE_APP_INSTANCE: '1' })
    expect(status).toBe(2)
    expect(stderr).toMatch(/pass --state process to say so \(ERR_STATE_UNREACHABLE\)\n$/)
    expect(lines([...words, '--state', 'process'], { NODE_APP_INSTANCE: '1' }).length).toBe(1)
  })

  it.each([
    [
      ['inspcet'],
      /no command 'inspcet' \(did you mean 'inspect'\?\); the commands are next, inspect, overlap, serial, layouts, state, lease, help \(ERR_OPTION_UNKNOWN\)/,
    ],
    [['--nope'], /no flag --nope; see graupel --help \(ERR_OPTION_UNKNOWN\)/],
    [['help', 'nope'], /no command 'nope'/],
    [['layouts', 'twitter'], /layouts takes no 'twitter'/],
    [['state', 'a', 'b'], /state takes one path, and 'b' is a second one/],
  ])('is graupel %j', (words, message) => {
    const { status, stdout, stderr } = graupel(words)
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/^graupel: [^\n]*\n$/)
    expect(stderr).toMatch(message)
  })
})

describe('help', () => {
  it('is shown by --help, -h and help, and on stderr with exit code 2 where nothing was asked', () => {
    const { stdout } = graupel(['--help'])
    expect(stdout).toMatch(/graupel <command>/)
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
    expect(graupel(['-h'])).toEqual({ status: 0, stdout, stderr: '' })
    expect(graupel(['help'])).toEqual({ status: 0, stdout, stderr: '' })
    expect(graupel([])).toEqual({ status: 2, stdout: '', stderr: stdout })
  })

  it.each(['next', 'inspect', 'serial', 'layouts', 'state', 'lease'])(
    'of graupel %s names its flags and fits 80 columns',
    (command) => {
      const { stdout } = graupel([command, '--help'])
      expect(graupel(['help', command]).stdout).toBe(stdout)
      expect(stdout).toMatch(new RegExp(`graupel ${command} [^]*--help`))
      expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
    },
  )

  it('--version is the version of the package', () => {
    const file = fileURLToPath(new URL('../../package.json', import.meta.url))
    expect(lines(['--version'])).toEqual([JSON.parse(readFileSync(file, 'utf8')).version])
  })
})
