import { html, nothing, type TemplateResult } from 'lit-html'
import type { App } from '../app.ts'
import type { Job } from '../slices.ts'

/** Copies a text to the clipboard. @returns whether the browser allowed it */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Pages over plain HTTP have no clipboard, and a user may have denied it.
    return copySelected(text)
  }
}

/** Copies a text in a browser without a clipboard. */
function copySelected(text: string): boolean {
  const focused = document.activeElement as HTMLElement | null
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'hidden'
  document.body.append(area)
  area.select()
  try {
    return document.execCommand('copy')
  } finally {
    area.remove()
    focused?.focus()
  }
}

/** Shows a button that copies a text. The text is made when the button is pressed. */
export function copyButton(app: App, text: () => string, label: string, name = label): TemplateResult {
  const copy = async () => {
    const isCopied = await copyText(text())
    app.announce(app.t(isCopied ? 'copied' : 'copyRefused'))
  }
  return html`<button type="button" class="copy" aria-label=${name} @click=${copy}>${label}</button>`
}

/** Shows the progress of a job and a button that cancels it, while the job runs. */
export function progressOf(app: App, job: Job<unknown>, label: string): TemplateResult | typeof nothing {
  if (job.isCancelled) return html`<p class="note">${app.t('cancelled')}</p>`
  const { progress } = job
  // A bar for quick work would only flicker.
  if (progress === undefined || progress === 0) return nothing
  return html`<div class="progress">
    <progress max="1" .value=${progress} aria-label=${label}></progress>
    <span>${label} ${app.format.percent(Math.floor(progress * 100) / 100)}</span>
    <button type="button" @click=${() => job.cancel()}>${app.t('cancel')}</button>
  </div>`
}
