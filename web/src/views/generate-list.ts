import { decode } from 'graupel'
import { html, nothing, type TemplateResult } from 'lit-html'
import type { App } from '../app.ts'
import type { MadeIds, WrittenAs } from '../ids/batch.ts'
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
  const { progress, isCancelled, failure, made } = batch
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
    ${made === undefined ? nothing : list(app, made)}
  </div>`
}

/** Returns the sentence of a screen reader, without the ids and without each step of the progress. */
function spoken({ t, batch }: App): string {
  const { progress, isCancelled, failure, made } = batch
  if (progress !== undefined) return t('making')
  if (failure !== undefined) return `${t('failureTitle')}: ${failure}`
  if (isCancelled) return t('cancelled')
  return made === undefined ? '' : t('made', { count: made.ids.length })
}

function list(app: App, made: MadeIds): TemplateResult {
  const { t } = app
  const { ids } = made
  const form = app.values.generate.format as WrittenAs
  // The first and the last time are the furthest from those that a UUID holds.
  const written = trouble(() => [0, ids.length - 1].map((at) => made.textOf(at, form)))
  if (written.trouble !== undefined) {
    return html`<section class="card troubles"><p>${troubleText(app, written.trouble)}</p></section>`
  }
  return html`<section class="card" aria-labelledby="list-title">
    <h2 id="list-title">${t('made', { count: ids.length })}</h2>
    <p class="actions">
      <button type="button" @click=${() => take(app, made, 'text', copyAll)}>${t('copyAll')}</button>
      <button type="button" @click=${() => take(app, made, 'text', save)}>${t('saveText')}</button>
      <button type="button" @click=${() => take(app, made, 'csv', save)}>CSV</button>
      <button type="button" @click=${() => take(app, made, 'json', save)}>JSON</button>
    </p>
    ${ids.length > shownIds ? html`<p class="hint">${t('eachFirst', { count: shownIds, all: ids.length })}</p>` : nothing}
    <div class="scroll tall" tabindex="0" role="group" aria-labelledby="list-title"><table class="ids">
      <thead><tr>
        <th scope="col">#</th><th scope="col">${t('id')}</th><th scope="col">${t('timeUtc')}</th>
        <th scope="col">${t('sequence')}</th><th scope="col"><span class="hidden">${t('actions')}</span></th>
      </tr></thead>
      <tbody>${[...ids.subarray(0, shownIds)].map((id, i) => row(app, made, id, i, form))}</tbody>
    </table></div>
  </section>`
}

function row(app: App, made: MadeIds, id: bigint, i: number, form: WrittenAs): TemplateResult {
  const { t } = app
  const { layout } = made
  const { timestampMs, sequence } = decode(id, layout)
  const text = made.textOf(i, form)
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
  made: MadeIds,
  kind: FileKind,
  pass: (app: App, kind: FileKind, parts: string[]) => unknown,
): Promise<void> {
  const form = app.values.generate.format as WrittenAs
  const work = exported(kind, made.ids, made.layout, (at) => made.textOf(at, form))
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
