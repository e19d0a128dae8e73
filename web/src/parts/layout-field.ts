import { layouts } from 'graupel'
import type { TemplateResult } from 'lit-html'
import type { App } from '../app.ts'
import type { Choice } from '../layouts/choice.ts'
import { designOf } from '../layouts/design.ts'
import { layoutToText } from '../layouts/spec-text.ts'
import { utc } from '../text/format.ts'
import { selectField, textField } from './field.ts'

interface LayoutFieldOptions {
  readonly id: string
  readonly label: string
  readonly value: string
  readonly choice: Choice
  /** Whether the layout must make ids. The list then has no decode-only layouts. */
  readonly isForMaking?: boolean
  /** The label for no particular layout, if that can be chosen. */
  readonly none?: string
  readonly onChange: (value: string) => void
}

/** Draws a choice of the presets, the layout of the view Design, and the layout of a link. */
export function layoutField(
  app: App,
  { id, label, value, choice, isForMaking = false, none, onChange }: LayoutFieldOptions,
): TemplateResult {
  const { layout: designed } = designOf(app.values.design)
  const options: [string, string][] = none === undefined ? [] : [['', none]]
  const presets = Object.values(layouts).filter(({ decodeOnly }) => !(isForMaking && decodeOnly))
  options.push(...presets.map(({ name }): [string, string] => [name, name]))
  if (designed !== undefined) options.push([layoutToText(designed), app.t('layoutDesigned', { name: designed.name })])
  if (!options.some(([text]) => text === value)) {
    options.push([value, app.t('layoutLinked', { name: choice.layout?.name ?? value })])
  }
  return selectField(app, { id, label, value, options, onChange, trouble: choice.layoutTrouble, hint: hintOf(choice) })
}

function hintOf({ layout }: Choice): string | undefined {
  return layout?.fields.map((field) => field.join(' ')).join(' · ')
}

interface EpochFieldOptions {
  readonly id: string
  readonly value: string
  readonly choice: Choice
  readonly onInput: (value: string) => void
}

/** Draws a field for an epoch that replaces the layout's epoch. */
export function epochField(app: App, { id, value, choice, onInput }: EpochFieldOptions): TemplateResult {
  const { layout, epochTrouble } = choice
  const hint = layout === undefined ? app.t('epochHint') : app.t('epochIs', { time: utc(layout.epochMs) })
  const placeholder = layout === undefined ? '' : String(layout.epochMs)
  return textField(app, { id, label: app.t('epoch'), value, onInput, trouble: epochTrouble, hint, placeholder })
}
