import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decode, layouts } from 'graupel'
import { defineKind } from 'graupel/kind'
import { decodeUuid, ulidOf, uuidOf } from 'graupel/uuid'
import { afterAll, describe, expect, it } from 'vitest'
import { graupel, lines, spawnLines } from '../support/cli.js'

// UUIDs and texts of kinds on the command line.

const folder = mkdtempSync(join(tmpdir(), 'graupel-id-texts-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const hex = '00112233445566778899aabbccddeeff'
const keyFile = join(folder, 'inv.keys')
writeFileSync(keyFile, `a = ${hex}\n`)

const order = defineKind({ prefix: 'ord', layout: layouts.twitter })
const doc = defineKind({ prefix: 'doc', uuid: true })
const invoice = defineKind({ prefix: 'inv', layout: layouts.discord, keys: { a: Buffer.from(hex, 'hex') } })
const json = async (...words: string[]) => JSON.parse((await lines(['inspect', ...words, '--json']))[0] as string)

describe('graupel next', () => {
  const own = ['next', '--node', '7', '-n', '5000', '--layout', 'discord']
  it.each([
    ['--uuid', ['--uuid'], (text: string) => decodeUuid(text, layouts.discord).id],
    ['--kind', ['--kind', 'ord'], defineKind({ prefix: 'ord', layout: layouts.discord }).id],
    ['--kind --uuid', ['--kind', 'doc', '--uuid'], (text: string) => decodeUuid(doc.id(text), layouts.discord).id],
    ['--kind --key-file', ['--kind', 'inv', '--key-file', keyFile], invoice.id],
  ])('%s prints texts of ids in order', (_, flags, idOf) => {
    const ids = spawnLines([...own, ...flags]).map((text) => idOf(text as never))
    expect(ids).toHaveLength(5000)
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => (a < b ? -1 : 1)))
    expect(decode(ids[0] as bigint, layouts.discord).node).toBe(7)
  })

  it.each([
    [['--uuid', '--format', 'hex'], /^graupel: --format is for numbers, and --uuid is given/],
    [['--kind', 'ord', '--format', 'json'], /^graupel: --format is for numbers, and --kind is given/],
    [['--kind', 'Ord'], /^graupel: --kind is 'Ord' \(3 characters\); it has 1 to 63 of a-z and _/],
    [['--key-file', keyFile], /^graupel: --key-file is for --kind/],
    [['--kind', 'doc', '--uuid', '--key-file', keyFile], /^graupel: --key-file is not for UUIDs/],
    [['--kind', 'inv', '--key-file', join(folder, 'none')], /^graupel: --key-file cannot be read \(ENOENT\)/],
    [['--segment', 'orders', '--uuid'], /^graupel: --uuid is not for --segment/],
  ])('refuses %j', async (flags, message) => {
    const { status, stderr, stdout } = await graupel(['next', ...flags])
    expect(stderr).toMatch(message)
    expect([status, stdout]).toEqual([2, ''])
  })
})

describe('graupel inspect', () => {
  const id = 1541815603606036480n
  const uuid = uuidOf(id, layouts.twitter)

  it('reads a UUID without its layout: version and time', async () => {
    const vector = await json('F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6')
    const timestampMs = 854991792216
    const timestamp = new Date(timestampMs).toISOString()
    expect(vector).toEqual({
      uuid: 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
      variant: 'rfc',
      version: 1,
      timestamp,
      timestampMs,
    })
    const shown = await lines(['inspect', uuid])
    expect(shown).toContain('  version     7')
    expect(shown.at(-1)).toBe('  If graupel made it, name the layout of its ids: --layout twitter.')
  })

  it.each([uuid.toUpperCase(), `{${uuid}}`, `urn:uuid:${uuid}`, `URN:UUID:${uuid.toUpperCase()}`])(
    'reads %s',
    async (text) => {
      expect(await json(text)).toMatchObject({ uuid, version: 7 })
    },
  )

  it('reads the id of a UUID with its layout', async () => {
    expect(await json(uuid, '--layout', 'twitter')).toMatchObject({ id: `${id}`, uuid, layout: 'twitter', node: 378 })
    expect((await lines(['inspect', uuid, '--layout', 'twitter']))[0]).toBe(`  uuid     ${uuid}`)
  })

  it('reads a ULID: its time, and the UUID of its bytes; with a layout also its id', async () => {
    const timestampMs = 1469922850259
    const timestamp = new Date(timestampMs).toISOString()
    const bytes = '01563e3a-b5d3-d676-4c61-efb99302bd5b'
    const variant = 'ncs'
    expect(await json('01arz3ndektsv4rrffq69g5fav')).toMatchObject({
      ulid: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
      uuid: bytes,
      variant,
      timestamp,
      timestampMs,
    })
    const ulid = ulidOf(uuid)
    expect((await lines(['inspect', ulid])).slice(0, 2)).toEqual([`  ulid        ${ulid}`, `  uuid        ${uuid}`])
    expect(await json(ulid, '--layout', 'twitter')).toMatchObject({ id: `${id}`, ulid, uuid, node: 378 })
  })

  it('reads texts of kinds, with a layout and without', async () => {
    expect(await json(order.text(id))).toMatchObject({ id: `${id}`, prefix: 'ord', layout: null })
    expect(await json(order.text(id), '--layout', 'twitter')).toMatchObject({ id: `${id}`, prefix: 'ord', node: 378 })
  })

  it('reads the published TypeID', async () => {
    expect(await json('prefix_01h455vb4pex5vsknk084sn02q')).toMatchObject({
      prefix: 'prefix',
      uuid: '01890a5d-ac96-774b-bcce-b302099a8057',
      version: 7,
    })
  })

  it('reads an opaque text by its key, whose proof tells the layout', async () => {
    const text = invoice.text(175928847299117063n)
    const found = { id: '175928847299117063', prefix: 'inv', layout: 'discord' }
    expect(await json(text, '--key-file', keyFile)).toMatchObject(found)
    expect((await lines(['inspect', text])).at(-1)).toMatch(/A text of an opaque kind needs --key-file\.$/)
  })

  it('reads lines of all forms from its input', async () => {
    const input = [uuid, order.text(id), `${id}`, ''].join('\n')
    const { stdout } = await graupel(['inspect', '-', '--layout', 'twitter', '--json'], {}, input)
    const ids = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).id)
    expect(ids).toEqual([`${id}`, `${id}`, `${id}`])
  })

  it.each([
    [['inv_00000000000000000000000000', '--key-file', keyFile], /^graupel: the text 'inv_0+' was made with no key of/],
    [[`${uuid}0`], /^graupel: the id is '0181ab11/],
    [['ord_1asd13xh1f8l0'], /^graupel: the id is 'ord_1asd13xh1f8l0'/],
    [['ord_zzzzzzzzzzzzz'], /^graupel: .*64/],
    [['1', '--format', 'hex', '--key-file', keyFile], /^graupel: --format is for numbers, and --key-file is given/],
    [['1', '--mask-key-file', keyFile, '--key-file', keyFile], /^graupel: --mask-key-file is for numbers/],
    [[uuid, '--format', 'hex'], /^graupel: the hex id '.*' has 36 characters/],
    [['f81d4fae-7dec-11d0-a765-00a0c91e6bf6', '--layout', 'twitter'], /^graupel: .*version 1, and not 7 or 8/],
  ])('refuses %j', async (words, message) => {
    const { status, stderr } = await graupel(['inspect', ...words])
    expect(stderr).toMatch(message)
    expect(status).toBe(2)
  })
})
