import type { Layout } from 'graupel'
import { html, nothing, type TemplateResult } from 'lit-html'
import { decodeUuid } from '../../../src/uuid/decode.ts'
import type { App } from '../app.ts'
import { candidatesOf, likeliestOf } from '../ids/candidates.ts'
import { mayHaveLayout, readingOf } from '../ids/uuids.ts'
import { guesses } from './parse-guesses.ts'
import { idParts, timeCell } from './parse-id.ts'
import { chosenRow, idRows } from './parse-many.ts'

/**
 * Draws UUIDs: a row for each if there are several, one in full, and its id in the layouts that can have made
 * it.
 */
export function uuidResults(
  app: App,
  uuids: readonly string[],
  chosen: Layout | undefined,
  layouts: readonly Layout[],
): TemplateResult {
  const { t } = app
  const row = chosenRow(app, uuids.length)
  const uuid = uuids[row] as string
  const nowMs = Date.now()
  const isOurs = mayHaveLayout(uuid)
  // No generator makes ids of a decode-only layout, and so no UUIDs.
  const possible = layouts.filter((layout) => layout === chosen || !layout.decodeOnly)
  const candidates = isOurs ? candidatesOf([uuid], possible, nowMs) : []
  const shown = chosen ?? likeliestOf(candidates)
  const reading = shown && readingOf(uuid, shown)
  return html`
    ${uuids.length > 1 ? idRows(app, uuids, shown, row) : nothing}
    <section class="card" aria-labelledby="uuid-title">
      <h2 id="uuid-title"><code class="id">${uuid}</code></h2>
      ${uuidFacts(app, uuid, nowMs)}
      <p class="hint">${t(isOurs ? 'uuidLayout' : 'uuidOther')}</p>
    </section>
    ${isOurs ? guesses(app, { candidates, sample: [uuid], shown, isGuess: chosen === undefined, isTold: false, isSample: false, nowMs }) : nothing}
    ${isOurs && chosen !== undefined && reading === undefined ? html`<section class="card troubles"><p>${t('reasonUnfit')}</p></section>` : nothing}
    ${reading === undefined ? nothing : idParts(app, reading.id, reading.layout, chosen === undefined, nowMs)}
  `
}

function uuidFacts(app: App, uuid: string, nowMs: number): TemplateResult {
  const { t } = app
  const { variant, version, timestampMs } = decodeUuid(uuid)
  return html`<table class="facts"><tbody>
    <tr><th scope="row">${t('uuidVersion')}</th><td class="figure">${version ?? '–'}</td></tr>
    <tr><th scope="row">${t('uuidVariant')}</th><td>${variant}</td></tr>
    ${
      timestampMs === undefined
        ? nothing
        : html`<tr><th scope="row">${t('time')}</th>${timeCell(app, timestampMs, nowMs)}</tr>`
    }
  </tbody></table>`
}
