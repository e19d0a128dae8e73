import { isId, type Layout } from 'graupel'
import { html, nothing, type TemplateResult } from 'lit-html'
import { type CommonNode, commonNodes, type EqualIds, equalIds, IdSet, rangesOf } from '../../../src/inspect/overlap.ts'
import { makeSameIds } from '../../../src/inspect/reading.ts'
import type { App } from '../app.ts'
import type { Writing } from '../ids/encodings.ts'
import { type IdList, readList } from '../ids/list.ts'
import { progressOf } from '../parts/actions.ts'
import { troubleText } from '../parts/field.ts'
import { idsTextOf } from '../parts/ids-field.ts'

/** Number of equal ids and of common nodes that are shown. */
const shown = 10

interface Sides {
  readonly encoding: Writing | ''
  readonly oldLayout: Layout | undefined
  readonly newLayout: Layout | undefined
}

/** The ids and nodes that two lists have in common. */
interface Overlap {
  readonly lists: readonly [old: IdList, next: IdList]
  readonly sets: readonly [old: IdSet, next: IdSet]
  readonly equal: EqualIds
  /** `undefined` if nodes cannot be compared, because the layouts differ or an id is too wide. */
  readonly common: readonly CommonNode[] | undefined
}

/** Finds equal ids, and nodes that made ids on both sides, as `graupel overlap` does. */
export function overlapOf(app: App, { encoding, oldLayout, newLayout }: Sides): TemplateResult | typeof nothing {
  const { t } = app
  const { oldIds, newIds } = app.values.compare
  const old = idsTextOf(app, 'compare.oldIds', oldIds)
  const next = idsTextOf(app, 'compare.newIds', newIds)
  if (old.trim() === '' || next.trim() === '') return nothing
  const isComparable = oldLayout !== undefined && newLayout !== undefined && makeSameIds(oldLayout, newLayout)
  const layout = isComparable ? oldLayout : undefined
  const job = app.job<Overlap>('compare')
  const names: [string, string] = [t('old'), t('new')]
  job.begin([old, next, encoding, layout, app.language], () => compared(old, next, encoding, layout, names))
  return html`${progressOf(app, job, t('comparing'))}
    <div aria-live="polite">${job.result === undefined ? nothing : verdicts(app, job.result)}</div>`
}

function* compared(
  oldText: string,
  newText: string,
  encoding: Writing | '',
  layout: Layout | undefined,
  names: readonly [string, string],
): Generator<number, Overlap> {
  const nowMs = Date.now()
  const old = yield* parts(readList(oldText, encoding, nowMs), 0)
  const next = yield* parts(readList(newText, encoding, nowMs), 0.4)
  const all = [old, next] as const
  const areNarrow = layout !== undefined && all.every(({ ids }) => ids.every((id) => isId(id, layout)))
  const sets = [
    new IdSet(names[0], areNarrow ? layout : undefined),
    new IdSet(names[1], areNarrow ? layout : undefined),
  ] as const
  for (const [i, { ids }] of all.entries()) {
    for (const [at, id] of ids.entries()) {
      sets[i]?.add(id)
      if ((at & 511) === 0) yield 0.8 + ((i + at / ids.length) * 0.2) / 2
    }
  }
  return { lists: all, sets, equal: equalIds(sets, shown), common: areNarrow ? commonNodes(sets) : undefined }
}

/** Runs a part of the work and yields the progress of the whole. */
function* parts<Result>(work: Generator<number, Result>, from: number): Generator<number, Result> {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    yield from + step.value * 0.4
  }
}

function verdicts(app: App, { lists, sets, equal, common }: Overlap): TemplateResult {
  const { t, format } = app
  return html`
    ${lists.map(({ troubles, troubleCount, ids, uuids }, i) =>
      troubleCount + uuids.length === 0
        ? nothing
        : html`<div class="troubles">
            <p>${t('sideTroubles', { side: sets[i]?.name ?? '', count: troubleCount + uuids.length, all: troubleCount + uuids.length + ids.length })}</p>
            <ul>${troubles.map(({ line, trouble }) => html`<li>${t('line', { line: format.number(line) })} ${troubleText(app, trouble)}</li>`)}</ul>
          </div>`,
    )}
    <p class="hint">${t('overlapCounts', { old: sets[0].count, new: sets[1].count })}</p>
    <p class=${`note ${equal.count === 0 ? 'good' : 'bad'}`}>${equal.count === 0 ? t('overlapNone') : t('overlapEqual', { count: equal.count })}</p>
    ${
      equal.count === 0
        ? nothing
        : html`<ul>${equal.first.map(
            ({ id, places }) =>
              html`<li><code>${id}</code> ${places
                .slice(0, shown)
                .map(({ set, line }) => `${set} ${format.number(line)}`)
                .join(', ')}</li>`,
          )}</ul>`
    }
    ${
      common === undefined
        ? html`<p class="note">${t('overlapNoNodes')}</p>`
        : html`<p class=${`note ${common.length === 0 ? 'good' : 'bad'}`}>
            ${common.length === 0 ? t('overlapNodesNone') : t('overlapNodes', { count: common.length, nodes: rangesText(common) })}
          </p>`
    }
  `
}

function rangesText(common: readonly CommonNode[]): string {
  const ranges = rangesOf(common.map(({ node }) => node)).map(([first, last]) =>
    first === last ? `${first}` : `${first}–${last}`,
  )
  return ranges.slice(0, shown).join(', ') + (ranges.length > shown ? ' …' : '')
}
