import { html, nothing, type TemplateResult } from 'lit-html'
import type { App } from '../app.ts'
import type { Design } from '../layouts/design.ts'
import { fieldsToText, type TypedField } from '../layouts/spec-text.ts'
import { mark, styleOf } from '../parts/bits.ts'
import { troubleText } from '../parts/field.ts'

/** Fields of every layout. They can be moved, but not renamed or removed. */
const required = ['timestamp', 'sequence']

const maxFields = 8

/** The roles of fields by the names that people read. */
const kinds = [
  ['', 'node'],
  ['tag', 'tag'],
  ['tag?', 'tagOptional'],
] as const

/** Draws the fields of a design, the most significant first, each with a name, a slider and a number. */
export function designFields(app: App, design: Design): TemplateResult {
  const { t } = app
  const { fields } = design
  const hasTags = fields.some(([, , role]) => role !== undefined)
  const change = (next: readonly TypedField[]) => app.set('design', { fields: fieldsToText(next) })
  return html`<fieldset class="fields">
    <legend>${t('fields')}</legend>
    <p class="hint">${t('fieldsHint', { bits: design.bits, most: app.values.design.unsigned === '' ? 63 : 64 })}</p>
    ${hasTags ? html`<p class="hint">${t('tagsHint')}</p>` : nothing}
    <ol>${fields.map((_, i) => fieldRow(app, design, i, change))}</ol>
    ${
      fields.length < maxFields
        ? html`<p class="actions"><button type="button" @click=${() => change(withOne(fields))}>${t('addField')}</button></p>`
        : nothing
    }
  </fieldset>`
}

function fieldRow(
  app: App,
  { fields, fieldTroubles }: Design,
  at: number,
  change: (next: readonly TypedField[]) => void,
): TemplateResult {
  const { t } = app
  const [name, bits, ...role] = fields[at] as TypedField
  const trouble = fieldTroubles[at]
  const words = `design-field-${at}-words`
  const replace = (field: TypedField) => change(fields.map((one, i) => (i === at ? field : one)))
  const act = (next: readonly TypedField[], row: number, action: number) => {
    change(next)
    focusAction(row, action)
  }
  const isRequired = required.includes(name) && fields.findIndex(([other]) => other === name) === at
  return html`<li class="field-row">
    ${mark(styleOf(fields, at))}
    <input
      class="field-name"
      type="text"
      autocomplete="off"
      autocapitalize="off"
      spellcheck="false"
      aria-label=${t('fieldName', { at: at + 1 })}
      aria-describedby=${words}
      aria-invalid=${trouble !== undefined}
      ?readonly=${isRequired}
      .value=${name}
      @input=${(event: Event) => replace([(event.target as HTMLInputElement).value, bits, ...role])}
    />
    <input
      type="range"
      min="1"
      max="53"
      aria-label=${t('fieldBits', { name })}
      .value=${String(Number(bits) || 1)}
      @input=${(event: Event) => replace([name, (event.target as HTMLInputElement).value, ...role])}
    />
    <input
      class="bits-number"
      type="text"
      inputmode="numeric"
      autocomplete="off"
      aria-label=${t('fieldBits', { name })}
      aria-describedby=${words}
      aria-invalid=${trouble !== undefined}
      .value=${bits}
      @input=${(event: Event) => replace([name, (event.target as HTMLInputElement).value, ...role])}
    />
    <span class="field-kind">${isRequired ? nothing : kindField(app, [name, bits, ...role], replace)}</span>
    <span class="field-actions">
      <button type="button" aria-label=${t('moveUp', { name })} title=${t('moveUp', { name })} ?disabled=${at === 0} @click=${() => act(moved(fields, at, -1), at - 1, 0)}>↑</button>
      <button type="button" aria-label=${t('moveDown', { name })} title=${t('moveDown', { name })} ?disabled=${at === fields.length - 1} @click=${() => act(moved(fields, at, 1), at + 1, 1)}>↓</button>
      <button type="button" aria-label=${t('removeField', { name })} title=${t('removeField', { name })} ?disabled=${isRequired} @click=${() =>
        act(
          fields.filter((_, i) => i !== at),
          at,
          2,
        )}>×</button>
    </span>
    <p id=${words} aria-live="polite" class="trouble">${trouble === undefined ? nothing : troubleText(app, trouble)}</p>
  </li>`
}

/** Draws the choice between a node field and a tag. */
function kindField({ t }: App, [name, bits, role = '']: TypedField, replace: (field: TypedField) => void) {
  const change = (event: Event) => {
    const { value } = event.target as HTMLSelectElement
    replace(value === '' ? [name, bits] : [name, bits, value])
  }
  return html`<select aria-label=${t('fieldKind', { name })} @change=${change}>
    ${kinds.map(([value, key]) => html`<option value=${value} .selected=${value === role}>${t(key)}</option>`)}
  </select>`
}

/** Keeps the focus on a moved field, or on the field after a removed field. */
function focusAction(row: number, action: number): void {
  // Runs after the page is drawn.
  queueMicrotask(() => {
    const buttons = document.querySelectorAll('.field-actions')[row]?.querySelectorAll('button')
    const enabled = [...(buttons ?? [])].find((button) => !button.disabled)
    const button = buttons?.[action]
    ;(button?.disabled ? enabled : button)?.focus()
  })
}

function moved(fields: readonly TypedField[], at: number, by: number): TypedField[] {
  const next = [...fields]
  const [field] = next.splice(at, 1)
  next.splice(at + by, 0, field as TypedField)
  return next
}

/** Adds a node field above the sequence, with an unused name. */
function withOne(fields: readonly TypedField[]): TypedField[] {
  const names = fields.map(([name]) => name)
  const free = ['worker', 'region', 'datacenter', 'shard', 'process', 'machine', 'tenant', 'kind'].find(
    (name) => !names.includes(name),
  )
  const at = names.indexOf('sequence')
  return fields.toSpliced(at < 0 ? fields.length : at, 0, [free ?? 'node', '1'])
}
