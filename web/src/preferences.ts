import { isLanguage, type Language, languageFor } from './text/language.ts'

export const themes = ['auto', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

/** Language and colours. The browser keeps them if it allows storage. */
export interface Preferences {
  language: Language
  theme: Theme
}

const key = 'graupel.page'

export function readPreferences(): Preferences {
  const kept = stored()
  const language = isLanguage(kept.language) ? kept.language : languageFor(navigator.languages)
  return { language, theme: themes.find((theme) => theme === kept.theme) ?? 'auto' }
}

export function keepPreferences(preferences: Preferences): void {
  try {
    localStorage.setItem(key, JSON.stringify(preferences))
  } catch {
    // Without storage, the choice holds until the page is closed.
  }
}

/**
 * Sets the language, which screen readers need, and the theme, which the style sheet needs, on the document.
 */
export function applyPreferences({ language, theme }: Preferences): void {
  const { documentElement } = document
  documentElement.lang = language === 'zh' ? 'zh-Hans' : language
  if (theme === 'auto') delete documentElement.dataset['theme']
  else documentElement.dataset['theme'] = theme
}

function stored(): Partial<Record<keyof Preferences, string>> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? '{}')
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    // There is no storage, or another program wrote this key.
    return {}
  }
}
