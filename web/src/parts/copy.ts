import { html, type TemplateResult } from 'lit-html'
import { copyText } from '../actions/copy.ts'
import type { App } from '../app.ts'

/** A button that copies a text; the text is made when it is pressed. */
export function copyButton(app: App, text: () => string, label: string, name = label): TemplateResult {
  const copy = async () => {
    const isCopied = await copyText(text())
    app.announce(app.t(isCopied ? 'copied' : 'copyRefused'))
  }
  return html`<button type="button" class="copy" aria-label=${name} @click=${copy}>${label}</button>`
}
