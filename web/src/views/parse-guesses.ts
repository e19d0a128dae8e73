import type { Layout } from 'graupel'
import { html, nothing, type TemplateResult } from 'lit-html'
import type { App } from '../app.ts'
import type { Candidate } from '../ids/candidates.ts'
import { type Given, readingOf } from '../ids/uuids.ts'
import { presets } from '../layouts/choice.ts'
import { layoutToText } from '../layouts/spec-text.ts'
import type { MessageKey } from '../text/language.ts'
import { numbersOf, timeCell } from './parse-id.ts'

interface Guesses {
  readonly candidates: readonly Candidate[]
  /** Ids, or UUIDs. */
  readonly sample: readonly Given[]
  /** The layout in which the ids are shown. */
  readonly shown: Layout | undefined
  /** Whether the page chose the layout. */
  readonly isGuess: boolean
  /** Whether the text of the ids names the layout, if it is no guess. */
  readonly isTold: boolean
  /** Whether the layouts were tried on only some of the ids. */
  readonly isSample: boolean
  readonly nowMs: number
}

const reasons = {
  recent: 'reasonRecent',
  past: 'reasonPast',
  unusual: 'reasonUnusual',
  early: 'reasonEarly',
  future: 'reasonFuture',
} as const

const uuidReasons = { ...reasons, past: 'reasonLow', unusual: 'reasonHigh' } as const

/** Draws the layouts that may have made the ids, with reasons. */
export function guesses(app: App, guesses: Guesses): TemplateResult {
  const { t } = app
  const { candidates, sample, isSample } = guesses
  const possible = candidates.filter(({ count }) => count > 0)
  const others = candidates.filter(({ count }) => count === 0)
  // Each layout reads the same time in a UUID, and another id.
  const columns: MessageKey[] =
    sample.length > 1
      ? ['idsThatFit']
      : typeof sample[0] === 'string'
        ? ['node', 'sequence', 'id']
        : ['timeUtc', 'node', 'sequence']
  return html`<section class="card" aria-labelledby="guesses-title">
    <h2 id="guesses-title">${t('guessesTitle')}</h2>
    <p role="status">${verdict(app, possible, guesses)}</p>
    ${isSample ? html`<p class="hint">${t('guessesSample', { count: sample.length })}</p>` : nothing}
    ${
      possible.length === 0
        ? nothing
        : html`<div class="scroll" tabindex="0" role="group" aria-labelledby="guesses-title"><table class="guesses">
            <thead><tr>
              ${(['layout', ...columns, 'reason'] as const).map((key) => html`<th scope="col">${t(key)}</th>`)}
            </tr></thead>
            <tbody>${possible.map((candidate, i) => row(app, candidate, guesses, i + 1))}</tbody>
          </table></div>`
    }
    ${
      others.length === 0
        ? nothing
        : html`<details>
            <summary>${t('guessesOthers', { count: others.length })}</summary>
            <ul>${others.map(({ layout, unfit }) => html`<li><b>${layout.name}</b> ${unfit > 0 ? t(unfitReason(sample)) : futureReason(app, layout, sample)}</li>`)}</ul>
          </details>`
    }
  </section>`
}

function verdict({ t }: App, possible: readonly Candidate[], { shown, isGuess, isTold, sample }: Guesses): string {
  const [first] = possible
  if (!isGuess) return t(isTold ? 'verdictTold' : 'verdictChosen', { layout: shown?.name ?? '' })
  if (typeof sample[0] === 'string') {
    if (first === undefined) return t('uuidNone')
    if (first.plausibility === 'unusual') return t('uuidHigh')
    return t('uuidFits', { layout: first.layout.name })
  }
  if (first === undefined) return t('verdictNone')
  if (possible.length === 1) return t('verdictOne', { layout: first.layout.name })
  return t('verdictLikeliest', { count: possible.length, layout: first.layout.name })
}

function row(app: App, candidate: Candidate, guesses: Guesses, number: number): TemplateResult {
  const { layout, plausibility, count, unfit } = candidate
  const { shown, sample, nowMs } = guesses
  const choose = () => {
    // The field has the epoch of a preset. The text of another layout has its epoch.
    const isPreset = presets(app.values.parse.epoch).includes(layout)
    app.set('parse', isPreset ? { layout: layout.name } : { layout: layoutToText(layout), epoch: '' })
  }
  const [id, ...others] = sample as readonly [Given]
  const isUuid = typeof id === 'string'
  const reading = others.length === 0 ? readingOf(id, layout) : undefined
  const words = isUuid ? uuidReasons : reasons
  return html`<tr class=${layout === shown ? 'shown' : ''}>
    <th scope="row"><label><input type="radio" name="guess" aria-keyshortcuts=${number < 10 ? `Alt+${number}` : nothing} .checked=${layout === shown} @change=${choose} /> ${layout.name}</label></th>
    ${
      reading === undefined
        ? html`<td class="figure">${app.t('countOf', { count, all: sample.length })}</td>`
        : html`${isUuid ? nothing : timeCell(app, reading.timestampMs, nowMs)}
            <td>${numbersOf(reading)}</td>
            <td class="figure" data-label=${app.t('sequence')}>${reading.sequence}</td>
            ${isUuid ? html`<td class="figure">${reading.id}</td>` : nothing}`
    }
    <td>${plausibility === undefined ? nothing : app.t(words[plausibility])}${unfit > 0 ? html` ${app.t(unfitReason(sample))}` : nothing}</td>
  </tr>`
}

/** Chooses a row by Alt and its number, unless the keys write another character into a text field. */
export function chooseByKey(event: KeyboardEvent): void {
  const [, number] = /^Digit([1-9])$/.exec(event.altKey ? event.code : '') ?? []
  const row = document.querySelectorAll<HTMLInputElement>('.guesses input')[Number(number) - 1]
  // On a German Mac, Alt and 5 write "[", which stands in JSON, and on a US Mac "∞".
  const isTyped = /^[!-/:-~]$/.test(event.key) && document.activeElement?.matches('textarea, [type=text]')
  if (row === undefined || isTyped) return
  event.preventDefault()
  row.click()
}

function unfitReason([id]: readonly Given[]) {
  return typeof id === 'string' ? 'reasonUnfit' : 'reasonTooWide'
}

function futureReason({ t, format }: App, layout: Layout, sample: readonly Given[]): string {
  const reading = sample.map((id) => readingOf(id, layout)).find((reading) => reading !== undefined)
  return reading === undefined ? t(unfitReason(sample)) : t('reasonFuture', { day: format.day(reading.timestampMs) })
}
