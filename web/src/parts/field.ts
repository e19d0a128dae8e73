import { html, nothing, type TemplateResult } from 'lit-html'
import type { App } from '../app.ts'
import type { Trouble } from '../ids/trouble.ts'

/** A field of a form, with a label above and a hint or a fault below. */
interface FieldOptions {
  /** The id of the control, unique on the page. */
  readonly id: string
  readonly label: string
  readonly hint?: string | undefined
  readonly trouble?: Trouble | string | undefined
  /** The class for its width. */
  readonly size?: 'short' | 'wide'
}

interface TextOptions extends FieldOptions {
  readonly value: string
  readonly onInput: (value: string) => void
  readonly isNumber?: boolean
  readonly placeholder?: string
}

interface SelectOptions extends FieldOptions {
  readonly value: string
  readonly options: readonly (readonly [value: string, label: string])[]
  readonly onChange: (value: string) => void
}

export function textField(app: App, options: TextOptions): TemplateResult {
  const { id, value, onInput, isNumber = false, placeholder = '', trouble } = options
  return field(
    app,
    options,
    html`<input
      id=${id}
      type="text"
      inputmode=${isNumber ? 'numeric' : 'text'}
      autocomplete="off"
      autocapitalize="off"
      spellcheck="false"
      placeholder=${placeholder}
      .value=${value}
      aria-describedby=${`${id}-words`}
      aria-invalid=${trouble !== undefined}
      @input=${(event: Event) => onInput((event.target as HTMLInputElement).value)}
    />`,
  )
}

export function selectField(app: App, options: SelectOptions): TemplateResult {
  const { id, value, onChange, trouble } = options
  // A link can have a value that is no option. The list shows it, so the user can choose another one.
  const all = options.options.some(([one]) => one === value)
    ? options.options
    : [...options.options, [value, value] as const]
  const choices = all.map(([one, label]) => html`<option value=${one} .selected=${one === value}>${label}</option>`)
  return field(
    app,
    options,
    html`<select
      id=${id}
      aria-describedby=${`${id}-words`}
      aria-invalid=${trouble !== undefined}
      @change=${(event: Event) => onChange((event.target as HTMLSelectElement).value)}
    >${choices}</select>`,
  )
}

/** Draws a control with its label and its hint or fault. */
export function field(
  app: App,
  { id, label, hint, trouble, size }: FieldOptions,
  control: TemplateResult,
): TemplateResult {
  return html`<div class=${`field ${size ?? ''}`}>
    <label for=${id}>${label}</label>
    ${control}
    <p id=${`${id}-words`} aria-live="polite" class=${trouble === undefined ? 'hint' : 'trouble'}>
      ${trouble === undefined ? (hint ?? nothing) : troubleText(app, trouble)}
    </p>
  </div>`
}

export function troubleText(app: App, trouble: Trouble | string): string {
  return typeof trouble === 'string' ? trouble : app.t(trouble.key, trouble.values)
}
