import { composeId, defineLayout, defineSerial, layouts } from 'graupel'
import { describe, expect, it } from 'vitest'
import { graupel, lines } from '../support/cli.js'

const pattern = '001{yyyyMMddHHmmssSSS}{node}{sequence}'
const id = '1541815603606036480'
const text = '0012022062816074010503780000'
const made = (sequence: number) =>
  composeId({ timestampMs: Date.UTC(2026, 10, 22, 20, 5, 6, 7), node: 42, sequence }, layouts.twitter)

describe('graupel serial', () => {
  it('writes ids as the library does, and reads them back', async () => {
    const ids = [id, String(made(0)), String(made(4095))]
    const texts = ids.map(defineSerial({ pattern, layout: layouts.twitter }).format)
    expect(texts[0]).toBe(text)
    expect(await lines(['serial', '--pattern', pattern, ...ids])).toEqual(texts)
    expect(await lines(['serial', '--pattern', pattern, '--parse', ...texts])).toEqual(ids)
  })

  it('takes a layout, an epoch and a time zone', async () => {
    const epochMs = Date.UTC(2024, 0, 1)
    const layout = defineLayout({ ...layouts.sonyflake, epochMs })
    const own = '{yyyyMMddHHmmssSSS}-{sequence}-{machine:6}'
    const words = [
      'serial',
      '--pattern',
      own,
      '--layout',
      'sonyflake',
      '--epoch',
      String(epochMs),
      '--time-zone',
      '-03:30',
    ]
    const expected = defineSerial({ pattern: own, layout, timeZone: '-03:30' }).format('123456789012345')
    expect(await lines([...words, '123456789012345'])).toEqual([expected])
    expect(await lines([...words, '--parse', expected])).toEqual(['123456789012345'])
  })

  it('reads its input, one id or serial a line', async () => {
    const ids = Array.from({ length: 5000 }, (_, i) => String(made(i % 4096)))
    const texts = await lines(['serial', '--pattern', pattern, '-'], {}, ids.join('\r\n'))
    expect(texts).toEqual(ids.map(defineSerial({ pattern, layout: layouts.twitter }).format))
    expect(await lines(['serial', '--pattern', pattern, '--parse', '-'], {}, `${texts.join('\n')}\n`)).toEqual(ids)
  })

  it('prints the lines before and after a line that cannot be read', async () => {
    const { status, stdout, stderr } = await graupel(
      ['serial', '--pattern', pattern, '-'],
      {},
      `${id}\n${id}\nx\n${id}\n`,
    )
    expect({ status, stdout }).toEqual({ status: 2, stdout: `${text}\n${text}\n${text}\n` })
    expect(stderr).toMatch(/^graupel: line 3: the id is 'x'[^\n]* \(ERR_ID_INVALID\)\n$/)
  })

  it.each<[string, string[], RegExp, string?]>([
    ['no pattern', [id], /there is no pattern; give one, such as --pattern .* \(ERR_PATTERN_INVALID\)/],
    ['a pattern that is not complete', ['--pattern', '{yyyy}', id], /\{MM\}, .* are missing.* \(ERR_PATTERN_INVALID\)/],
    ['a pattern that cannot be read', ['--pattern', '{yyyy', id], /is not closed.* \(ERR_PATTERN_INVALID\)/],
    [
      'a zone whose clocks go back',
      ['--pattern', pattern, '--time-zone', 'Europe/Berlin', id],
      /--time-zone is 'Europe\/Berlin', .* \(ERR_OPTION_INVALID\)/,
    ],
    [
      'no id',
      ['--pattern', pattern],
      /no id was given; write graupel serial --pattern PATTERN ID, or - .* \(ERR_ID_INVALID\)/,
    ],
    [
      'no serial',
      ['--pattern', pattern, '--parse'],
      /no serial was given; write .* --parse SERIAL, or - .* \(ERR_ID_INVALID\)/,
    ],
    ['no id on the input', ['--pattern', pattern, '-'], /there is no id on the standard input; give one a line/],
    ['no serial on the input', ['--pattern', pattern, '--parse', '-'], /there is no serial on the standard input/],
    ['an empty line', ['--pattern', pattern, '-'], /line 1: the id is ''/, '\n'],
    [
      '- beside others',
      ['--pattern', pattern, '--parse', text, '-'],
      /- reads serials from the standard input, and stands alone/,
    ],
    ['an id among others', ['--pattern', pattern, id, 'x'], /the id is 'x'.* \(ERR_ID_INVALID\)/],
    [
      'too wide an id',
      ['--pattern', pattern, '9223372036854775808'],
      /has 64 bits; ids of layout 'twitter' have at most 63/,
    ],
    [
      'a serial of another pattern',
      ['--pattern', pattern, '--parse', `9${text.slice(1)}`],
      /has '901' at character 1 in place of '001'/,
    ],
    ['an id for a serial', ['--pattern', pattern, '--parse', id], /has 19 characters/],
    [
      'a date that there is not',
      ['--pattern', pattern, '--parse', text.replace('0628', '0631')],
      /a date or a time that does not exist/,
    ],
    [
      'an unknown flag',
      ['--patern', pattern, id],
      /there is no flag --patern \(did you mean --pattern\?\); see graupel serial --help \(ERR_OPTION_UNKNOWN\)/,
    ],
  ])('refuses %s', async (_what, words, message, input = '') => {
    const { status, stdout, stderr } = await graupel(['serial', ...words], {}, input)
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/^graupel: [^\n]*\n$/)
    expect(stderr).toMatch(message)
  })
})
