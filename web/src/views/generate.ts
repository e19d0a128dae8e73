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
  const node = typedParts(layout?.nodeFields, values.generate.node)
  const tags = typedParts(layout?.tagFields, values.generate.tags)
  // '' is for views that find the encoding out, and this view does not.
  const written = trouble(() => checkWrittenAs(format as WrittenAs, layout))
  const isReady =
    layout !== undefined &&
    readCount.value !== undefined &&
    written.trouble === undefined &&
    readMs.trouble === undefined &&
    [...node, ...tags].every((part) => part.trouble === undefined)
  const make = (event: Event) => {
    event.preventDefault()
    if (!isReady) {
      // Moves the focus to the first field with a fault, which shows it.
      ;(event.target as HTMLElement).querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
      return
    }
    batch.make({
      layout,
      node: node.length === 0 ? 0 : valuesOf(node),
      tags: valuesOf(tags),
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
      ${partFields(app, 'node', node)}
      ${tags.length === 0 ? nothing : partFields(app, 'tags', tags)}
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

/** Draws a field for each number of the node, or for each tag. */
function partFields(app: App, key: 'node' | 'tags', parts: readonly TypedPart[]): TemplateResult {
  const { t } = app
  const change = (at: number, value: string) => {
    const texts = parts.map(({ text }, i) => (i === at ? value : text).replaceAll('.', ''))
    app.set('generate', { [key]: texts.join('.') })
  }
  return html`<fieldset>
    <legend>${t(key)}</legend>
    <div class="row">
      ${parts.map(({ name, text, last, isRequired, trouble }, i) =>
        textField(app, {
          id: `generate-${key}-${i}`,
          label: name,
          value: text,
          isNumber: true,
          size: 'short',
          trouble,
          placeholder: isRequired ? '' : '0',
          hint: t('range', { last }),
          onInput: (value) => change(i, value),
        }),
      )}
      ${parts.length === 0 ? html`<p class="hint">${t('nodeNone')}</p>` : nothing}
    </div>
  </fieldset>`
}

/** A number of the node, or a tag, as it was typed. */
type TypedPart = ReturnType<typeof typedParts>[number]

/**
 * Returns the typed text of each field. The texts that were typed for another layout are kept in their order.
 *
 * @param typed - The texts with full stops between them.
 */
function typedParts(fields: readonly { name: string; bits: number; isRequired?: boolean }[] = [], typed: string) {
  const texts = typed.split('.')
  return fields.map(({ name, bits, isRequired = false }, i) => {
    const text = texts[i] ?? ''
    const last = 2 ** bits - 1
    // An empty field means 0, as its placeholder shows.
    const isDefault = text.trim() === '' && !isRequired
    return { name, text, last, isRequired, ...trouble(() => (isDefault ? 0 : readNumber(text, 0, last))) }
  })
}

function valuesOf(parts: readonly TypedPart[]): Record<string, number> {
  return Object.fromEntries(parts.map(({ name, value }) => [name, value as number]))
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
