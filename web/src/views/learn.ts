import { composeId, isId, type Layout, layouts } from 'graupel'
import { html, type TemplateResult } from 'lit-html'
import { read } from '../../../src/inspect/reading.ts'
import type { App } from '../app.ts'
import { codeLanguages, idCode } from '../code/index.ts'
import { readAnyId } from '../ids/encodings.ts'
import { choose, trouble } from '../layouts/choice.ts'
import { alternatives, references, type Section, sections, valuesOf } from '../learn/sections.ts'
import { bitsOf, hexOf, making, type Step, takingApart } from '../learn/steps.ts'
import { copyButton } from '../parts/actions.ts'
import { selectField, textField } from '../parts/field.ts'
import { layoutField } from '../parts/layout-field.ts'
import type { MessageKey } from '../text/language.ts'
import { pictureOfId } from './parse-id.ts'

/** The other views, each with what it is for. */
const uses = [
  ['parse', 'parseLead'],
  ['generate', 'generateLead'],
  ['design', 'designLead'],
  ['compare', 'compareLead'],
] as const

/** The time of the id that is shown if none is pasted. It stands still while the user reads. */
let shownMs = Date.now()

/** Draws the view that explains ids: text, and the steps of an id that the user has chosen. */
export function learnView(app: App): TemplateResult {
  const { t, values } = app
  const { id: typed, layout: text, language } = values.learn
  const choice = choose(text, '')
  const layout = choice.layout ?? layouts.twitter
  const given = idOf(app, typed, layout)
  const id = given.value ?? idAt(layout, shownMs)
  const facts = valuesOf(layout, (ms) => app.format.day(ms))
  const code = codeLanguages.includes(language) ? language : (codeLanguages[0] as string)
  const others = linesOf(app, 'learnOthers', facts)
  const form = html`<form class="inputs" @submit=${(event: Event) => event.preventDefault()}>
    <div class="row">
      ${textField(app, {
        id: 'learn-id',
        label: t('id'),
        value: typed,
        hint: t('learnIdHint'),
        placeholder: String(id),
        trouble: given.trouble,
        onInput: (id) => app.set('learn', { id }),
      })}
      ${layoutField(app, {
        id: 'learn-layout',
        label: t('layout'),
        value: text,
        choice,
        onChange: (layout) => app.set('learn', { layout }),
      })}
    </div>
    <p class="actions"><button type="button" @click=${() => takeNow(app)}>${t('learnNow')}</button></p>
  </form>`
  const more: { readonly [key in Section['key']]?: TemplateResult } = {
    learnBits: html`<div class="picture">${pictureOfId(app, id, read(id, layout))}</div>`,
    learnMade: stepsTable(app, making(id, layout)),
    learnApart: stepsTable(app, takingApart(id, layout)),
    learnUse: html`<ul>${uses.map(([view, lead]) => html`<li><a href=${app.link(view)}>${t(view)}</a>: ${t(lead)}</li>`)}</ul>`,
    learnOthers: html`<dl>${alternatives.map((link, i) => html`<dt>${linkTo(link)}</dt><dd>${others[i + 1]}</dd>`)}</dl>`,
    learnCode: codeOf(app, code, layout),
    learnReferences: html`<ul>${references.map((link) => html`<li>${linkTo(link)}</li>`)}</ul>`,
  }
  return html`<div class="results learn">
    ${sections.map((section) => {
      const { key } = section
      const [title, ...lines] = linesOf(app, key, facts)
      const body = html`${bodyOf(section, lines)}${more[key]}`
      if (key === 'learnPrimer') return html`<details class="card"><summary>${title}</summary>${body}</details>`
      const card = html`<section class="card" aria-labelledby=${`${key}-title`}><h2 id=${`${key}-title`}>${title}</h2>${body}</section>`
      return key === 'learnWhat' ? [card, form] : card
    })}
  </div>`
}

/** Reads the id of the field. */
function idOf(app: App, typed: string, layout: Layout) {
  const text = typed.trim()
  if (text === '') return { value: undefined, trouble: undefined }
  const read = trouble(() => readAnyId(text, Date.now()).id)
  if (read.value === undefined || isId(read.value, layout)) return read
  const { value } = read
  const values = { id: String(value), bits: value.toString(2).length, layout: layout.name, most: layout.bits }
  return { value: undefined, trouble: app.t('troubleTooWide', values) }
}

/** Returns an id of a time, or of the nearest time that the layout has. */
function idAt(layout: Layout, ms: number): bigint {
  const lastMs = layout.expiresAt.getTime() - 1
  const timestampMs = Math.min(Math.max(ms, layout.epochMs), lastMs)
  const tags = Object.fromEntries(layout.tagFields.map(({ name }) => [name, 1]))
  return composeId({ timestampMs, node: Math.min(layout.nodes - 1, 378), sequence: 1, tags }, layout)
}

/** Shows an id of the present time. */
function takeNow(app: App): void {
  shownMs = Date.now()
  const { layout = layouts.twitter } = choose(app.values.learn.layout, '')
  app.set('learn', { id: String(idAt(layout, shownMs)) })
}

function linesOf(app: App, key: MessageKey, facts: Record<string, string | number>): string[] {
  return app.t(key, facts).split('\n')
}

function bodyOf({ kind, leads = 0 }: Section, lines: readonly string[]) {
  if (kind === 'own') return ''
  const paragraphs = kind === undefined ? lines : lines.slice(0, leads)
  const items = lines.slice(paragraphs.length).map((line) => html`<li>${withCode(line)}</li>`)
  const list = kind === 'numbered' ? html`<ol>${items}</ol>` : html`<ul>${items}</ul>`
  return html`${paragraphs.map((line) => html`<p>${withCode(line)}</p>`)}${items.length > 0 ? list : ''}`
}

/** Draws the words between grave accents as code. */
function withCode(text: string) {
  return text.split('`').map((part, i) => (i % 2 === 0 ? part : html`<code>${part}</code>`))
}

function linkTo([name, url]: readonly [string, string]): TemplateResult {
  return html`<a href=${url} rel="noreferrer">${name}</a>`
}

function stepsTable(app: App, steps: readonly Step[]): TemplateResult {
  const columns = app.t('learnColumns').split('\n')
  const [, decimal, hexadecimal, bits] = columns
  return html`<table class="guesses steps">
    <thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
    <tbody>${steps.map(
      ({ formula, value }) => html`<tr>
        <th scope="row"><code>${formula}</code></th>
        <td class="figure" data-label=${decimal as string}>${String(value)}</td>
        <td data-label=${hexadecimal as string}><code>${hexOf(value)}</code></td>
        <td data-label=${bits as string}><code>${bitsOf(value)}</code></td>
      </tr>`,
    )}</tbody>
  </table>`
}

function codeOf(app: App, language: string, layout: Layout): TemplateResult {
  const { t } = app
  const code = idCode(language, layout)
  return html`
    ${selectField(app, {
      id: 'learn-language',
      label: t('language'),
      value: language,
      options: codeLanguages.map((one): [string, string] => [one, one]),
      onChange: (language) => app.set('learn', { language }),
    })}
    <pre tabindex="0"><code>${code}</code></pre>
    <p class="actions">${copyButton(app, () => code, t('copyCode'))}</p>
  `
}
