import { type Layout, layouts } from 'graupel'
import { html, nothing, type TemplateResult } from 'lit-html'
import type { App } from '../app.ts'
import { codeOf, type Design, designOf } from '../layouts/design.ts'
import { fieldsToText, layoutToText, typedOf } from '../layouts/spec-text.ts'
import { copyButton } from '../parts/actions.ts'
import { selectField, textField, troubleText } from '../parts/field.ts'
import { defaults, linkOf, type Values } from '../state.ts'
import { utc } from '../text/format.ts'
import { designFacts } from './design-facts.ts'
import { designFields } from './design-fields.ts'

/** The designs that begin with a preset, by its name. A design makes ids, so no preset is decode-only. */
const starts: Readonly<Record<string, Values<'design'>>> = Object.fromEntries(
  Object.values(layouts)
    .filter(({ decodeOnly }) => !decodeOnly)
    .map(({ name, epochMs, tickMs, fields, unsigned }: Layout) => [
      name,
      {
        name: `my-${name}`,
        epoch: utc(epochMs),
        tick: String(tickMs),
        unsigned: unsigned ? '1' : '',
        fields: fieldsToText(fields.map(typedOf)),
      },
    ]),
)

/** Draws the view that designs a layout. */
export function designView(app: App): TemplateResult {
  const { t, values } = app
  const { design } = values
  const typed = designOf(design)
  const { layout } = typed
  const isShown = ([, start]: readonly [string, Values<'design'>]) => linkOf('design', start) === app.link('design')
  return html`
    <form class="inputs" @submit=${(event: Event) => event.preventDefault()}>
      <div class="row">
        ${selectField(app, {
          id: 'design-start',
          label: t('startFrom'),
          value: Object.entries(starts).find(isShown)?.[0] ?? '',
          options: [['', t('startChoose')], ...Object.keys(starts).map((name): [string, string] => [name, name])],
          onChange: (name) => app.set('design', starts[name] ?? {}),
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
