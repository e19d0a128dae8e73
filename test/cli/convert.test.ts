import { encodeId, encodings } from 'graupel'
import { describe, expect, it } from 'vitest'
import { graupel, lines } from '../support/cli.js'

const ids = [0n, 175928847299117063n, 2n ** 64n - 1n]
const textEncodings = encodings.filter((encoding) => encoding !== 'bytes')

describe('graupel convert', () => {
  it.each(textEncodings)('writes ids in %s, and reads them', async (encoding) => {
    const texts = ids.map((id) => encodeId(id, encoding))
    expect(await lines(['convert', ...ids.map(String), '--to', encoding])).toEqual(texts)
    expect(await lines(['convert', '--from', encoding, '--to', 'decimal', '--', ...texts])).toEqual(ids.map(String))
  })

  it('reads lines, and goes on after one that is no id', async () => {
    const words = ['convert', '-', '--from', 'hex', '--to', 'decimal']
    const { status, stdout, stderr } = await graupel(words, {}, '000000000000000f\r\nxyz\n0000000000000010')
    expect({ status, stdout }).toEqual({ status: 2, stdout: '15\n16\n' })
    expect(stderr).toMatch(/^graupel: line 2: the hex id 'xyz'[^\n]* \(ERR_ID_INVALID\)\n$/)
  })

  it('reports a line that is too long, and goes on behind it, wherever the chunks end', async () => {
    const words = ['convert', '-', '--from', 'decimal', '--to', 'hex']
    for (const length of [70_000, 2 ** 20 + 70_000]) {
      const { status, stdout, stderr } = await graupel(words, {}, `1\n${'x'.repeat(length)}\n5\n6`)
      const numbers = stdout
        .split('\n')
        .filter(Boolean)
        .map((text) => Number(`0x${text}`))
      expect({ status, numbers }, `${length}`).toEqual({ status: 2, numbers: [1, 5, 6] })
      expect(stderr).toMatch(/^graupel: line 2: [^\n]* \(ERR_ID_INVALID\)\n$/)
    }
  })

  it.each<[string, string[], RegExp]>([
    ['no encoding', ['5'], /there is no --to; give one of decimal, hex/],
    ['an unknown encoding', ['5', '--to', 'base36'], /--to/],
    ['no id', ['--to', 'hex'], /no id was given; write graupel convert ID --to hex/],
    ['no line', ['-', '--to', 'hex'], /there is no id on the standard input/],
    ['- beside others', ['5', '-', '--to', 'hex'], /stands alone/],
    ['a bad word, before any is printed', ['5', 'x', '--to', 'hex'], /the id is 'x'/],
  ])('refuses %s', async (_name, words, message) => {
    const { status, stdout, stderr } = await graupel(['convert', ...words])
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })
})
