import { describe, expect, it } from 'vitest'
import { parsePattern } from '../../src/pattern/pattern.js'

const placeholders = ['yyyy', 'yy', 'MM', 'dd', 'HH', 'mm', 'ss', 'SSS', 'node', 'count']

function unit(placeholder: string) {
  return { placeholder, width: undefined }
}

describe('a pattern', () => {
  it('is text with placeholders in braces', () => {
    expect(parsePattern('SO-{yyyy}/{count:6}.', placeholders)).toEqual([
      { literal: 'SO-' },
      unit('yyyy'),
      { literal: '/' },
      { placeholder: 'count', width: 6 },
      { literal: '.' },
    ])
  })

  it('joins units of time in one pair of braces', () => {
    const all = ['yyyy', 'MM', 'dd', 'HH', 'mm', 'ss', 'SSS'].map(unit)
    expect(parsePattern('{yyyyMMddHHmmssSSS}', placeholders)).toEqual(all)
    expect(parsePattern('{yyyy}{MM}{dd}{HH}{mm}{ss}{SSS}', placeholders)).toEqual(all)
    expect(parsePattern('{yyMM}', placeholders)).toEqual([unit('yy'), unit('MM')])
  })

  it('tells months from minutes', () => {
    expect(parsePattern('{mm}{MM}', placeholders)).toEqual([unit('mm'), unit('MM')])
  })

  it('takes doubled braces for text', () => {
    expect(parsePattern('{{{node}}}', placeholders)).toEqual([{ literal: '{' }, unit('node'), { literal: '}' }])
    expect(parsePattern('{{node}}', placeholders)).toEqual([{ literal: '{node}' }])
    expect(parsePattern('a{{b}}c', placeholders)).toEqual([{ literal: 'a{b}c' }])
  })

  it('takes a name that is a placeholder before units of time in a row', () => {
    expect(parsePattern('{ddmm}', [...placeholders, 'ddmm'])).toEqual([unit('ddmm')])
  })

  it('may have 255 characters, and widths of 1 to 20', () => {
    expect(parsePattern(`${'x'.repeat(246)}{node:20}`, placeholders)).toHaveLength(2)
    expect(parsePattern('{node:1}', placeholders)).toEqual([{ placeholder: 'node', width: 1 }])
  })
})

describe('a pattern is refused', () => {
  it.each([
    ['', 'it is empty; pass text with placeholders in braces'],
    ['x'.repeat(256), 'it has 256 characters; at most 255 are allowed'],
    ['\ud800{node}', 'it has half of a surrogate pair; pass well-formed text'],
    ['a\n{node}', 'character 2 is a control character; leave it out'],
    ['\u007f', 'character 1 is a control character; leave it out'],
    ['a{node', 'the brace at character 2 is not closed; write {{ or }} for a brace that is text'],
    ['{', 'the brace at character 1 is not closed; write {{ or }} for a brace that is text'],
    ['{no{node}', 'the brace at character 1 is not closed; write {{ or }} for a brace that is text'],
    ['node}', 'the brace at character 5 closes no brace; write {{ or }} for a brace that is text'],
    ['{node}}', 'the brace at character 7 closes no brace; write {{ or }} for a brace that is text'],
    ['{}', '{} names no placeholder; the placeholders are {yyyy}, {yy}'],
    ['{:4}', '{:4} names no placeholder; the placeholders are {yyyy}, {yy}'],
    ['{worker}', "there is no placeholder 'worker'; the placeholders are {yyyy}, {yy}, {MM}"],
    ['{ node }', "there is no placeholder ' node '; the placeholders are"],
    ['{Node}', "there is no placeholder 'Node'; the placeholders are"],
    ['{YYYY}', "there is no placeholder 'YYYY'; the placeholders are"],
    ['{toString}', "there is no placeholder 'toString'; the placeholders are"],
    ['{yyyyM}', "there is no placeholder 'yyyyM'; the placeholders are"],
    ['{node:}', "the width of {node:} is ''; give a number of digits from 1 to 20"],
    ['{node:0}', "the width of {node:0} is '0'; give a number of digits from 1 to 20"],
    ['{node:04}', "the width of {node:04} is '04'; give a number of digits from 1 to 20"],
    ['{node:21}', "the width of {node:21} is '21'; give a number of digits from 1 to 20"],
    ['{node:x}', "the width of {node:x} is 'x'; give a number of digits from 1 to 20"],
    ['{node:4:2}', "the width of {node:4:2} is '4:2'; give a number of digits from 1 to 20"],
    ['{yyyy:4}', '{yyyy:4} has a width, and a unit of time has its own; write {yyyy}'],
    ['{yyyyMM:6}', '{yyyyMM:6} has a width, and a unit of time has its own; write {yyyyMM}'],
    ['{node}{node:3}', '{node} stands there twice; use each placeholder once'],
    ['{yyyyMM}{MM}', '{MM} stands there twice; use each placeholder once'],
    ['{yyyy}{yy}', '{yyyy} and {yy} are both the year; use one of them'],
    ['{yyyyyy}', '{yyyy} and {yy} are both the year; use one of them'],
  ])('%j', (pattern, reason) => {
    const refused = expect(() => parsePattern(pattern, placeholders))
    refused.toThrow(RangeError)
    refused.toThrow(expect.objectContaining({ code: 'ERR_PATTERN_INVALID' }))
    refused.toThrow(`: ${reason}`)
  })

  it.each([undefined, null, 7, ['{node}'], { pattern: '{node}' }])('if it is %j', (pattern) => {
    const refused = expect(() => parsePattern(pattern, placeholders))
    refused.toThrow(TypeError)
    refused.toThrow(expect.objectContaining({ code: 'ERR_PATTERN_INVALID' }))
    refused.toThrow('pass a string with placeholders in braces')
  })

  it('at once, if a name of many letters is nearly units of time', () => {
    // With a search that goes back and forth, this takes longer than anyone waits.
    const name = `${'y'.repeat(250)}x`
    expect(() => parsePattern(`{${name}}`, placeholders)).toThrow("there is no placeholder 'yyyy")
  })

  it('if it has a unit of time that is not among its placeholders, joined or not', () => {
    expect(() => parsePattern('{yyyyMMSSS}', ['yyyy', 'MM'])).toThrow(
      "there is no placeholder 'SSS'; the placeholders are {yyyy}, {MM}",
    )
  })
})
