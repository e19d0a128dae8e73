import { layouts } from 'graupel'
import { html, nothing, type TemplateResult } from 'lit-html'
import type { App } from '../app.ts'
import { codeOf, type Design, designOf } from '../layouts/design.ts'
import { fieldsToText, layoutToText, typedOf } from '../layouts/spec-text.ts'
import { copyButton } from '../parts/actions.ts'
import { selectField, textField, troubleText } from '../parts/field.ts'
import { defaults, linkOf } from '../state.ts'
import { utc } from '../text/format.ts'
import { designFacts } from './design-facts.ts'
import { designFields } from './design-fields.ts'

/** The presets that can make ids. */
const makers = Object.values(layouts).filter(({ decodeOnly }) => !decodeOnly)

/** Draws the view that designs a layout. */
export function designView(app: App): TemplateResult {
  const { t, values } = app
  const { design } = values
  const typed = designOf(design)
  const { layout } = typed
  return html`
    <form class="inputs" @submit=${(event: Event) => event.preventDefault()}>
      <div class="row">
        ${selectField(app, {
          id: 'design-start',
          label: t('startFrom'),
          value: '',
          options: [['', t('startChoose')], ...makers.map(({ name }): [string, string] => [name, name])],
          onChange: (name) => startFrom(app, name),
        })}
        ${textField(app, {
          id: 'design-name',
          label: t('name'),
          value: design.name,
          onInput: (name) => app.set('design', { name }),
        })}
        ${textField(app, {
          id: 'design-epoch',
          label: t('epoch'),
          value: design.epoch,
          trouble: typed.epochTrouble,
          hint: layout === undefined ? t('epochHint') : t('timeIs', { time: utc(layout.epochMs) }),
          onInput: (epoch) => app.set('design', { epoch }),
        })}
        ${textField(app, {
          id: 'design-tick',
          label: t('tick'),
          value: design.tick,
          isNumber: true,
          size: 'short',
          trouble: typed.tickTrouble,
          hint: t('tickHint'),
          onInput: (tick) => app.set('design', { tick }),
        })}
      </div>
      ${designFields(app, typed)}
      <p>
        <label class="check">
          <input
            type="checkbox"
            .checked=${design.unsigned !== ''}
            @change=${(event: Event) => app.set('design', { unsigned: (event.target as HTMLInputElement).checked ? '1' : '' })}
          />
          ${t('unsigned')}
        </label>
      </p>
    </form>
    <p class="hidden" role="status">${spoken(app, typed)}</p>
    <div class="results">
      ${typed.trouble === undefined ? nothing : html`<section class="card troubles"><p>${troubleText(app, typed.trouble)}</p></section>`}
      ${
        layout === undefined
          ? nothing
          : html`${designFacts(app, layout)}
              <section class="card" aria-labelledby="code-title">
                <h2 id="code-title">${t('code')}</h2>
                <pre tabindex="0"><code>${codeOf(layout)}</code></pre>
                <p class="actions">
                  ${copyButton(app, () => codeOf(layout), t('copyCode'))}
                  <a class="button" href=${linkOf('generate', { ...defaults.generate, layout: layoutToText(layout) })}>${t('useGenerate')}</a>
                  <a class="button" href=${linkOf('parse', { ...app.values.parse, layout: layoutToText(layout), epoch: '' })}>${t('useParse')}</a>
                  <a class="button" href=${linkOf('learn', { ...defaults.learn, layout: layoutToText(layout) })}>${t('learnLink')}</a>
                </p>
              </section>`
      }
    </div>
  `
}

/**
 * Returns the sentence that a screen reader says after each change, because all results would be too long.
 */
function spoken(app: App, { layout, trouble }: Design): string {
  const { t, format } = app
  if (trouble !== undefined) return troubleText(app, trouble)
  if (layout === undefined) return ''
  return [
    `${t('idsPerSecond')}: ${format.number(Math.floor(layout.idsPerSecond))}`,
    `${t('nodes')}: ${format.number(layout.nodes)}`,
    `${t('expires')}: ${format.day(layout.expiresAt.getTime())}`,
  ].join('; ')
}

/** Starts a design from a preset. */
function startFrom(app: App, name: string): void {
  if (!Object.hasOwn(layouts, name)) return
  const { epochMs, tickMs, fields, unsigned } = layouts[name as keyof typeof layouts]
  app.set('design', {
    name: `my-${name}`,
    epoch: utc(epochMs),
    tick: String(tickMs),
    unsigned: unsigned ? '1' : '',
    fields: fieldsToText(fields.map(typedOf)),
  })
}
