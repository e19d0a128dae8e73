import { encodings, type Layout } from 'graupel'
import { html, nothing, type TemplateResult } from 'lit-html'
import type { App } from '../app.ts'
import { readAnyId } from '../ids/encodings.ts'
import { choose, chooseEncoding, trouble } from '../layouts/choice.ts'
import { factsOf } from '../layouts/facts.ts'
import { firstMsAbove, type Order, orderOf } from '../layouts/order.ts'
import { selectField, textField } from '../parts/field.ts'
import { idsField } from '../parts/ids-field.ts'
import { epochField, layoutField } from '../parts/layout-field.ts'
import { utc } from '../text/format.ts'
import { overlapOf } from './compare-ids.ts'
import { layoutPicture } from './design-facts.ts'

/** Draws the comparison of two layouts, for a move from one to the other. */
export function compareView(app: App): TemplateResult {
  const { t, values } = app
  const { old, oldEpoch, new: next, newEpoch, largest, encoding, oldIds, newIds } = values.compare
  const oldChoice = choose(old, oldEpoch)
  const newChoice = choose(next, newEpoch)
  const largestOld = trouble(() => (largest.trim() === '' ? undefined : readAnyId(largest.trim(), Date.now()).id))
  const written = chooseEncoding(encoding)
  return html`
    <form class="inputs" @submit=${(event: Event) => event.preventDefault()}>
      <div class="columns">
        <fieldset>
          <legend>${t('old')}</legend>
          ${layoutField(app, { id: 'compare-old', label: t('layout'), value: old, choice: oldChoice, onChange: (old) => app.set('compare', { old }) })}
          ${epochField(app, { id: 'compare-old-epoch', value: oldEpoch, choice: oldChoice, onInput: (oldEpoch) => app.set('compare', { oldEpoch }) })}
          ${textField(app, {
            id: 'compare-largest',
            label: t('largestOld'),
            value: largest,
            trouble: largestOld.trouble,
            hint: t('largestOldHint'),
            onInput: (largest) => app.set('compare', { largest }),
          })}
        </fieldset>
        <fieldset>
          <legend>${t('new')}</legend>
          ${layoutField(app, { id: 'compare-new', label: t('layout'), value: next, choice: newChoice, onChange: (next) => app.set('compare', { new: next }) })}
          ${epochField(app, { id: 'compare-new-epoch', value: newEpoch, choice: newChoice, onInput: (newEpoch) => app.set('compare', { newEpoch }) })}
        </fieldset>
      </div>
    </form>
    <div class="results">
      ${
        oldChoice.layout === undefined || newChoice.layout === undefined
          ? nothing
          : html`${orderCard(app, oldChoice.layout, newChoice.layout, largestOld.value)}
              ${factsCard(app, oldChoice.layout, newChoice.layout)}`
      }
    </div>
    <section class="card" aria-labelledby="overlap-title">
      <h2 id="overlap-title">${t('overlapTitle')}</h2>
      <p class="hint">${t('overlapLead')}</p>
      <form class="inputs" @submit=${(event: Event) => event.preventDefault()}>
        <div class="columns">
          ${idsField(app, { field: 'compare.oldIds', label: t('oldIds'), hint: t('idsHint'), value: oldIds, onInput: (oldIds) => app.set('compare', { oldIds }) })}
          ${idsField(app, { field: 'compare.newIds', label: t('newIds'), hint: t('idsHint'), value: newIds, onInput: (newIds) => app.set('compare', { newIds }) })}
        </div>
        ${selectField(app, {
          id: 'compare-encoding',
          label: t('encoding'),
          value: encoding,
          options: [['', t('encodingAny')], ...encodings.map((one): [string, string] => [one, one])],
          trouble: written.trouble,
          onChange: (encoding) => app.set('compare', { encoding }),
        })}
      </form>
      ${written.value === undefined ? nothing : overlapOf(app, { encoding: written.value, oldLayout: oldChoice.layout, newLayout: newChoice.layout })}
    </section>
  `
}

/** Tells whether and from when on new ids sort above old ids. */
function orderCard(app: App, old: Layout, next: Layout, largestOld: bigint | undefined): TemplateResult {
  const { t } = app
  return html`<section class="card" aria-labelledby="order-title" aria-live="polite">
    <h2 id="order-title">${t('orderTitle')}</h2>
    <p class="verdict">${orderVerdict(app, orderOf(old, next), Date.now())}</p>
    ${largestOld === undefined ? html`<p class="hint">${t('orderLargestAsk')}</p>` : html`<p class="verdict">${largestVerdict(app, next, largestOld)}</p>`}
  </section>`
}

function orderVerdict({ t }: App, order: Order, nowMs: number): string {
  switch (order.kind) {
    case 'unordered':
      return t('orderUnordered', { names: order.layouts.map(({ name }) => name).join(', ') })
    case 'apart in time':
      return t('orderApart')
    case 'above':
      return t('orderAbove')
    case 'below':
      return t('orderBelow')
    case 'above from':
      return t(order.ms <= nowMs ? 'orderAboveSince' : 'orderAboveFrom', { time: utc(order.ms) })
    case 'below from':
      return t('orderBelowFrom', { time: utc(order.ms) })
  }
}

function largestVerdict({ t }: App, next: Layout, largest: bigint): string {
  const ms = firstMsAbove(next, largest)
  if (ms === undefined) return t('largestNever', { id: String(largest) })
  return t(ms <= Date.now() ? 'largestPassed' : 'largestFrom', { id: String(largest), time: utc(ms) })
}

/** Draws the figures of both layouts side by side. */
function factsCard(app: App, old: Layout, next: Layout): TemplateResult {
  const { t, format } = app
  const both = [old, next]
  const row = (name: string, value: (layout: Layout) => unknown) =>
    html`<tr><th scope="row">${name}</th>${both.map((layout) => html`<td class="figure">${value(layout)}</td>`)}</tr>`
  return html`<section class="card" aria-labelledby="facts-title">
    <h2 id="facts-title">${t('factsTitle')}</h2>
    <div class="scroll" tabindex="0" role="group" aria-labelledby="facts-title"><table class="compared">
      <thead><tr><td></td><th scope="col">${t('old')}: ${old.name}</th><th scope="col">${t('new')}: ${next.name}</th></tr></thead>
      <tbody>
        ${row(t('epoch'), ({ epochMs }) => utc(epochMs))}
        ${row(t('tick'), ({ tickMs }) => format.number(tickMs))}
        ${row(t('fields'), ({ fields }) => fields.map((field) => field.join(' ')).join(' · '))}
        ${row(t('bits'), ({ bits }) => format.number(bits))}
        ${row(t('nodes'), ({ nodes }) => format.number(nodes))}
        ${row(t('idsPerSecond'), ({ idsPerSecond }) => format.number(Math.floor(idsPerSecond)))}
        ${row(t('expires'), ({ expiresAt }) => format.day(expiresAt.getTime()))}
        ${row(t('largest'), (layout) => html`<code>${factsOf(layout).largest}</code>`)}
      </tbody>
    </table></div>
    ${both.map((layout) => html`<div class="picture"><p class="hint">${layout.name}</p>${layoutPicture(app, layout)}</div>`)}
  </section>`
}
