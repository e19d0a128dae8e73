import type { Layout } from 'graupel'
import { html, nothing, type TemplateResult } from 'lit-html'
import { cellsOf } from '../../../src/inspect/picture.ts'
import { read } from '../../../src/inspect/reading.ts'
import type { App } from '../app.ts'
import { type Facts, factsOf, neighboursOf } from '../layouts/facts.ts'
import { bitsPicture } from '../parts/bits.ts'

const dayMs = 24 * 3_600_000

/** A burst of requests can use up fewer ids a second than this. */
const fewIdsPerSecond = 10_000

/**
 * Draws the facts of a layout: a picture, figures, warnings, and the presets with which it can be confused.
 */
export function designFacts(app: App, layout: Layout): TemplateResult {
  const { t } = app
  const facts = factsOf(layout)
  const nowMs = Date.now()
  const warnings = warningsOf(app, layout, facts, nowMs)
  return html`
    <section class="card" aria-labelledby="facts-title">
      <h2 id="facts-title">${layout.name}</h2>
      <div class="picture">${layoutPicture(app, layout)}</div>
      <dl class="figures">
        ${figure(t('idsPerSecond'), app.format.number(Math.floor(layout.idsPerSecond)))}
        ${figure(t('nodes'), app.format.number(layout.nodes))}
        ${figure(t('expires'), app.format.day(layout.expiresAt.getTime()))}
        ${figure(t('bits'), app.format.number(layout.bits))}
      </dl>
      <table class="facts"><tbody>
        <tr><th scope="row">${t('allIdsPerSecond')}</th><td class="figure">${app.format.number(Math.floor(layout.idsPerSecond * layout.nodes))}</td></tr>
        <tr><th scope="row">${t('largest')}</th><td class="figure"><code>${facts.largest}</code></td></tr>
        <tr><th scope="row">${t('jsNumber')}</th><td>${sinceText(app, facts.unsafeFromMs, nowMs, 'jsAlways', 'jsUntil', 'jsNever')}</td></tr>
        <tr><th scope="row">${t('signed')}</th><td>${sinceText(app, facts.negativeFromMs, nowMs, 'signedAlways', 'signedUntil', 'signedNever')}</td></tr>
        <tr><th scope="row">${t('sqlTypes')}</th><td>${facts.sqlTypes.map(({ database, type }) => html`<span class="part">${database} <code>${type}</code></span> `)}</td></tr>
        <tr><th scope="row">${t('neighbours')}</th><td>${neighbours(app, layout, nowMs)}</td></tr>
      </tbody></table>
    </section>
    ${
      warnings.length === 0
        ? html`<p class="note good">${t('noWarnings')}</p>`
        : html`<section class="card warnings" aria-labelledby="warnings-title">
            <h2 id="warnings-title">${t('warnings')}</h2>
            <ul>${warnings.map((text) => html`<li>${text}</li>`)}</ul>
          </section>`
    }
  `
}

/** Draws the fields with their widths, without the digits of an id. */
export function layoutPicture({ t }: App, layout: Layout): TemplateResult {
  const cells = cellsOf(0n, read(0n, layout)).map((cell) => ({
    ...cell,
    digits: ' '.repeat(cell.bits),
    label: `${cell.name === 'unused' ? t('unused') : cell.name} ${cell.bits}`,
  }))
  return bitsPicture(cells, t('pictureOf', { fields: cells.map(({ label }) => label).join(', ') }))
}

function figure(name: string, value: string): TemplateResult {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`
}

/** Tells whether a fact holds always, until a day, or no more. */
function sinceText<K extends Parameters<App['t']>[0]>(
  app: App,
  endMs: number | undefined,
  nowMs: number,
  always: K,
  until: K,
  never: K,
): string {
  if (endMs === undefined) return app.t(always)
  return endMs > nowMs ? app.t(until, { day: app.format.day(endMs) }) : app.t(never)
}

function neighbours(app: App, layout: Layout, nowMs: number): TemplateResult {
  const found = neighboursOf(layout, nowMs)
  const names = (relation: string) =>
    found
      .filter((one) => one.relation === relation)
      .map(({ preset }) => preset.name)
      .join(', ')
  const line = (key: 'neighbourSame' | 'neighbourOverlap' | 'neighbourApart', relation: string) =>
    names(relation) === '' ? nothing : html`<span class="part">${app.t(key, { names: names(relation) })}</span> `
  return html`${line('neighbourSame', 'same')}${line('neighbourOverlap', 'overlap')}${line('neighbourApart', 'apart')}`
}

/** Lists properties that are allowed and may surprise later. */
function warningsOf({ t, format }: App, layout: Layout, facts: Facts, nowMs: number): string[] {
  const expiresMs = layout.expiresAt.getTime()
  const day = format.day(expiresMs)
  const checks: (readonly [boolean, string])[] = [
    [expiresMs <= nowMs, t('warnExpired', { day })],
    [expiresMs > nowMs && expiresMs < nowMs + 10 * 365 * dayMs, t('warnExpiresSoon', { day })],
    [layout.epochMs > nowMs, t('warnEpochFuture', { day: format.day(layout.epochMs) })],
    [!facts.sortsByTime, t('warnOrder')],
    [facts.sequenceAboveNode, t('warnInterleave')],
    [facts.aboveSequence.length > 0, t('warnChain', { names: facts.aboveSequence.join(', ') })],
    [layout.nodes === 1, t('warnOneNode')],
    [layout.idsPerSecond < fewIdsPerSecond, t('warnFewIds', { count: Math.floor(layout.idsPerSecond) })],
    [facts.negativeFromMs !== undefined, t('warnSigned')],
    [facts.unsafeFromMs !== undefined, t('warnJs')],
  ]
  return checks.filter(([holds]) => holds).map(([, text]) => text)
}
