import { encodings, isId, type Layout, scatter } from 'graupel'
import { html, nothing, type TemplateResult } from 'lit-html'
import { type Cell, cellsOf } from '../../../src/inspect/picture.ts'
import { type Reading, read } from '../../../src/inspect/reading.ts'
import type { App } from '../app.ts'
import { writeId } from '../ids/encodings.ts'
import { copyButton } from '../parts/actions.ts'
import { bitsPicture, mark } from '../parts/bits.ts'
import { utc } from '../text/format.ts'

/** Draws one id in one layout: the picture, the table of parts and the other encodings. */
export function idParts(app: App, id: bigint, layout: Layout, isGuess: boolean, nowMs: number): TemplateResult {
  const { t } = app
  if (!isId(id, layout)) {
    const values = { id: String(id), bits: id.toString(2).length, layout: layout.name, most: layout.bits }
    return html`<section class="card troubles"><p>${t('troubleTooWide', values)}</p></section>`
  }
  const reading = read(id, layout)
  const cells = cellsOf(id, reading)
  return html`<section class="card parts" aria-labelledby="parts-title">
    <h2 id="parts-title"><code class="id">${id}</code> ${isGuess ? html`<span class="guess">${t('asGuess', { layout: layout.name })}</span>` : t('as', { layout: layout.name })}</h2>
    <div class="picture">${pictureOfId(app, id, reading)}</div>
    <div class="columns">${partsTable(app, reading, cells, nowMs)}${encodingsTable(app, id, layout)}</div>
  </section>`
}

/** Draws the bits of an id, each field with its value. */
export function pictureOfId(app: App, id: bigint, reading: Reading): TemplateResult {
  const cells = cellsOf(id, reading).map((cell) => ({ ...cell, label: labelOf(app, cell, reading) }))
  return bitsPicture(
    cells,
    app.t('pictureOf', { fields: cells.map(({ bits, label }) => `${label} (${bits})`).join(', ') }),
  )
}

/** Draws one id in all encodings, if its layout is not known. */
export function idForms(app: App, id: bigint): TemplateResult {
  return html`<section class="card parts" aria-labelledby="forms-title">
    <h2 id="forms-title"><code class="id">${id}</code></h2>
    <div class="columns">${encodingsTable(app, id)}</div>
  </section>`
}

function labelOf(app: App, { name }: Cell, { layout, timestampMs, fields, tags, sequence }: Reading): string {
  if (name === 'unused') return app.t('unused')
  if (name === 'timestamp') return `timestamp ${app.format.number((timestampMs - layout.epochMs) / layout.tickMs)}`
  const values: Record<string, number> = { ...fields, ...tags, sequence }
  return `${name} ${app.format.number(values[name] as number)}`
}

function partsTable(app: App, reading: Reading, cells: readonly Cell[], nowMs: number): TemplateResult {
  const { t, format } = app
  const { layout, timestampMs, node, fields, tags = {}, sequence } = reading
  const styles = new Map(cells.map(({ name, style }) => [name, style]))
  const head = (name: string, text = name) => html`<th scope="row">${mark(styles.get(name) ?? 'dim')} ${text}</th>`
  const range = (bits: number) => html`<span class="range">${t('range', { last: 2 ** bits - 1 })}</span>`
  const named = Object.entries<number>(fields)
  return html`<table class="facts">
    <caption>${t('partsCaption')}</caption>
    <tbody>
      <tr>${head('timestamp', t('time'))}${timeCell(app, timestampMs, nowMs)}</tr>
      ${named.map(([name, value]) => html`<tr>${head(name)}<td class="figure">${format.number(value)} ${range(bitsOf(layout, name))}</td></tr>`)}
      ${named.length > 1 ? html`<tr><th scope="row">${t('nodeTogether')}</th><td class="figure">${format.number(node)} ${range(layout.nodeBits)}</td></tr>` : nothing}
      ${Object.entries<number>(tags).map(([name, value]) => html`<tr>${head(name)}<td class="figure">${format.number(value)} ${range(bitsOf(layout, name))} <span class="range">${t('tag')}</span></td></tr>`)}
      <tr>${head('sequence', t('sequence'))}<td class="figure">${format.number(sequence)} ${range(layout.sequence.bits)}</td></tr>
      <tr><th scope="row">${t('epoch')}</th><td>${utc(layout.epochMs)} <span class="range">${t('tickIs', { tick: layout.tickMs })}</span></td></tr>
    </tbody>
  </table>`
}

/** Draws a time: in UTC, in the time zone of the browser, and from now. */
export function timeCell({ format }: App, ms: number, nowMs: number): TemplateResult {
  return html`<td>
    <time datetime=${utc(ms)}>${utc(ms)}</time>
    <span class="range">${format.local(ms)}</span>
    <span class="range">${format.relative(ms, nowMs)}</span>
  </td>`
}

/** Draws the node fields and the tags of an id by their names. */
export function numbersOf({ fields, tags }: Reading): TemplateResult[] {
  return Object.entries({ ...fields, ...tags }).map(
    ([name, value]) => html`<span class="part">${name} ${value}</span> `,
  )
}

function bitsOf({ placements }: Layout, name: string): number {
  return placements.find((field) => field.name === name)?.bits ?? 0
}

/** Draws the id in all encodings and, if its layout is known, scattered. */
function encodingsTable(app: App, id: bigint, layout?: Layout): TemplateResult {
  const forms = encodings.map((encoding): [string, string] => [encoding, writeId(id, encoding)])
  if (layout !== undefined) forms.push(['scatter', String(scatter(id, layout))])
  return html`<table class="facts">
    <caption>${app.t('encodingsCaption')}</caption>
    <tbody>
      ${forms.map(
        ([form, text]) => html`<tr>
          <th scope="row">${form}</th>
          <td><code>${text}</code></td>
          <td>${copyButton(app, () => text, app.t('copy'), app.t('copyWhat', { what: form }))}</td>
        </tr>`,
      )}
    </tbody>
  </table>`
}
