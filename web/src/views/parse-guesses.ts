import { isId, type Layout, layouts } from 'graupel'
import { html, nothing, type TemplateResult } from 'lit-html'
import { read } from '../../../src/inspect/reading.ts'
import type { App } from '../app.ts'
import type { Candidate } from '../ids/candidates.ts'
import { layoutToText } from '../layouts/spec-text.ts'
import { utc } from '../text/format.ts'

interface Guesses {
  readonly candidates: readonly Candidate[]
  readonly sample: readonly bigint[]
  /** The layout in which the ids are shown. */
  readonly shown: Layout | undefined
  /** Whether the page chose the layout. */
  readonly isGuess: boolean
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

/** Draws the layouts that may have made the ids, with reasons. */
export function guesses(app: App, guesses: Guesses): TemplateResult {
  const { t } = app
  const { candidates, sample, isSample } = guesses
  const possible = candidates.filter(({ count }) => count > 0)
  const others = candidates.filter(({ count }) => count === 0)
  const isOne = sample.length === 1
  return html`<section class="card" aria-labelledby="guesses-title">
    <h2 id="guesses-title">${t('guessesTitle')}</h2>
    <p role="status">${verdict(app, possible, guesses)}</p>
    ${isSample ? html`<p class="hint">${t('guessesSample', { count: sample.length })}</p>` : nothing}
    ${
      possible.length === 0
        ? nothing
        : html`<div class="scroll" tabindex="0" role="group" aria-labelledby="guesses-title"><table class="guesses">
            <thead><tr>
              <th scope="col">${t('layout')}</th>
              ${isOne ? html`<th scope="col">${t('timeUtc')}</th><th scope="col">${t('node')}</th><th scope="col">${t('sequence')}</th>` : html`<th scope="col">${t('idsThatFit')}</th>`}
              <th scope="col">${t('reason')}</th>
            </tr></thead>
            <tbody>${possible.map((candidate, i) => row(app, candidate, guesses, i + 1))}</tbody>
          </table></div>`
    }
    ${
      others.length === 0
        ? nothing
        : html`<details>
            <summary>${t('guessesOthers', { count: others.length })}</summary>
            <ul>${others.map(({ layout, tooWide }) => html`<li><b>${layout.name}</b> ${tooWide > 0 ? t('reasonTooWide') : futureReason(app, layout, sample)}</li>`)}</ul>
          </details>`
    }
  </section>`
}

function verdict({ t }: App, possible: readonly Candidate[], { shown, isGuess }: Guesses): string {
  const [first] = possible
  if (!isGuess) return t('verdictChosen', { layout: shown?.name ?? '' })
  if (first === undefined) return t('verdictNone')
  if (possible.length === 1) return t('verdictOne', { layout: first.layout.name })
  return t('verdictLikeliest', { count: possible.length, layout: first.layout.name })
}

function row(app: App, candidate: Candidate, guesses: Guesses, number: number): TemplateResult {
  const { layout, plausibility, count, tooWide } = candidate
  const { shown, sample, nowMs } = guesses
  const text = textOf(layout)
  const choose = () => app.set('parse', { layout: text })
  const id = sample[0] as bigint
  const reading = sample.length === 1 && isId(id, layout) ? read(id, layout) : undefined
  return html`<tr class=${layout === shown ? 'shown' : ''}>
    <th scope="row"><label><input type="radio" name="guess" aria-keyshortcuts=${`Alt+${number}`} .checked=${layout === shown} @change=${choose} /> ${layout.name}</label></th>
    ${
      reading === undefined
        ? html`<td class="figure">${app.t('countOf', { count, all: sample.length })}</td>`
        : html`<td class="figure">${utc(reading.timestampMs).replace('T', ' ').replace('Z', '')}
              <span class="range">${app.format.local(reading.timestampMs)}</span>
              <span class="range">${app.format.relative(reading.timestampMs, nowMs)}</span></td>
            <td>${Object.entries(reading.fields).map(([name, value]) => html`<span class="part">${name} ${value}</span> `)}</td>
            <td class="figure" data-label=${app.t('sequence')}>${reading.sequence}</td>`
    }
    <td>${plausibility === undefined ? nothing : app.t(reasons[plausibility])}${tooWide > 0 ? html` ${app.t('reasonTooWide')}` : nothing}</td>
  </tr>`
}

/** Chooses a row by Alt and its number, from wherever the focus is. */
export function chooseByKey(event: KeyboardEvent): void {
  const [, number] = /^Digit([1-9])$/.exec(event.altKey ? event.code : '') ?? []
  const row = document.querySelectorAll<HTMLInputElement>('.guesses input')[Number(number) - 1]
  if (row === undefined) return
  event.preventDefault()
  row.click()
}

/** Returns the name of a preset, or the whole layout. A preset with another epoch keeps its name, because a field has the epoch. */
function textOf(layout: Layout): string {
  return Object.hasOwn(layouts, layout.name) ? layout.name : layoutToText(layout)
}

function futureReason(app: App, layout: Layout, sample: readonly bigint[]): string {
  const id = sample.find((one) => isId(one, layout))
  return id === undefined
    ? app.t('reasonTooWide')
    : app.t('reasonFuture', { day: app.format.day(read(id, layout).timestampMs) })
}
