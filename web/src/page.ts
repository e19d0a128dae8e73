import { html, nothing, type TemplateResult } from 'lit-html'
import type { App } from './app.ts'
import { copyButton } from './parts/actions.ts'
import { type Theme, themes } from './preferences.ts'
import { type View, views } from './state.ts'
import { type Language, languageNames } from './text/language.ts'
import { compareView } from './views/compare.ts'
import { designView } from './views/design.ts'
import { generateView } from './views/generate.ts'
import { learnView } from './views/learn.ts'
import { parseView } from './views/parse.ts'

const contents: Readonly<Record<View, (app: App) => TemplateResult>> = {
  parse: parseView,
  generate: generateView,
  design: designView,
  compare: compareView,
  learn: learnView,
}

const viewNames = {
  parse: 'parse',
  generate: 'generate',
  design: 'design',
  compare: 'compare',
  learn: 'learn',
} as const
const themeNames = { auto: 'themeAuto', light: 'themeLight', dark: 'themeDark' } as const
const leads = {
  parse: 'parseLead',
  generate: 'generateLead',
  design: 'designLead',
  compare: 'compareLead',
  learn: 'learnLead',
} as const

/** Draws the whole page. */
export function pageOf(app: App): TemplateResult {
  const { t, view } = app
  document.title = `${t(viewNames[view])} · graupel`
  return html`
    <a class="skip" href="#content" @click=${skip}>${t('skip')}</a>
    <header class="top">
      <p class="name">graupel</p>
      <nav aria-label=${t('views')}>
        <ul>${views.map((one) => viewLink(app, one))}</ul>
      </nav>
      <div class="preferences">${languageField(app)}${themeField(app)}</div>
    </header>
    <main id="content" tabindex="-1">
      <div class="opening">
        <h1>${t(viewNames[view])}</h1>
        <p class="lead">${t(leads[view])} ${view === 'learn' ? nothing : linkTo(app, 'learn', t('learnLink'))}</p>
      </div>
      ${contents[view](app)}
    </main>
    <footer>
      <p>${t('private')}</p>
      <p>${copyButton(app, () => new URL(app.link(view), location.href).href, t('copyLink'))}</p>
    </footer>
    <p class="toast" role="status">${app.announcement}</p>
  `
}

function viewLink(app: App, view: View): TemplateResult {
  return html`<li>${linkTo(app, view, app.t(viewNames[view]))}</li>`
}

/** Draws a link to a view, which is shown without a load. */
function linkTo(app: App, view: View, text: string): TemplateResult {
  const show = (event: MouseEvent) => {
    // The browser opens the link in another tab or window.
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    app.show(view)
  }
  const current = view === app.view ? 'page' : 'false'
  return html`<a href=${app.link(view)} aria-current=${current} @click=${show}>${text}</a>`
}

function languageField(app: App): TemplateResult {
  const change = (event: Event) => app.prefer({ language: (event.target as HTMLSelectElement).value as Language })
  const options = Object.entries(languageNames).map(
    ([language, name]) =>
      html`<option value=${language} lang=${language} ?selected=${language === app.language}>${name}</option>`,
  )
  return html`<select id="language" aria-label=${app.t('language')} @change=${change}>${options}</select>`
}

function themeField(app: App): TemplateResult {
  const change = (event: Event) => app.prefer({ theme: (event.target as HTMLSelectElement).value as Theme })
  const options = themes.map(
    (theme) =>
      html`<option value=${theme} ?selected=${theme === app.preferences.theme}>${app.t(themeNames[theme])}</option>`,
  )
  return html`<select id="theme" aria-label=${app.t('theme')} @change=${change}>${options}</select>`
}

/**
 * Moves the focus to the content. The link cannot do that by its hash, because the hash is the state of the
 * page.
 */
function skip(event: Event): void {
  event.preventDefault()
  document.getElementById('content')?.focus()
}
