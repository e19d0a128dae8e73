import { type LearnMessages, learnEn } from './learn/en.ts'
import { learnRu } from './learn/ru.ts'
import { learnSw } from './learn/sw.ts'
import { learnZh } from './learn/zh.ts'
import { en, type Messages } from './messages/en.ts'
import { ru } from './messages/ru.ts'
import { sw } from './messages/sw.ts'
import { zh } from './messages/zh.ts'

export type MessageKey = keyof typeof en | keyof typeof learnEn

export const languages = {
  en: { ...en, ...learnEn },
  zh: { ...zh, ...learnZh },
  ru: { ...ru, ...learnRu },
  sw: { ...sw, ...learnSw },
} as const satisfies Record<string, Messages & LearnMessages>
export type Language = keyof typeof languages

/** Each language by its own name. */
export const languageNames: Readonly<Record<Language, string>> = {
  en: 'English',
  zh: '中文',
  ru: 'Русский',
  sw: 'Kiswahili',
}

export function isLanguage(text: string | null | undefined): text is Language {
  return typeof text === 'string' && Object.hasOwn(languages, text)
}

/** Returns the first of the user's languages that the page has. */
export function languageFor(wanted: readonly string[]): Language {
  return wanted.map((tag) => tag.toLowerCase().split('-')[0]).find(isLanguage) ?? 'en'
}

/** Returns the user's own form of a language, such as `en-GB`, for numbers and dates. */
export function localeOf(language: Language, wanted: readonly string[]): string {
  return wanted.find((tag) => tag.toLowerCase().split('-')[0] === language) ?? language
}

export type MessageValues = Readonly<Record<string, string | number | bigint>>

/** Returns a message with its values. @param number - Writes a number in the language. */
export function messageIn(
  language: Language,
  key: MessageKey,
  values: MessageValues,
  number: (value: number) => string,
): string {
  return languages[language][key].replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name]
    return typeof value === 'number' ? number(value) : String(value)
  })
}
