import { html, nothing, type TemplateResult } from 'lit-html'
import type { App } from '../app.ts'
import { type IdsField, isLinkable } from '../state.ts'
import { field } from './field.ts'

/** The most characters in a text field. A browser freezes while it lays out the lines of a longer text. */
const maxTyped = 100_000

/** The file that each field waits for. A later file or typed text takes its place. */
const awaited = new Map<IdsField, File>()

interface IdsFieldOptions {
  readonly field: IdsField
  readonly label: string
  readonly hint: string
  readonly value: string
  /** The fault of the ids, as a sentence. */
  readonly trouble?: string | undefined
  readonly onInput: (value: string) => void
}

/** Returns the ids of a field: the attached text, or the typed text. */
export function idsTextOf(app: App, name: IdsField, typed: string): string {
  return app.attached.get(name) ?? typed
}

/**
 * Draws a field for ids that are typed, pasted, dropped or read from a file. A long text is kept beside the
 * text field.
 */
export function idsField(app: App, options: IdsFieldOptions): TemplateResult {
  const { label, hint, value, trouble, onInput } = options
  const name = options.field
  const id = name.replace('.', '-')
  const attached = app.attached.get(name)
  const take = (text: string) => {
    awaited.delete(name)
    const isLong = text.length > maxTyped
    app.attach(name, isLong ? text : undefined)
    if (!isLong) onInput(text)
  }
  const takeFile = async (file: File | undefined) => {
    if (file === undefined) return
    awaited.set(name, file)
    try {
      const text = await file.text()
      if (awaited.get(name) === file) take(text)
    } catch (error) {
      app.announce((error as Error).message)
    }
  }
  const choose = ({ target }: Event) => {
    const input = target as HTMLInputElement
    takeFile(input.files?.[0])
    // Otherwise the same file could not be chosen again.
    input.value = ''
  }
  const paste = (event: ClipboardEvent) => {
    const text = event.clipboardData?.getData('text/plain') ?? ''
    if (text.length <= maxTyped) return
    event.preventDefault()
    take(text)
  }
  const drop = (event: DragEvent) => {
    if (!event.dataTransfer?.files.length) return
    event.preventDefault()
    takeFile(event.dataTransfer.files[0])
  }
  const tooLong = attached === undefined && !isLinkable(value) ? app.t('leftOut') : undefined
  const control = html`
    ${
      attached === undefined
        ? html`<textarea
            id=${id}
            rows=${Math.min(10, Math.max(3, value.split('\n').length))}
            autocomplete="off"
            autocapitalize="off"
            spellcheck="false"
            .value=${value}
            aria-describedby=${`${id}-words`}
            aria-invalid=${trouble !== undefined}
            @input=${(event: Event) => take((event.target as HTMLTextAreaElement).value)}
            @paste=${paste}
            @dragover=${(event: Event) => event.preventDefault()}
            @drop=${drop}
          ></textarea>`
        : attachedBox(app, name, id, attached)
    }
    <p class="actions">
      <label class="file">
        ${app.t('chooseFile')}
        <input
          type="file"
          accept=".txt,.csv,.json,text/*"
          @change=${choose}
        />
      </label>
      ${value === '' || attached !== undefined ? nothing : html`<button type="button" @click=${() => take('')}>${app.t('clear')}</button>`}
    </p>
  `
  return field(app, { id, label, hint: tooLong ?? hint, trouble, size: 'wide' }, control)
}

function attachedBox(app: App, name: IdsField, id: string, text: string): TemplateResult {
  const megabytes = app.format.number(Math.round(text.length / 1e5) / 10)
  return html`<div class="attached">
    <output id=${id} aria-describedby=${`${id}-words`}>
      ${app.t('attached', { megabytes })}<br /><code>${text.slice(0, 60).replace(/\s+/g, ' ')} …</code>
    </output>
    <button type="button" @click=${() => app.attach(name, undefined)}>${app.t('removeAttached')}</button>
  </div>`
}
