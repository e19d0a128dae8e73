import type { Layout } from 'graupel'
import { html, nothing, type TemplateResult } from 'lit-html'
import { decodeUuid } from '../../../src/uuid/decode.ts'
import type { App } from '../app.ts'
import { type Summary, summarize } from '../ids/summary.ts'
import { type Given, readingOf } from '../ids/uuids.ts'
import { progressOf } from '../parts/actions.ts'
import { utc } from '../text/format.ts'
import { idParts, numbersOf } from './parse-id.ts'

/** Number of rows in the table of ids. */
const shownIds = 100

/** Number of ranges of nodes that are shown. */
const shownRanges = 12

/** Draws several ids: a summary, a row for each, and one id in full. */
export function manyIds(
  app: App,
  ids: BigUint64Array,
  layout: Layout,
  isGuess: boolean,
  nowMs: number,
): TemplateResult {
  const { t } = app
  const job = app.job<Summary>('parse summary')
  job.begin([ids, layout], () => summarize(ids, layout))
  const row = chosenRow(app, ids.length)
  return html`
    ${progressOf(app, job, t('comparing'))}
    ${job.result === undefined ? nothing : together(app, job.result, layout, isGuess)}
    ${idRows(app, ids, layout, row)}
    ${idParts(app, ids[row] as bigint, layout, isGuess, nowMs)}
  `
}

/** Returns the index of the row that is shown in full. */
export function chosenRow({ values }: App, count: number): number {
  const { row } = values.parse
  return Math.min(/^\d+$/.test(row) ? Number(row) : 0, count - 1, shownIds - 1)
}

function together(app: App, summary: Summary, layout: Layout, isGuess: boolean): TemplateResult {
  const { t, format } = app
  const { set, tooWide, shortest, longest, equal, nodes } = summary
  const rows: (readonly [string, unknown])[] = [
    [t('ids'), format.number(set.count)],
    ...(tooWide > 0 ? [[t('tooWide'), format.number(tooWide)] as const] : []),
    [t('order'), orderText(app, summary)],
    [t('equal'), equalText(app, summary)],
    ...(set.count === 0
      ? []
      : [[t('firstTime'), utc(set.firstMs)] as const, [t('lastTime'), utc(set.lastMs)] as const]),
    ...(set.count === 0 ? [] : [[t('span'), format.duration(set.lastMs - set.firstMs)] as const]),
    ...(shortest === undefined || longest === undefined
      ? []
      : [
          [t('shortestGap'), t('gapAt', { gap: format.duration(shortest.ms), at: shortest.at + 1 })] as const,
          [t('longestGap'), t('gapAt', { gap: format.duration(longest.ms), at: longest.at + 1 })] as const,
        ]),
    ...(nodes.length === 0 ? [] : [[t('nodes'), nodesText(app, nodes)] as const]),
  ]
  return html`<section class="card" aria-labelledby="together-title">
    <h2 id="together-title">${t('together')} <span class="guess">${t(isGuess ? 'asGuess' : 'as', { layout: layout.name })}</span></h2>
    <table class="facts"><tbody>
      ${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td class="figure">${value}</td></tr>`)}
    </tbody></table>
    ${equal.count === 0 ? nothing : html`<p class="note">${t('equalIds')} ${equal.first.map(({ id }) => html`<code>${id}</code> `)}${equal.count > equal.first.length ? '…' : nothing}</p>`}
  </section>`
}

function orderText({ t }: App, { stepsBack, firstStepBack, equal }: Summary): string {
  if (stepsBack > 0) return t('orderNot', { count: stepsBack, at: (firstStepBack ?? 0) + 1 })
  return t(equal.count > 0 ? 'orderEqual' : 'orderAscending')
}

function equalText({ t }: App, { equal }: Summary): string {
  return equal.count === 0 ? t('equalNone') : t('equalSome', { count: equal.count })
}

function nodesText({ format }: App, nodes: Summary['nodes']): string {
  const text = nodes
    .slice(0, shownRanges)
    .map(([first, last]) => (first === last ? format.number(first) : `${format.number(first)}–${format.number(last)}`))
  return nodes.length > shownRanges ? `${text.join(', ')} …` : text.join(', ')
}

/**
 * Draws a row for each of the first ids or UUIDs. @param layout - `undefined` if no layout can have made the
 * UUIDs.
 */
export function idRows(app: App, ids: ArrayLike<Given>, layout: Layout | undefined, shown: number): TemplateResult {
  const { t, format } = app
  const first = Array.from({ length: Math.min(ids.length, shownIds) }, (_, i) => ids[i] as Given)
  let beforeMs: number | undefined
  const rows = first.map((id, i) => {
    const choose = () => app.set('parse', { row: String(i) })
    const head = html`<td class="figure">${format.number(i + 1)}</td>
      <th scope="row"><label><input type="radio" name="row" .checked=${i === shown} @change=${choose} /> <code>${id}</code></label></th>`
    const reading = layout && readingOf(id, layout)
    if (reading === undefined && typeof id === 'bigint') {
      return html`<tr>${head}<td colspan="4">${t('reasonTooWide')}</td></tr>`
    }
    const ms = reading?.timestampMs ?? decodeUuid(id as string).timestampMs
    const gap = ms === undefined || beforeMs === undefined ? '' : format.duration(ms - beforeMs)
    beforeMs = ms
    return html`<tr class=${i === shown ? 'shown' : ''}>
      ${head}
      <td class="figure">${ms === undefined ? '' : utc(ms).replace('T', ' ').replace('Z', '')}</td>
      <td class="figure">${gap}</td>
      <td>${reading && numbersOf(reading)}</td>
      <td class="figure">${reading?.sequence}</td>
    </tr>`
  })
  return html`<section class="card" aria-labelledby="rows-title">
    <h2 id="rows-title">${t('each')}</h2>
    ${ids.length > shownIds ? html`<p class="hint">${t('eachFirst', { count: shownIds, all: ids.length })}</p>` : nothing}
    <div class="scroll tall" tabindex="0" role="group" aria-labelledby="rows-title"><table>
      <thead><tr>
        <th scope="col">#</th><th scope="col">${typeof first[0] === 'string' ? 'UUID' : t('id')}</th><th scope="col">${t('timeUtc')}</th>
        <th scope="col">${t('gap')}</th><th scope="col">${t('node')}</th><th scope="col">${t('sequence')}</th>
      </tr></thead>
      <tbody>${rows}</tbody>
    </table></div>
  </section>`
}
