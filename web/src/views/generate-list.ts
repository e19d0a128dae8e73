import { decode } from 'graupel'
import { html, nothing, type TemplateResult } from 'lit-html'
import type { App } from '../app.ts'
import type { WrittenAs } from '../ids/batch.ts'
import { download, exported, type FileKind } from '../ids/export.ts'
import { choiceOf, trouble } from '../layouts/choice.ts'
import { copyButton, copyText } from '../parts/actions.ts'
import { troubleText } from '../parts/field.ts'
import { inSlices } from '../slices.ts'
import { linkOf } from '../state.ts'
import { utc } from '../text/format.ts'

/** Number of rows that are shown. Copies and files have all ids. */
const shownIds = 100

const types = { text: 'text/plain', csv: 'text/csv', json: 'application/json' } as const
const extensions = { text: 'txt', csv: 'csv', json: 'json' } as const

/** Draws the last batch of ids, with buttons to copy and save it. */
export function generatedIds(app: App): TemplateResult {
  const { t, format, batch } = app
  const { progress, isCancelled, failure, ids, layout } = batch
  return html`<p class="hidden" role="status">${spoken(app)}</p>
    <div class="results">
    ${failure === undefined ? nothing : html`<section class="card troubles"><h2>${t('failureTitle')}</h2><p lang="en">${failure}</p></section>`}
    ${
      progress === undefined
        ? nothing
        : html`<div class="progress">
            <progress max="1" .value=${progress} aria-label=${t('making')}></progress>
            <span>${t('making')} ${format.percent(Math.floor(progress * 100) / 100)}</span>
            <button type="button" @click=${() => batch.cancel()}>${t('cancel')}</button>
          </div>`
    }
    ${isCancelled ? html`<p class="note">${t('cancelled')}</p>` : nothing}
    ${ids === undefined || layout === undefined ? nothing : list(app, ids)}
  </div>`
}

/** Returns the sentence of a screen reader, without the ids and without each step of the progress. */
function spoken({ t, batch }: App): string {
  const { progress, isCancelled, failure, ids } = batch
  if (progress !== undefined) return t('making')
  if (failure !== undefined) return `${t('failureTitle')}: ${failure}`
  if (isCancelled) return t('cancelled')
  return ids === undefined ? '' : t('made', { count: ids.length })
}

function list(app: App, ids: BigUint64Array): TemplateResult {
  const { t } = app
  const form = app.values.generate.format as WrittenAs
  // The first and the last time are the furthest from those that a UUID holds.
  const written = trouble(() => [0, ids.length - 1].map((at) => app.batch.textOf(at, form)))
  if (written.trouble !== undefined) {
    return html`<section class="card troubles"><p>${troubleText(app, written.trouble)}</p></section>`
  }
  return html`<section class="card" aria-labelledby="list-title">
    <h2 id="list-title">${t('made', { count: ids.length })}</h2>
    <p class="actions">
      <button type="button" @click=${() => take(app, 'text', copyAll)}>${t('copyAll')}</button>
      <button type="button" @click=${() => take(app, 'text', save)}>${t('saveText')}</button>
      <button type="button" @click=${() => take(app, 'csv', save)}>CSV</button>
      <button type="button" @click=${() => take(app, 'json', save)}>JSON</button>
    </p>
    ${ids.length > shownIds ? html`<p class="hint">${t('eachFirst', { count: shownIds, all: ids.length })}</p>` : nothing}
    <div class="scroll tall" tabindex="0" role="group" aria-labelledby="list-title"><table class="ids">
      <thead><tr>
        <th scope="col">#</th><th scope="col">${t('id')}</th><th scope="col">${t('timeUtc')}</th>
        <th scope="col">${t('sequence')}</th><th scope="col"><span class="hidden">${t('actions')}</span></th>
      </tr></thead>
      <tbody>${[...ids.subarray(0, shownIds)].map((id, i) => row(app, id, i, form))}</tbody>
    </table></div>
  </section>`
}

function row(app: App, id: bigint, i: number, form: WrittenAs): TemplateResult {
  const { t } = app
  // The layout of the batch, not the layout that is chosen for the next batch.
  const layout = app.batch.layout as NonNullable<typeof app.batch.layout>
  const { timestampMs, sequence } = decode(id, layout)
  const text = app.batch.textOf(i, form)
  const encoding = form === 'uuid' ? '' : form
  const link = linkOf('parse', { ids: text, encoding, column: '', layout: choiceOf(layout), epoch: '', row: '' })
  return html`<tr>
    <td class="figure">${app.format.number(i + 1)}</td>
    <td><a href=${link} title=${t('takeApart')}><code>${text}</code></a></td>
    <td class="figure">${utc(timestampMs).replace('T', ' ').replace('Z', '')}</td>
    <td class="figure">${sequence}</td>
    <td>${copyButton(app, () => text, t('copy'), t('copyWhat', { what: text }))}</td>
  </tr>`
}

/** Writes all ids in slices and passes the texts on. */
async function take(
  app: App,
  kind: FileKind,
  pass: (app: App, kind: FileKind, parts: string[]) => unknown,
): Promise<void> {
  const { ids, layout } = app.batch
  if (ids === undefined || layout === undefined) return
  const form = app.values.generate.format as WrittenAs
  const work = exported(kind, ids, layout, (at) => app.batch.textOf(at, form))
  pass(app, kind, await inSlices(work, () => {}, new AbortController().signal))
}

async function copyAll(app: App, _kind: FileKind, parts: string[]): Promise<void> {
  const isCopied = await copyText(parts.join(''))
  app.announce(app.t(isCopied ? 'copied' : 'copyRefused'))
}

function save(app: App, kind: FileKind, parts: string[]): void {
  download(`ids.${extensions[kind]}`, `${types[kind]};charset=utf-8`, parts)
  app.announce(app.t('saved', { file: `ids.${extensions[kind]}` }))
}
