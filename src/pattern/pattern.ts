import { rangeError, show, typeError } from '../core/errors.js'
import { isUnit } from './calendar.js'

/** A piece of a pattern: text that stays as it is, or a placeholder with the width that was given. */
export type Part = { readonly literal: string } | { readonly placeholder: string; readonly width: number | undefined }

const maxLength = 255
const maxWidth = 20

const eachUnit = /yyyy|yy|MM|dd|HH|mm|ss|SSS/g

/**
 * Reads a pattern: text with placeholders in braces, such as `SO-{yyyyMMdd}-{count:6}`. `{{` and `}}` stand
 * for a brace.
 *
 * @param placeholders - The names that may stand in braces. Those that are units of time take no width, and
 * can be joined.
 * @throws TypeError, RangeError `ERR_PATTERN_INVALID`
 */
export function parsePattern(pattern: unknown, placeholders: readonly string[]): Part[] {
  checkText(pattern)
  const parts: Part[] = []
  let literal = ''
  let at = 0
  while (at < pattern.length) {
    const character = pattern[at] as string
    if (character !== '{' && character !== '}') {
      literal += character
      at++
      continue
    }
    if (pattern[at + 1] === character) {
      literal += character
      at += 2
      continue
    }
    const end = pattern.indexOf('}', at)
    const content = pattern.slice(at + 1, end)
    if (character === '}' || end < 0 || content.includes('{')) {
      const what = character === '}' ? 'closes no brace' : 'is not closed'
      throw patternError(pattern, `the brace at character ${at + 1} ${what}; write {{ or }} for a brace that is text`)
    }
    if (literal !== '') parts.push({ literal })
    literal = ''
    parts.push(...readBraces(pattern, content, placeholders))
    at = end + 1
  }
  if (literal !== '') parts.push({ literal })
  checkOnce(pattern, parts)
  return parts
}

/** The error of a pattern that cannot be used: what is wrong with it, and what to do. */
export function patternError(pattern: string, reason: string): RangeError {
  return rangeError('ERR_PATTERN_INVALID', `the pattern is ${show(pattern)}: ${reason}`)
}

function checkText(pattern: unknown): asserts pattern is string {
  if (typeof pattern !== 'string') {
    throw typeError(
      'ERR_PATTERN_INVALID',
      `the pattern is ${show(pattern)} (${typeof pattern}); pass a string with placeholders in braces`,
    )
  }
  if (pattern === '') throw patternError(pattern, 'it is empty; pass text with placeholders in braces')
  if (pattern.length > maxLength) {
    throw patternError(pattern, `it has ${pattern.length} characters; at most ${maxLength} are allowed`)
  }
  if (!pattern.isWellFormed()) throw patternError(pattern, 'it has half of a surrogate pair; pass well-formed text')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  const control = pattern.search(/[\u0000-\u001f\u007f]/)
  if (control >= 0) throw patternError(pattern, `character ${control + 1} is a control character; leave it out`)
}

/** The placeholders in one pair of braces: one with its width, or units of time in a row. */
function readBraces(pattern: string, content: string, placeholders: readonly string[]): Part[] {
  const [name = '', ...widths] = content.split(':')
  if (name === '') throw patternError(pattern, `{${content}} names no placeholder; ${knownPlaceholders(placeholders)}`)
  const names = placeholders.includes(name) ? [name] : joinedIn(name)
  for (const placeholder of names) {
    if (!placeholders.includes(placeholder))
      throw patternError(pattern, `there is no placeholder ${show(placeholder)}; ${knownPlaceholders(placeholders)}`)
  }
  if (widths.length === 0) return names.map((placeholder) => ({ placeholder, width: undefined }))
  if (names.some(isUnit)) {
    throw patternError(pattern, `{${content}} has a width, and a unit of time has its own; write {${name}}`)
  }
  const width = widths.join(':')
  if (!/^[1-9][0-9]?$/.test(width) || Number(width) > maxWidth) {
    throw patternError(
      pattern,
      `the width of {${content}} is ${show(width)}; give a number of digits from 1 to ${maxWidth}`,
    )
  }
  return [{ placeholder: name, width: Number(width) }]
}

/**
 * Splits a name into units of time; returns the name itself if it has other parts. `(yyyy|yy)+` would take
 * forever to refuse a long name.
 */
function joinedIn(name: string): string[] {
  const found = name.match(eachUnit) ?? []
  return found.join('') === name ? found : [name]
}

function checkOnce(pattern: string, parts: readonly Part[]): void {
  const seen = new Set<string>()
  for (const part of parts) {
    if ('literal' in part) continue
    if (seen.has(part.placeholder))
      throw patternError(pattern, `{${part.placeholder}} stands there twice; use each placeholder once`)
    seen.add(part.placeholder)
  }
  if (seen.has('yyyy') && seen.has('yy'))
    throw patternError(pattern, '{yyyy} and {yy} are both the year; use one of them')
}

function knownPlaceholders(placeholders: readonly string[]): string {
  return `the placeholders are ${placeholders.map((placeholder) => `{${placeholder}}`).join(', ')}`
}
