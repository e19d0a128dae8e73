import { describe, expect, it } from 'vitest'
import { Format } from '../../web/src/text/format.ts'
import { languageFor, languageNames, languages, localeOf, messageIn } from '../../web/src/text/language.ts'

const { en } = languages
const others = Object.entries(languages).filter(([language]) => language !== 'en')
const placeholders = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort()

describe.each(others)('the messages in %s', (_, messages) => {
  it('have the keys of the English messages, in the same order', () => {
    expect(Object.keys(messages)).toEqual(Object.keys(en))
  })

  it('show the same values', () => {
    for (const key of Object.keys(en) as (keyof typeof en)[]) {
      expect(messages[key].trim(), key).not.toBe('')
      expect(placeholders(messages[key]), key).toEqual(placeholders(en[key]))
    }
  })

  it('have the same lines, and the same code', () => {
    const code = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code).sort()
    for (const key of Object.keys(en) as (keyof typeof en)[]) {
      expect(messages[key].split('\n').length, key).toBe(en[key].split('\n').length)
      expect(code(messages[key]), key).toEqual(code(en[key]))
    }
  })

  it('are not English', () => {
    const same = (Object.keys(en) as (keyof typeof en)[]).filter(
      (key) => messages[key] === en[key] && /[a-z]{4}/.test(en[key]),
    )
    expect(same).toEqual([])
  })
})

describe('a language', () => {
  it("is the first of the user's languages that the page has", () => {
    expect(languageFor(['de-DE', 'zh-TW', 'en'])).toBe('zh')
    expect(languageFor(['sw-KE'])).toBe('sw')
    expect(languageFor(['de'])).toBe('en')
    expect(languageFor([])).toBe('en')
    expect(localeOf('en', ['de', 'en-GB', 'en'])).toBe('en-GB')
    expect(localeOf('ru', ['en'])).toBe('ru')
  })

  it('writes numbers and times in its own way', () => {
    const format = new Format('ru')
    expect(messageIn('ru', 'range', { last: 4095 }, (value) => format.number(value))).toBe('от 0 до 4\u00a0095')
    expect(new Format('en').relative(0, 3 * 365.25 * 24 * 3_600_000)).toBe('3 years ago')
    expect(new Format('en').duration(23_842)).toBe('23.842 sec')
    expect(new Format('en').duration(-90_061_000)).toBe('−1 day 1 hr')
    expect(new Format('en').day(Date.UTC(2026, 10, 22, 23, 59))).toBe('November 22, 2026')
    expect(Object.keys(languageNames)).toEqual(Object.keys(languages))
  })
})
