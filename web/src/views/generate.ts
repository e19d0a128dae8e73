import { encodings, type Layout } from 'graupel'
import { html, nothing, type TemplateResult } from 'lit-html'
import type { App } from '../app.ts'
import { checkWrittenAs, type WrittenAs } from '../ids/batch.ts'
import { Told } from '../ids/trouble.ts'
import { chooseToMake, trouble } from '../layouts/choice.ts'
import { selectField, textField } from '../parts/field.ts'
import { epochField, layoutField } from '../parts/layout-field.ts'
import { utc } from '../text/format.ts'
import { readNumber, readTime } from '../text/time.ts'
import { generatedIds } from './generate-list.ts'

const maxCount = 100_000

/** Draws the view that makes ids. */
export function generateView(app: App): TemplateResult {
  const { t, values, batch } = app
  const { layout: layoutText, epoch, time, count, format } = values.generate
  const choice = chooseToMake(layoutText, epoch)
  const { layout } = choice
  const readCount = trouble(() => readNumber(count, 1, maxCount))
  const readMs = trouble(() => (time.trim() === '' ? undefined : timeIn(layout, time)))
  const node = nodeParts(app, layout)
  // '' is for views that find the encoding out, and this view does not.
  const written = trouble(() => checkWrittenAs(format as WrittenAs, layout))
  const isReady =
    layout !== undefined &&
    readCount.value !== undefined &&
    written.trouble === undefined &&
    readMs.trouble === undefined &&
    node.every((part) => part.trouble === undefined)
  const make = (event: Event) => {
    event.preventDefault()
    if (!isReady) {
      // Moves the focus to the first field with a fault, which shows it.
      ;(event.target as HTMLElement).querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
      return
    }
    const fields = Object.fromEntries(node.map(({ name, value }) => [name, value as number]))
    batch.make({
      layout,
      node: node.length === 0 ? 0 : fields,
      count: readCount.value as number,
      timeMs: readMs.value,
    })
  }
  return html`
    <form class="inputs" @submit=${make}>
      <div class="row">
        ${layoutField(app, {
          id: 'generate-layout',
          label: t('layout'),
          value: layoutText,
          choice,
          isForMaking: true,
          onChange: (layout) => app.set('generate', { layout }),
        })}
        ${epochField(app, { id: 'generate-epoch', value: epoch, choice, onInput: (epoch) => app.set('generate', { epoch }) })}
      </div>
      <fieldset>
        <legend>${t('node')}</legend>
        <div class="row">
          ${node.map(({ name, text, last, trouble }, i) =>
            textField(app, {
              id: `generate-node-${i}`,
              label: name,
              value: text,
              isNumber: true,
              size: 'short',
              trouble,
              placeholder: '0',
              hint: t('range', { last }),
              onInput: (value) =>
                app.set('generate', {
                  node: node.map((part, j) => (i === j ? value : part.text).replaceAll('.', '')).join('.'),
                }),
            }),
          )}
          ${node.length === 0 ? html`<p class="hint">${t('nodeNone')}</p>` : nothing}
        </div>
      </fieldset>
      <div class="row">
        ${textField(app, {
          id: 'generate-time',
          label: t('timeOptional'),
          value: time,
          trouble: readMs.trouble,
          hint: readMs.value === undefined ? t('timeHint') : t('timeIs', { time: utc(readMs.value) }),
          onInput: (time) => app.set('generate', { time }),
        })}
        ${textField(app, {
          id: 'generate-count',
          label: t('count'),
          value: count,
          isNumber: true,
          size: 'short',
          trouble: readCount.trouble,
          hint: t('countHint', { last: maxCount }),
          onInput: (count) => app.set('generate', { count }),
        })}
        ${selectField(app, {
          id: 'generate-format',
          label: t('encoding'),
          value: format,
          options: [...encodings, 'uuid'].map((one) => [one, one]),
          trouble: written.trouble,
          onChange: (format) => app.set('generate', { format }),
        })}
      </div>
      <p class="actions">
        <button type="submit" class="main">${t('make')}</button>
      </p>
    </form>
    ${written.trouble === undefined ? generatedIds(app) : nothing}
    <section class="card quiet" aria-labelledby="promise-title">
      <h2 id="promise-title">${t('promiseTitle')}</h2>
      <p>${t('promise')}</p>
      <p>${t('promiseNot')}</p>
    </section>
  `
}

/**
 * Returns the text of each node field. The texts that were typed for another layout are kept in their order.
 */
function nodeParts(app: App, layout: Layout | undefined) {
  const texts = app.values.generate.node.split('.')
  return (layout?.nodeFields ?? []).map(({ name, bits }, i) => {
    const text = texts[i] ?? ''
    const last = 2 ** bits - 1
    // An empty field means 0, as its placeholder shows.
    return { name, text, last, ...trouble(() => (text.trim() === '' ? 0 : readNumber(text, 0, last))) }
  })
}

/** Reads a time that ids of the layout can have. @throws Told */
function timeIn(layout: Layout | undefined, text: string): number {
  const ms = readTime(text)
  if (layout === undefined) return ms
  const expiresMs = layout.expiresAt.getTime()
  if (ms < layout.epochMs) throw new Told('troubleBeforeEpoch', { time: utc(ms), epoch: utc(layout.epochMs) })
  if (ms >= expiresMs) throw new Told('troubleExpired', { time: utc(ms), expires: utc(expiresMs) })
  return ms
}
