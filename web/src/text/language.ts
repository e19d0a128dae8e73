import { en } from './messages/en.ts'
import { ru } from './messages/ru.ts'
import { sw } from './messages/sw.ts'
import { zh } from './messages/zh.ts'

/** Every message, by its key. Names in braces are replaced: `{count}`. */
export type Messages = Readonly<Record<keyof typeof en, string>>
export type MessageKey = keyof typeof en

export const languages = { en, zh, ru, sw } as const satisfies Record<string, Messages>
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

/** The first of the user's languages that the page speaks. */
export function languageFor(wanted: readonly string[]): Language {
  return wanted.map((tag) => tag.toLowerCase().split('-')[0]).find(isLanguage) ?? 'en'
}

/** The user's own form of a language, such as `en-GB`: numbers and dates are written in it. */
export function localeOf(language: Language, wanted: readonly string[]): string {
  return wanted.find((tag) => tag.toLowerCase().split('-')[0] === language) ?? language
}

export type MessageValues = Readonly<Record<string, string | number | bigint>>

/** A message with its values. @param number - Writes a number in the language. */
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
