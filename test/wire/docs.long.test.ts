import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { encodeId, layouts } from 'graupel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { npmNode } from '../../scripts/npm-binary.ts'
import { Group } from '../../src/lease/group.js'
import { installOnce } from '../package/consumer.ts'
import { blocksOf, read, repository } from '../support/documents.ts'
import { program } from '../support/examples.ts'
import { describeWith } from '../support/needs.ts'
import { writeOrderModule } from './order-module.ts'

// Checks docs/wire.md: each block is a program over the packages that it names, and sentences and tables are
// compared.

const packages = 'test/wire/packages'
const id = 175928847299117063n
const number = `{"id":${id}}`
const text = `{"id":"${id}"}`
const rounded = '175928847299117060'
const document = read('docs/wire.md')
const blocks = blocksOf('docs/wire.md')
const programs = blocks.filter(({ language }) => language === 'js')

let folder: string
let load: NodeJS.Require
beforeAll(() => {
  installOnce(packages, ['--ignore-scripts'])
  // A folder below the packages, so that programs find them and graupel by their names.
  folder = mkdtempSync(join(repository, packages, 'node_modules/.run-'))
  load = createRequire(join(folder, 'program.js'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
  writeOrderModule(load, join(folder, 'order_pb.js'))
}, 600_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function message(call: () => unknown): string {
  try {
    call()
  } catch (error) {
    return (error as Error).message
  }
  return ''
}

describe('the blocks', () => {
  it('are programs', () => {
    expect(programs.length).toBeGreaterThan(8)
    const all = { count: 1024, at: (index: number) => index, has: () => true }
    const { ids } = Group.of(layouts.twitter, 'default', all)
    // The other block is what the record of a group says about its ids.
    expect(blocks.filter((block) => !programs.includes(block)).map(({ code }) => code)).toEqual([`${ids}\n`])
  })

  it.each(programs)('$file:$line runs, and has the results in its comments', ({ line, code }) => {
    const node = code.startsWith('// Node ≥ 21') ? npmNode('22') : process.execPath
    const file = join(folder, `block-${line}.js`)
    writeFileSync(file, program(code))
    expect(spawnSync(node, [file], { encoding: 'utf8' })).toMatchObject({ stderr: '', status: 0 })
  })
})

describe('the statements about JavaScript', () => {
  it('JSON.stringify refuses bigints with the message in the document', () => {
    const refusal = message(() => JSON.stringify({ id }))
    expect(refusal).toBe('Do not know how to serialize a BigInt')
    expect(document).toContain(`TypeError: ${refusal}`)
  })

  it('messages between threads take bigints', async () => {
    expect(structuredClone({ id })).toEqual({ id })
    const [one, two] = [new BroadcastChannel('graupel wire'), new BroadcastChannel('graupel wire')]
    const { port1, port2 } = new MessageChannel()
    const heard = new Promise((resolve) => {
      two.onmessage = (event) => resolve((event as MessageEvent).data)
    })
    const received = once(port2, 'message')
    one.postMessage(id)
    port1.postMessage(id)
    expect([await heard, await received]).toEqual([id, [id]])
    for (const channel of [one, two, port1]) channel.close()
  })

  it('a spreadsheet keeps 15 digits, and base58 writes letters', () => {
    expect(document).toContain(`${id} becomes ${Number(Number(id).toPrecision(15))}`)
    expect(Number.isNaN(Number(encodeId(id, 'base58')))).toBe(true)
  })

  it('bigints cannot be subtracted by sort(), and are keys of collections', () => {
    expect(message(() => [2n, 1n].sort((a, b) => (a as never as number) - (b as never as number)))).toContain('BigInt')
    expect([new Map([[1n, true]]).has('1' as never), Object.keys({ [`${1n}`]: 1 })]).toEqual([false, ['1']])
    expect([...'ab'].map(() => encodeId(id, 'base62').length)).toEqual([11, 11])
  })

  it('js53 has the bits of a number', () => {
    expect(layouts.js53.bits).toBe(53)
  })
})

describe('the statements about packages', () => {
  it('Ajv refuses a format that it does not know', () => {
    const { Ajv } = load('ajv')
    expect(message(() => new Ajv().compile({ type: 'string', format: 'snowflake' }))).toContain('unknown format')
  })

  it('the ID of GraphQL refuses bigints and takes rounded numbers, and Int has 32 bits', () => {
    const { GraphQLID, GraphQLInt } = load('graphql')
    expect(GraphQLID.serialize(`${id}`)).toBe(`${id}`)
    expect(message(() => GraphQLID.serialize(id))).toContain('cannot represent')
    expect(GraphQLID.parseValue(Number(id))).toBe(rounded)
    expect(message(() => GraphQLInt.serialize(Number(id)))).toContain('non 32-bit')
  })

  it('MessagePack refuses bigints unless it is told to take them', () => {
    const { encode } = load('@msgpack/msgpack')
    expect(message(() => encode(id))).toContain('Unrecognized object')
    expect(encode(id, { useBigInt64: true })).toHaveLength(9)
  })

  it('the table of protobuf has the sizes of the types', () => {
    const { parse } = load('protobufjs')
    const rows = [...document.matchAll(/^\| `(\w+64)` \| (\d+) \| .*$/gm)]
    expect(rows.map(([, type]) => type)).toEqual(['fixed64', 'sfixed64', 'uint64', 'int64'])
    for (const [row, type, bytes] of rows) {
      const Order = parse(`syntax = "proto3"; message Order { ${type} id = 1; }`).root.lookupType('Order')
      const bytesOf = (value: bigint) => Order.encode(Order.fromObject({ id: value })).finish().length - 1
      const decoded = (value: bigint) => `${Order.decode(Order.encode(Order.fromObject({ id: value })).finish()).id}`
      // An id of 2016, an id of today, and the last id of the default layout.
      for (const one of [id, BigInt(Date.now() - layouts.twitter.epochMs) << 22n, 2n ** 63n - 1n]) {
        expect([type, bytesOf(one)]).toEqual([type, Number(bytes)])
      }
      const most = row.includes('2^64 - 1') ? 2n ** 64n - 1n : 2n ** 63n - 1n
      expect(decoded(most)).toBe(`${most}`)
      if (row.includes('in 10 bytes')) expect(bytesOf(most)).toBe(10)
      if (most < 2n ** 63n) expect(decoded(2n ** 63n)).not.toBe(`${2n ** 63n}`)
    }
  })

  it('the table of protobuf has the sizes of digits', () => {
    const { parse } = load('protobufjs')
    const Order = parse('syntax = "proto3"; message Order { string id = 1; }').root.lookupType('Order')
    const today = `${BigInt(Date.now() - layouts.twitter.epochMs) << 22n}`
    expect(document).toContain(`| \`string\` | ${Order.encode({ id: today }).finish().length - 1} |`)
  })

  it('protobufjs ignores jstype', () => {
    const { parse } = load('protobufjs')
    const order = parse('syntax = "proto3"; message Order { fixed64 id = 1 [jstype = JS_STRING]; }').root.lookupType(
      'Order',
    )
    expect(typeof order.decode(order.encode(order.fromObject({ id })).finish()).id).toBe('object')
  })
})

describe('the table of readers', () => {
  it('names the readers that are tested here', () => {
    const [, after = ''] = document.split('| reader |')
    const [table = ''] = after.split('\n\n')
    const readers = [...table.matchAll(/^\| (\w.*?) \|/gm)].map(([, reader]) => reader)
    expect(readers).toEqual([
      'JavaScript, `JSON.parse`',
      'Python, `json`',
      'Go, `int64` or `uint64`',
      'Go, `any`',
      'jq 1.5, 1.6',
      'jq from 1.7 on',
      'Java, `long` with Jackson (not run here)',
    ])
  })

  it('is right about jq from 1.7 on', async () => {
    const { raw } = load('jq-wasm')
    // A function that is new in 1.7.
    expect(await raw('{"a":1}', 'pick(.a)', ['-c'])).toBe('{"a":1}')
    const answers = ['.id', '.id | tostring', '.id + 0'].map((filter) => raw(number, filter))
    expect(await Promise.all(answers)).toEqual([`${id}`, `"${id}"`, rounded])
    expect(await raw(text, '.id')).toBe(`"${id}"`)
  })
})

describeWith(['python'], 'Python', () => {
  it('reads numbers and text', () => {
    const read = 'import json, sys; one, two = sys.argv[1:]; print(json.loads(one)["id"] == int(json.loads(two)["id"]))'
    expect(execFileSync('python3', ['-c', read, number, text], { encoding: 'utf8' })).toBe('True\n')
  })
})

describeWith(['go'], 'Go', () => {
  it('reads numbers and text by types, and rounds numbers without a type', () => {
    const file = join(folder, 'main.go')
    writeFileSync(
      file,
      `package main
import ("encoding/json"; "fmt"; "os")
func main() {
  var number struct { Id int64 \`json:"id"\` }
  var unsigned struct { Id uint64 \`json:"id"\` }
  var text struct { Id int64 \`json:"id,string"\` }
  var loose map[string]any
  for at, target := range []any{&number, &unsigned, &loose, &text} {
    source := os.Args[1]
    if at == 3 { source = os.Args[2] }
    if err := json.Unmarshal([]byte(source), target); err != nil { panic(err) }
  }
  written, _ := json.Marshal(text)
  fmt.Println(number.Id, unsigned.Id, text.Id, string(written))
  fmt.Printf("%.0f\\n", loose["id"])
}
`,
    )
    const output = execFileSync('go', ['run', file, number, text], { encoding: 'utf8' })
    expect(output).toBe(`${id} ${id} ${id} ${text}\n${BigInt(Number(id))}\n`)
  })
})

describeWith(['jq'], 'jq', () => {
  it('rounds numbers up to 1.6, and not from 1.7 on', () => {
    const [, minor] = /^jq-1\.(\d+)/.exec(execFileSync('jq', ['--version'], { encoding: 'utf8' })) ?? []
    const jq = (source: string) => execFileSync('jq', ['-c', '.'], { input: source, encoding: 'utf8' }).trim()
    expect(jq(number)).toBe(Number(minor) < 7 ? `{"id":${rounded}}` : number)
    expect(jq(text)).toBe(text)
  })
})
