import type { Layout } from 'graupel'
import { html, nothing, type TemplateResult } from 'lit-html'
import type { App } from '../app.ts'
import { candidatesOf, likeliestOf, sampleOf } from '../ids/candidates.ts'
import { writings } from '../ids/encodings.ts'
import { type IdList, readList } from '../ids/list.ts'
import { allColumns } from '../ids/texts.ts'
import { choose, chooseEncoding, presets, trouble } from '../layouts/choice.ts'
import { designOf } from '../layouts/design.ts'
import { progressOf } from '../parts/actions.ts'
import { selectField, troubleText } from '../parts/field.ts'
import { idsField, idsTextOf } from '../parts/ids-field.ts'
import { epochField, layoutField } from '../parts/layout-field.ts'
import { guesses } from './parse-guesses.ts'
import { idForms, idParts } from './parse-id.ts'
import { manyIds } from './parse-many.ts'
import { uuidResults } from './parse-uuid.ts'

/** Draws the view that decodes ids. */
export function parseView(app: App): TemplateResult {
  const { t, values } = app
  const { ids, encoding, column, layout, epoch } = values.parse
  const text = idsTextOf(app, 'parse.ids', ids)
  const chosen = layout === '' ? undefined : choose(layout, epoch)
  const choice = chosen ?? {
    layout: undefined,
    layoutTrouble: undefined,
    epochTrouble: trouble(() => presets(epoch)).trouble,
  }
  const reading = app.job<IdList>('parse')
  const written = chooseEncoding(encoding)
  const list = written.value === undefined ? undefined : reading.result
  if (written.value !== undefined) {
    const { value } = written
    reading.begin([text, value, column], () => readList(text, value, Date.now(), column))
  }
  return html`
    <form class="inputs" @submit=${(event: Event) => event.preventDefault()}>
      ${idsField(app, {
        field: 'parse.ids',
        label: t('ids'),
        hint: t('idsHint'),
        value: ids,
        trouble: list === undefined ? undefined : firstTrouble(app, list),
        onInput: (ids) => app.set('parse', { ids, column: '', row: '' }),
      })}
      <div class="row">
        ${selectField(app, {
          id: 'parse-encoding',
          label: t('encoding'),
          value: encoding,
          options: [['', t('encodingAny')], ...writings.map((one): [string, string] => [one, one])],
          trouble: written.trouble,
          hint: encodingHint(app, list, encoding),
          onChange: (encoding) => app.set('parse', { encoding }),
        })}
        ${
          list === undefined || list.columns.length === 0
            ? nothing
            : selectField(app, {
                id: 'parse-column',
                label: t('column'),
                value: list.column,
                options: [...list.columns.map((name): [string, string] => [name, name]), [allColumns, t('columnAll')]],
                hint: list.column === allColumns ? undefined : t('columnHint'),
                onChange: (column) => app.set('parse', { column, row: '' }),
              })
        }
        ${layoutField(app, {
          id: 'parse-layout',
          label: t('layout'),
          value: layout,
          choice,
          none: t('layoutAny'),
          onChange: (layout) => app.set('parse', { layout }),
        })}
        ${epochField(app, { id: 'parse-epoch', value: epoch, choice, onInput: (epoch) => app.set('parse', { epoch }) })}
      </div>
    </form>
    ${progressOf(app, reading, t('reading'))}
    ${text.trim() === '' ? examples(app) : nothing}
    <div class="results">${list === undefined ? nothing : results(app, list, chosen?.layout)}</div>
  `
}

/** Names the encoding that was found, and other possible encodings. */
function encodingHint(app: App, list: IdList | undefined, chosen: string): string {
  if (list?.encoding === undefined || chosen !== '') return app.t('encodingHint')
  if (list.otherEncodings.length === 0) return app.t('encodingFound', { encoding: list.encoding })
  return app.t('encodingGuessed', { encoding: list.encoding, others: list.otherEncodings.join(', ') })
}

