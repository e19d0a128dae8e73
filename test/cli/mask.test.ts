import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMask, type MaskBits } from 'graupel/mask'
import { afterAll, describe, expect, it } from 'vitest'
import { graupel, lines } from '../support/cli.js'
import { repository } from '../support/documents.ts'
import { copyPackage } from '../support/package-copy.ts'

const folder = mkdtempSync(join(tmpdir(), 'graupel-mask-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const id = 175928847299117063n
const [newHex, oldHex] = ['3f'.padEnd(64, '0'), '8a01'.padEnd(32, '7')]
const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'))
const keys = { b: bytes(newHex), a: bytes(oldHex) }

let count = 0
/** Writes these lines to a file, and returns the flag that names it. */
function keyFile(...content: string[]): string[] {
  const file = join(folder, `keys-${count++}`)
  writeFileSync(file, content.join('\n'))
  return ['--mask-key-file', file]
}
const named = keyFile('# the current one first', `b = ${newHex}`, '', `  a=${oldHex.toUpperCase()}\r`, '')

/** Returns the parts that `graupel inspect` prints for hidden ids. */
async function revealed(texts: string[], ...flags: string[]) {
  return (await lines(['inspect', ...texts, '--layout', 'discord', '--json', ...flags])).map((line) => {
    const { id, masked, fields } = JSON.parse(line)
    return { id, masked, fields }
  })
}
const shown = (text: string, key: string) => ({
  id: String(id),
  masked: { text, key },
  fields: { worker: 1, process: 0 },
})

describe('graupel inspect --mask-key-file', () => {
  it('reveals texts of every key, and names the key', async () => {
    const texts = [createMask({ keys }).hideString(id), createMask({ keys: { a: keys.a } }).hideString(id)]
    expect(await revealed(texts, ...named)).toEqual([shown(texts[0] as string, 'b'), shown(texts[1] as string, 'a')])
  })

  it('shows the hidden text in its table', async () => {
    const text = createMask({ keys }).hideString(id)
    const [first, second] = await lines(['inspect', text, '--layout', 'discord', ...named])
    expect(first).toBe(`  masked   ${text} by the key 'b'`)
    expect(second).toBe(`  decimal  ${id}`)
    const bare = createMask(keys.b).hideString(id)
    expect((await lines(['inspect', bare, ...keyFile(newHex)]))[0]).toBe(`  masked   ${bare} by the key without a name`)
  })

  it('does not mention masks without a mask', async () => {
    const [line = ''] = await lines(['inspect', String(id), '--json'])
    expect(JSON.parse(line)).not.toHaveProperty('masked')
  })

  it('reads texts in other encodings, and from its input', async () => {
    const text = createMask({ keys, encoding: 'hex' }).hideString(id)
    expect(await revealed([text], ...named, '--format', 'hex')).toEqual([shown(text, 'b')])
    const words = ['inspect', '-', '--layout', 'discord', '--format', 'hex', '--json', ...named]
    expect(await lines(words, {}, `${text}\n${text}\n`)).toHaveLength(2)
  })

  it('reveals numbers by the first key', async () => {
    const hidden = String(createMask({ keys }).hide(id))
    expect(await revealed([hidden], '--format', 'decimal', ...named)).toEqual([shown(hidden, 'b')])
    const text = createMask({ keys, encoding: 'decimal' }).hideString(id)
    expect(await revealed([text], '--format', 'decimal', ...named)).toEqual([shown(text, 'b')])
  })

  it('refuses digits without a name if another key has no name', async () => {
    const [old, both] = [keyFile(newHex), keyFile(`b = ${oldHex}`, newHex)]
    const text = createMask({ keys: { '': keys.b }, encoding: 'decimal' }).hideString(id)
    expect(await revealed([text], '--format', 'decimal', ...old)).toEqual([shown(text, '')])
    const { status, stderr } = await graupel(['inspect', text, '--format', 'decimal', ...both])
    expect(status).toBe(2)
    expect(stderr).toMatch(/both the current key 'b' and the key without a name may have hidden it/)
  })

  it.each<MaskBits>([64, 53])('takes a width of %d bits', async (bits) => {
    const small = bits === 53 ? id % 2n ** 53n : id
    const text = createMask({ keys, bits }).hideString(small)
    expect((await revealed([text], ...named, '--mask-bits', String(bits)))[0]?.id).toBe(String(small))
  })

  it.each<[string, string, string[], RegExp]>([
    ['a bad character', 'ERR_ID_INVALID', ['b0000000000-', ...named], /has the character '-'/],
    ['a text that is too short', 'ERR_ID_INVALID', ['b0', ...named], /has 2 characters; this mask writes 12/],
    ['an unknown key', 'ERR_KEY_INVALID', ['c00000000000', ...named], /the key name 'c'; this mask has 'b', 'a'/],
    ['a file that is not there', 'ERR_OPTION_INVALID', ['b0', '--mask-key-file', join(folder, 'none')], /\(ENOENT\)/],
    ['a line of spaces', 'ERR_KEY_INVALID', ['b0', ...keyFile(`${' '.repeat(200_000)}x`)], /line 1 is no key/],
    ['a device without end', 'ERR_KEY_INVALID', ['b0', '--mask-key-file', '/dev/zero'], /more than 262144 bytes/],
    ['a folder', 'ERR_OPTION_INVALID', ['b0', '--mask-key-file', folder], /\(EISDIR\)/],
    ['an empty file', 'ERR_KEY_INVALID', ['b0', ...keyFile('', '# none')], /which has no key; write one a line/],
    ['digits of no bytes', 'ERR_KEY_INVALID', ['b0', ...keyFile(`b = ${newHex}0`)], /line 1 is no key/],
    ['what is no hex', 'ERR_KEY_INVALID', ['b0', ...keyFile('#', 'b = secret')], /line 2 is no key/],
    ['two keys of a name', 'ERR_KEY_INVALID', ['b0', ...keyFile(newHex, oldHex)], /line 2 has the name of a key above/],
    ['a short key', 'ERR_KEY_INVALID', ['b0', ...keyFile(`b = ${newHex.slice(2)}`)], /the key 'b' has 31 bytes/],
    ['a key name', 'ERR_KEY_INVALID', ['b0', ...keyFile(`1 = ${newHex}`)], /the name '1'; a name is a letter/],
    ['a width that does not exist', 'ERR_OPTION_INVALID', ['b0', '--mask-bits', '62', ...named], /one of 64, 63, 53/],
    [
      'a width without a key',
      'ERR_OPTION_INVALID',
      ['5', '--mask-bits', '53'],
      /--mask-bits is for --mask-key-file; give both, or leave --mask-bits out/,
    ],
  ])('refuses %s', async (_what, code, words, message) => {
    const { status, stdout, stderr } = await graupel(['inspect', ...words])
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(new RegExp(`^graupel: [^\\n]* \\(${code}\\)\\n$`))
    expect(stderr).toMatch(message)
  })

  it('shows no key in a message, not even one in the place of the file', async () => {
    const wrong = [
      ['--mask-key-file', newHex],
      keyFile(`${newHex} = b`),
      keyFile(`${newHex} = ${oldHex}`),
      keyFile(`b = ${newHex} x`),
      keyFile(`b : ${newHex}`),
    ]
    for (const flag of wrong) {
      const { status, stderr } = await graupel(['inspect', 'b0', ...flag])
      expect(status).toBe(2)
      expect(stderr).not.toContain('3f00')
    }
  })

  it('says that the mask may not have hidden an id that makes no sense', async () => {
    const text = createMask({ keys, bits: 64 }).hideString(2n ** 64n - 1n)
    expect((await graupel(['inspect', text, '--mask-bits', '64', ...named])).stderr).toMatch(
      /makes sense in no preset.* this mask did not hide/,
    )
  })

  it('needs no package for masks', () => {
    const bare = join(folder, 'bare')
    mkdirSync(join(bare, 'node_modules'), { recursive: true })
    copyPackage(bare)
    symlinkSync(join(repository, 'node_modules/node-gyp-build'), join(bare, 'node_modules/node-gyp-build'), 'junction')
    const run = (...words: string[]) =>
      spawnSync(process.execPath, [join(bare, 'dist/cli/main.js'), 'inspect', ...words], { encoding: 'utf8' })
    expect(run(createMask({ keys }).hideString(id), ...named)).toMatchObject({ status: 0, stderr: '' })
    expect(run(String(id))).toMatchObject({ status: 0, stderr: '' })
  })
})
