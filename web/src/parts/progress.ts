import { html, nothing, type TemplateResult } from 'lit-html'
import type { App } from '../app.ts'
import type { Job } from '../slices.ts'

/** How far a job is, and a button that ends it; nothing while there is nothing under way. */
export function progressOf(app: App, job: Job<unknown>, label: string): TemplateResult | typeof nothing {
  if (job.isCancelled) return html`<p class="note">${app.t('cancelled')}</p>`
  const { progress } = job
  // Quick work shows no bar that flickers.
  if (progress === undefined || progress === 0) return nothing
  return html`<div class="progress">
    <progress max="1" .value=${progress} aria-label=${label}></progress>
    <span>${label} ${app.format.percent(Math.floor(progress * 100) / 100)}</span>
    <button type="button" @click=${() => job.cancel()}>${app.t('cancel')}</button>
  </div>`
}