function results(app: App, list: IdList, chosen: Layout | undefined): TemplateResult | typeof nothing {
  const { layout, epoch } = app.values.parse
  if (readCount(list) === 0 || (layout !== '' && chosen === undefined)) return troublesOf(app, list)
  const known = trouble(() => presets(epoch)).value
  if (known === undefined) return troublesOf(app, list)
  const all = [...new Set([...known, ...ownLayouts(app, chosen)])]
  if (list.uuids.length > 0) return html`${troublesOf(app, list)}${uuidResults(app, list.uuids, chosen, all)}`
  const nowMs = Date.now()
  const sample = sampleOf(list.ids)
  const told = all.find(({ name }) => name === list.layout)
  // The layout that the text names comes first.
  const candidates = candidatesOf(sample, all, nowMs).sort((a, b) => +(b.layout === told) - +(a.layout === told))
  const shown = chosen ?? told ?? likeliestOf(candidates)
  const isGuess = chosen === undefined && told === undefined
  return html`
    ${troublesOf(app, list)}
    ${guesses(app, { candidates, sample, shown, isGuess, isTold: chosen === undefined, isSample: list.ids.length > sample.length, nowMs })}
    ${shown === undefined ? formsOf(app, list) : partsOf(app, list, shown, isGuess, nowMs)}
  `
}

/** Draws a single id in all encodings, which do not depend on its layout. */
function formsOf(app: App, { ids: [id, ...others] }: IdList): TemplateResult | typeof nothing {
  return id === undefined || others.length > 0 ? nothing : idForms(app, id)
}

function partsOf(app: App, list: IdList, layout: Layout, isGuess: boolean, nowMs: number): TemplateResult {
  return list.ids.length === 1
    ? idParts(app, list.ids[0] as bigint, layout, isGuess, nowMs)
    : manyIds(app, list.ids, layout, isGuess, nowMs)
}

/** Returns the user's layouts that may have made an id: the chosen layout, and a design that was changed. */
function ownLayouts(app: App, chosen: Layout | undefined): Layout[] {
  // The link of a design has only the values that were changed.
  const designed = app.link('design') === '#design' ? undefined : designOf(app.values.design).layout
  return [chosen, designed].filter((layout) => layout !== undefined)
}

function readCount({ ids, uuids }: IdList): number {
  return ids.length + uuids.length
}

/** Returns the fault of the first text that is no id, for the field. */
function firstTrouble(app: App, list: IdList): string | undefined {
  const { troubles, troubleCount } = list
  const [first] = troubles
  if (first === undefined) return undefined
  if (readCount(list) === 0 && troubleCount > 1) return app.t('troubleNoIds')
  const text = troubleText(app, first.trouble)
  return troubleCount + readCount(list) === 1
    ? text
    : `${app.t('line', { line: app.format.number(first.line) })} ${text}`
}

/**
 * Draws a warning about rounded numbers, and the texts that are no ids with their lines, if there are
 * several.
 */
function troublesOf(app: App, list: IdList): TemplateResult | typeof nothing {
  const { t, format } = app
  const { troubles, troubleCount, rounded } = list
  const read = readCount(list)
  const warning =
    rounded === undefined
      ? nothing
      : html`<p class="note bad" role="status">${t('troubleRounded', { text: rounded })}</p>`
  // If nothing is an id, the field says so in one sentence.
  if (troubleCount < 2 || read === 0) return warning
  return html`${warning}<section class="card troubles" aria-labelledby="troubles-title">
    <h2 id="troubles-title">${t('noIdsTitle', { count: troubleCount, all: troubleCount + read })}</h2>
    <ul>
      ${troubles.map(
        ({ line, trouble }) => html`<li>
          <span class="line-number">${t('line', { line: format.number(line) })}</span> ${troubleText(app, trouble)}
        </li>`,
      )}
      ${troubleCount > troubles.length ? html`<li>…</li>` : nothing}
    </ul>
  </section>`
}

/** Draws example ids while the field is empty. */
function examples(app: App): TemplateResult {
  const known = [
    ['1541815603606036480', 'Twitter', 'twitter'],
    ['175928847299117063', 'Discord', 'discord'],
    ['0Czks0tP37X', 'base62', ''],
  ]
  return html`<p class="examples">
    ${app.t('examples')}
    ${known.map(
      ([id = '', name, layout = '']) => html`
      <button type="button" class="example" @click=${() => app.set('parse', { ids: id, layout })}><code>${id}</code> ${name}</button>
    `,
    )}
  </p>`
}
