import { execSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as graupel from 'graupel'
import * as client from 'graupel/client'
import * as kind from 'graupel/kind'
import * as lease from 'graupel/lease'
import * as mask from 'graupel/mask'
import * as segments from 'graupel/segments'
import * as stores from 'graupel/stores'
import * as dynamodb from 'graupel/stores/dynamodb'
import * as mongodb from 'graupel/stores/mongodb'
import * as mysql from 'graupel/stores/mysql'
import * as object from 'graupel/stores/object'
import * as postgres from 'graupel/stores/postgres'
import * as redis from 'graupel/stores/redis'
import * as service from 'graupel/stores/service'
import * as sqlite from 'graupel/stores/sqlite'
import * as storesTesting from 'graupel/stores/testing'
import * as storeUrl from 'graupel/stores/url'
import * as testing from 'graupel/testing'
import * as uuid from 'graupel/uuid'
import { describe, expect, it } from 'vitest'
import { serve } from '../server/support/process.ts'
import { type Block, blocksOf, documentsRunElsewhere, needsServer, read, repository } from '../support/documents.js'
import { engines } from '../support/engines.js'
import { docstringExamples, examplesWithDatabase } from '../support/examples.js'
import { ExamplesRun } from './examples-run.js'

const folder = repository
const documents = [
  'README.md',
  'examples/README.md',
  'skills/graupel/SKILL.md',
  ...readdirSync(join(folder, 'docs'))
    .filter((f) => f.endsWith('.md'))
    .map((f) => `docs/${f}`),
]

const blocks = documents.filter((file) => !documentsRunElsewhere.includes(file)).flatMap(blocksOf)

const examplesRun = new ExamplesRun()

/** Returns `it`, or `it.skip` if an example needs the native engine, which is missing. */
const itRuns = (code: string) =>
  engines.includes('native') || !/state: path\b|kind \/\/ 'native'$/m.test(code) ? it : it.skip
const leftOut = (code: string) => (itRuns(code) === it ? '' : ': left out, as there is no native engine')

/** The commands in documents, and a part of their output that shows that they did their work. */
const outputs: Record<string, RegExp> = {
  'npx graupel next -n 3 --node 7 --format base62': /^(\w{11}\n){3}$/,
  'npx graupel inspect 175928847299117063 --layout discord': /2016-04-30/,
  'npx graupel inspect 849255963033874432 --layout discord --epoch 2020-01-01': /2026-06-01T12:00.*node +67 /s,
  'npx graupel layouts': /^twitter +63 /m,
  'npx graupel doctor': /^(ok|note) +engine +/,
  'npm ci && npm start': /2016-04-30/,
  "npx graupel serial --pattern '001{yyyyMMddHHmmssSSS}{node:4}{sequence:4}' --time-zone +08:00 1541815603606036480":
    /^0012022062900074010503780000\n$/,
  "npx graupel serial --pattern '{yyMMddHHmmssSSS}-{node}-{sequence}' --parse 220628160740105-0378-0000":
    /^1541815603606036480\n$/,
  // The first test has used node 7.
  'npx graupel state': /^twitter +7 +default /m,
  'npx graupel state --help': /^Usage\n {2}graupel state /,
}

/**
 * Commands that would run these tests, or install another package. They work if package.json has what they
 * need.
 */
const packageCommands: Record<string, object> = {
  'npm ci && npm test': { scripts: { test: expect.stringContaining('vitest run') } },
  'npm install graupel': { name: 'graupel', exports: expect.objectContaining({ '.': expect.anything() }) },
}

const manifest = JSON.parse(read('package.json'))
// Without the build, which the set-up of the tests has made.
const start = manifest.scripts.start.replace(/^npm run build --silent && /, 'npx ')

const commands = blocks.flatMap(({ file, line, language, code }) =>
  language === 'sh'
    ? code
        .trimEnd()
        .split('\n')
        .map((command) => ({ file, line, command }))
    : [],
)

describe('every code block', () => {
  for (const block of blocks) {
    const { file, line, language, code } = block
    if (language !== 'js' || needsServer(block)) continue
    const run = examplesRun.add(`${file}:${line}`, code)
    itRuns(code)(`${file}:${line} runs, and its values are right${leftOut(code)}`, async () => {
      expect(await run()).toBe('')
    })
  }

  it.each(commands)('$file:$line: $command works', ({ command }) => {
    if (command in packageCommands) return expect(manifest).toMatchObject(packageCommands[command] as object)
    const run = command.replace(/^npx graupel /, 'node dist/cli/main.js ').replace('npm ci && npm start', start)
    // cmd.exe knows no single quotes.
    const quoted = process.platform === 'win32' ? run.replaceAll("'", '"') : run
    expect(execSync(quoted, { cwd: folder, encoding: 'utf8' })).toMatch(outputs[command] as RegExp)
  })

  it('has a command for each output that is expected', () => {
    expect(commands.map(({ command }) => command).toSorted()).toEqual(
      [...Object.keys(outputs), ...Object.keys(packageCommands)].toSorted(),
    )
  })

  it('says that each host needs its own number, if it gives a node', () => {
    const programs = documents.filter((file) => file !== 'docs/api.md').flatMap(blocksOf)
    const silent = programs.filter(
      // A test and a program with a clock of its own make no ids that leave their process.
      ({ code }) => /\bnode: 7\b/.test(code) && !/each host needs its own number|\bclock\b|'vitest'/.test(code),
    )
    expect(silent.map(({ file, line }) => `${file}:${line}`)).toEqual([])
  })

  it('listens for errors of a pool that would end the process, unless a store does', () => {
    const examples = readdirSync(join(folder, 'examples'), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(mjs|ts)$/.test(file))
      .map((file) => ({ file: `examples/${file}`, line: 1, code: read(`examples/${file}`) }))
    const stores = readdirSync(join(folder, 'docs/stores')).map((file) => `docs/stores/${file}`)
    const programs = [...[...documents, ...stores].flatMap(blocksOf), ...examples]
    const pools = programs.filter(({ code }) => /new (pg\.)?Pool\(|mariadb\.createPool\(/.test(code))
    const silent = pools.filter(({ code }) => !/pool\.on\('error'|\b(postgres|mysql)Store\(pool\b/.test(code))
    expect(silent.map(({ file, line }) => `${file}:${line}`)).toEqual([])
    expect(pools.length).toBeGreaterThan(5)
  })

  const everyProgram = documents.flatMap(blocksOf)
  const placesOf = (programs: readonly Block[]) => programs.map(({ file, line }) => `${file}:${line}`)

  it('has a store that other processes reach, unless it is for tests', () => {
    const inMemory = everyProgram.filter(({ file, code }) => file !== 'docs/testing.md' && /memoryStore\(\)/.test(code))
    expect(placesOf(inMemory)).toEqual([])
  })

  // An empty variable is 0 for Number(), and unset for GRAUPEL_NODE.
  it('does not make a node of a variable by Number()', () => {
    const converted = everyProgram.filter(({ code }) =>
      /\b(node|worker|datacenter)\w*: (Number|parseInt|\+)\W/i.test(code),
    )
    expect(placesOf(converted)).toEqual([])
    const examples = readdirSync(join(folder, 'examples'), { recursive: true, encoding: 'utf8' })
    const files = examples.filter((name) => /\.(m?[jt]s|tsx)$/.test(name) && !name.includes('node_modules'))
    expect(files.filter((name) => /\bnode: (Number|parseInt|\+)\W/.test(read(join('examples', name))))).toEqual([])
  })

  it('is of a kind that is run, or a picture', () => {
    // test/lease/recipes.long.test.ts and test/kind/openapi.long.test.ts run the TypeScript of these pages.
    const typed = ['docs/kinds.md', 'docs/leases.md']
    const others = blocks.filter(({ file, language }) => language !== 'ts' || !typed.includes(file))
    expect(others.filter(({ language }) => !['js', 'sh', 'text'].includes(language))).toEqual([])
  })
})

describe('the docstrings', () => {
  const examples = docstringExamples()
  const entries = {
    graupel,
    'graupel/client': client,
    'graupel/kind': kind,
    'graupel/lease': lease,
    'graupel/mask': mask,
    'graupel/segments': segments,
    'graupel/stores': stores,
    'graupel/stores/testing': storesTesting,
    'graupel/stores/url': storeUrl,
    'graupel/testing': testing,
    'graupel/uuid': uuid,
  }
  /** Imports the names that an example has, because loading all entries takes longer than most examples. */
  const importsFor = (code: string) =>
    Object.entries(entries)
      .map(([entry, exports]) => [entry, Object.keys(exports).filter((name) => new RegExp(`\\b${name}\\b`).test(code))])
      .filter(([, names = []]) => names.length > 0)
      .map(([entry, names]) => `import { ${names} } from '${entry}'`)
      .join('\n')

  it('have an example for every export', () => {
    const exported = [...Object.values(entries).flatMap(Object.keys), ...examplesWithDatabase]
    expect(exported.filter((name) => !examples.has(name))).toEqual([])
  })

  for (const [name, code] of examples) {
    if (examplesWithDatabase.includes(name)) continue
    const hasStore = !/\{ store\b/.test(code) || /const (store|\{[^}]*\bstore\b[^}]*\}) =/.test(code)
    const given = hasStore ? '' : "import { store } from './store.js'\n"
    const run = examplesRun.add(`the example of ${name}`, `${given}${importsFor(code)}\n${code}`)
    itRuns(code)(`have an example of ${name} that runs${leftOut(code)}`, async () => {
      expect(await run()).toBe('')
    })
  }
})

describe('docs/errors.md', () => {
  const text = read('docs/errors.md')

  it('describes exactly the codes of the catalogue', () => {
    const described = [...text.matchAll(/^### (\w+)$/gm)].map(([, code]) => code)
    expect(described.toSorted()).toEqual(Object.keys(graupel.errorCodes).toSorted())
  })

  it('has the codes that the source throws, and no other', () => {
    const thrown = new Set<string>()
    for (const file of readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts') || file === 'core/errors.ts') continue
      for (const [code] of read(`src/${file}`).matchAll(/(?<=')ERR_[A-Z_]+(?=')/g)) thrown.add(code)
    }
    // Node's own, which tell the reason.
    const ofNode = ['ERR_ACCESS_DENIED', 'ERR_DLOPEN_DISABLED', 'ERR_UNKNOWN_BUILTIN_MODULE']
    for (const code of ofNode) thrown.delete(code)
    for (const code of thrown) expect(Object.keys(graupel.errorCodes)).toContain(code)
    for (const code of Object.keys(graupel.errorCodes)) expect([...thrown]).toContain(code)
  })
})

describe('docs/layouts.md', () => {
  it('shows the presets as they are', () => {
    const rows = [...read('docs/layouts.md').matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, name, rest]) => [
      name,
      (rest as string).split(' | '),
    ])
    const format = (value: number) => value.toLocaleString('en').replaceAll(',', ' ')
    const tick = (ms: number) => (ms === 1000 ? '1 s' : `${ms} ms`)
    expect(rows).toEqual(
      Object.values(graupel.layouts).map((l) => [
        l.name,
        [
          new Date(l.epochMs).toISOString(),
          tick(l.tickMs),
          l.fields.map(([field, bits]) => `${field} ${bits}`).join(', '),
          String(l.bits),
          format(l.nodes),
          l.decodeOnly ? 'decode only' : format(l.idsPerSecond),
          l.expiresAt.toISOString().split('T')[0]?.replace(/^\+0/, ''),
        ],
      ]),
    )
  })
})

/** Returns the message that refuses an unknown option. The message names all options. */
async function refusal(call: (options: never) => unknown): Promise<string> {
  try {
    await call({ nonsense: 1 } as never)
  } catch (error) {
    return (error as Error).message
  }
  return ''
}

describe('docs/api.md', () => {
  /** The options that the sections of these interfaces have, sorted. */
  const documented = (interfaces: string[]) =>
    interfaces
      .flatMap((name) => {
        const [, section = ''] = read('docs/api.md').split(`\n### ${name}\n`)
        return [...(section.split('\n##')[0] as string).matchAll(/^- `(\w+)\??:/gm)].map(([, option]) => option)
      })
      .toSorted()

  it.each<[string, (options: never) => unknown, string[]]>([
    ['createGenerator', graupel.createGenerator, ['GeneratorSettings']],
    ['acquireLease', lease.acquireLease, ['LeaseOptions']],
    ['createSegmentGenerator', segments.createSegmentGenerator, ['SegmentOptions']],
    ['createCounter', segments.createCounter, ['CounterOptions']],
    ['connect', client.connect, ['CommonOptions', 'ConnectOptions', 'SegmentConnectOptions']],
    ['testGenerator', testing.testGenerator, ['TestGeneratorOptions']],
  ])('has every option of %s', async (_, call, interfaces) => {
    const [, names = ''] = /the options are (.*)$/.exec(await refusal(call)) ?? []
    expect([...new Set(documented(interfaces))]).toEqual(names.split(', ').toSorted())
  })
})

describe('docs/leases.md', () => {
  it('has the events that there are', () => {
    const kinds = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, kind]) => kind)
    const [, union = ''] =
      /interface LeaseEvent \{[\s\S]*?\n {2}type:([^\n]*(?:\n {4}\|.*)*)\n/.exec(read('src/platform/events.ts')) ?? []
    const [, table = ''] = read('docs/leases.md').split('| `type` |')
    const [rows = ''] = table.split('\n\n')
    expect(kinds(rows, /^\| `(.*?)` \|/gm)).toEqual(kinds(union, /'(.*?)'/g))
  })

  it('has the nodes of the presets', () => {
    const rows = [...read('docs/leases.md').matchAll(/^\| ((?:`\w+`(?:, )?)+) \| ([\d ]+) \| ([\d ]+) \|$/gm)]
    const number = (text = '') => Number(text.replaceAll(' ', ''))
    const told = rows.flatMap(([, names = '', nodes, processes]) =>
      [...names.matchAll(/\w+/g)].map(([name]) => [name, number(nodes), number(processes)]),
    )
    const usable = Object.values(graupel.layouts).filter(
      ({ expiresAt, decodeOnly }) => !decodeOnly && expiresAt.getTime() > Date.now(),
    )
    expect(told.toSorted()).toEqual(usable.map(({ name, nodes }) => [name, nodes, nodes / 2]).toSorted())
  })
})

describe('docs/numbers.md', () => {
  const text = read('docs/numbers.md')
  /** The names in the first column of the table with this head. */
  const namesBelow = (head: string) => {
    const rows = text.split(head)[1]?.split('\n\n')[0] ?? ''
    return [...rows.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].flatMap(([, names = '']) => names.match(/\w+/g) ?? [])
  }

  it('names the events and the statistics', async () => {
    const numbers = await segments.createSegmentGenerator({ store: stores.memoryStore(), name: 'orders' })
    expect(namesBelow('| property | what it is |')).toEqual(Object.keys(numbers.stats()))
    const [, union = ''] =
      /interface SegmentsEvent \{[\s\S]*?\n {2}type:([^\n]*(?:\n {4}\|.*)*)\n/.exec(read('src/platform/events.ts')) ??
      []
    expect(namesBelow('| event | when |')).toEqual(union.match(/\w+/g))
  })
})

describe('docs/client.md', () => {
  it('names the statistics', async () => {
    const { url } = await serve()
    const ids = await client.connect({ url })
    const [, table = ''] = read('docs/client.md').split('| property | what it is |')
    const told = [...table.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].flatMap(
      ([, names = '']) => names.match(/\w+/g) ?? [],
    )
    expect(told.toSorted()).toEqual(Object.keys(ids.stats()).toSorted())
    ids.close()
  })
})

describe('docs/llms.txt', () => {
  const text = read('docs/llms.txt')
  const [decisions = ''] = text.split('## Documents')

  it('has the three decisions', () => {
    expect([...decisions.matchAll(/^(\d)\. ([^.]+)\./gm)].map(([, number, name]) => [number, name])).toEqual([
      ['1', 'Source of the node'],
      ['2', 'Store of the lease'],
      ['3', 'Type of the column'],
    ])
  })

  it('links every page for users', () => {
    // About the project, its proofs and its files, and pages that a linked page leads to.
    const others = [
      'architecture',
      'benchmarks',
      'glossary',
      'lease-proof',
      'ledger',
      'memory-order',
      'model',
      'page',
      'redis-protocol',
    ]
    others.push('order-proof', 'service', 'service-deployment', 'service-operations', 'state-format', 'state-proof')
    const pages = readdirSync(join(folder, 'docs'))
      .filter((name) => name.endsWith('.md'))
      .map((name) => name.slice(0, -3))
    const linked = [...text.matchAll(/\]\(([\w-]+)\.md\)/g)].map(([, name = '']) => name)
    expect([...linked, ...others].toSorted()).toEqual(pages.toSorted())
  })

  it('names only calls, entries and variables that exist', async () => {
    const held = await lease.acquireLease({ store: stores.memoryStore(), namespace: 'llms.txt' })
    const objects = {
      ids: graupel.createGenerator({ lease: held }),
      lease: held,
      store: postgres.postgresStore({ query: async () => ({ rows: [] }) }),
    }
    const exported = Object.assign(
      {},
      ...[graupel, kind, lease, stores, storeUrl, testing],
      ...[dynamodb, mongodb, mysql, object, postgres, redis, service, sqlite],
    )
    const isEntry = (name: string) => `./${name}` in manifest.exports
    const exists = (code: string) => {
      const [, object, name = ''] = /^(?:await )?(?:(\w+)\.)?(\w+)\(/.exec(code) ?? []
      if (object !== undefined) return typeof Object(objects[object as keyof typeof objects])[name] === 'function'
      if (name !== '') return typeof exported[name] === 'function'
      if (code.startsWith('GRAUPEL_')) return read('src/engine/source/environment.ts').includes(`'${code}'`)
      return isEntry(code.replace(/^graupel\//, '')) || isEntry(`stores/${code}`)
    }
    const others = [...decisions.matchAll(/`([^`]+)`/g)]
      .map(([, code]) => code as string)
      .filter((code) => !exists(code))
    // test/cli/agents.test.ts runs the command.
    expect(others).toEqual(['Number(process.env.…)', 'npx graupel store check URL', 'BIGINT', 'Number(id)'])
    await held.release()
  })
})

describe('skills/graupel/SKILL.md', () => {
  const text = read('skills/graupel/SKILL.md')

  it('has the front matter that agents read, and the name of its folder', () => {
    const [, front = ''] = /^---\n([\s\S]*?)\n---\n/.exec(text) ?? []
    const values = Object.fromEntries(front.split('\n').map((line) => line.split(/: (.*)/s)))
    expect(values).toEqual({ name: 'graupel', description: expect.any(String), license: manifest.license })
    // The bounds of the format.
    expect(values['description'].length).toBeLessThanOrEqual(1024)
  })

  it('has five decisions on a page, each with code and the mistake to avoid', () => {
    const decisions = text.split(/^## /m).filter((part) => /^\d\. /.test(part))
    expect(decisions.map((part) => part.split('\n')[0])).toEqual([
      '1. Source of the node',
      '2. Store of the lease',
      '3. Type of the column',
      '4. Text outside',
      '5. Order',
    ])
    for (const part of decisions) expect(part).toMatch(/```js\n[\s\S]*\n```\n[\s\S]*\*\*Mistake:\*\*/)
    expect(text.split('\n').length).toBeLessThanOrEqual(120)
    expect(read('docs/llms.txt')).toContain('](../skills/graupel/SKILL.md)')
  })
})

describe('docs/README.md', () => {
  const text = read('docs/README.md')

  it('links every document, and fits a screen', () => {
    const linked = [...text.matchAll(/\]\(([\w/-]+\.(?:md|txt))(?:#[\w-]+)?\)/g)].map(([, path]) => path)
    const pages = readdirSync(join(folder, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.(md|txt)$/.test(name),
    )
    expect(pages.length).toBeGreaterThan(40)
    expect(pages.filter((page) => !linked.includes(page.replaceAll('\\', '/')))).toEqual(['README.md'])
    expect(text.split('\n').length).toBeLessThanOrEqual(50)
    expect(read('README.md')).toContain('](docs/README.md)')
  })
})

describe('README.md', () => {
  it('shows the bits as the command line draws them', () => {
    const picture = blocks.find(({ language }) => language === 'text')?.code ?? ''
    const [command = '', ...drawing] = picture.split('\n')
    const output = execSync(`node dist/cli/main.js ${command.slice('$ graupel '.length)}`, {
      cwd: folder,
      encoding: 'utf8',
    })
    expect(output).toContain(drawing.join('\n').trimEnd())
  })

  it('has at most 150 lines, an example within the first 15, and a comparison with UUID v7 within the first 40', () => {
    const lines = read('README.md').trimEnd().split('\n')
    expect(lines.length).toBeLessThanOrEqual(150)
    expect(lines.slice(0, 40).join('\n')).toMatch(
      /^\| \| graupel \| UUID v7 \|\n(\|.*\n){6}[\s\S]*\]\(docs\/comparison\.md\)/m,
    )
    expect((blocks.find(({ file }) => file === 'README.md') as Block).line).toBeLessThan(15)
  })

  it('links to files and headings that exist, as all documents do', () => {
    const all = readdirSync(join(folder, 'docs'), { recursive: true, encoding: 'utf8' })
    const pages = all.filter((name) => /\.(md|txt)$/.test(name)).map((name) => join('docs', name))
    const others = ['CONTRIBUTING.md', 'SECURITY.md', 'examples/README.md', 'skills/graupel/SKILL.md']
    const broken = ['README.md', ...others, ...pages].flatMap((file) =>
      [...read(file).matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g)].flatMap(([link, path, anchor]) => {
        const target = path === '' ? file : join(file, '..', path as string)
        if (!existsSync(join(folder, target))) return `${file} ${link}`
        return anchor === '' || anchorsOf(target).has(anchor as string) ? [] : `${file} ${link}`
      }),
    )
    expect(broken).toEqual([])
  })
})

/** The anchors that GitHub makes of the headings of a page. */
function anchorsOf(file: string): Set<string> {
  const headings = read(file).matchAll(/^#+ (.*)$/gm)
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replace(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}
