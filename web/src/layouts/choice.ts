import { defineLayout, type Encoding, encodeId, type Layout, layouts } from 'graupel'
import type { Writing } from '../ids/encodings.ts'
import { Told, type Trouble } from '../ids/trouble.ts'
import { readTime } from '../text/time.ts'
import { layoutFromText, layoutToText } from './spec-text.ts'

/** The layout of a view, or the fault of its text or of its epoch. */
export interface Choice {
  readonly layout: Layout | undefined
  readonly layoutTrouble: Trouble | undefined
  readonly epochTrouble: Trouble | undefined
}

/** The presets and the other layouts of this visit by their texts. */
const known = new Map<string, Layout>(Object.values(layouts).map((layout) => [layoutToText(layout), layout]))

/**
 * Returns the layout of a text: the name of a preset, or a layout from a link. @param epoch - A time that
 * replaces its epoch, or ''.
 */
export function choose(text: string, epoch: string): Choice {
  const chosen = trouble(() => layoutOf(text))
  const time = trouble(() => (epoch.trim() === '' ? undefined : readTime(epoch)))
  const base = chosen.value
  if (base === undefined || time.trouble !== undefined) {
    return { layout: undefined, layoutTrouble: chosen.trouble, epochTrouble: time.trouble }
  }
  // A layout with a late epoch can reach beyond the last date.
  const moved = trouble(() => withEpoch(base, time.value))
  return { layout: moved.value, layoutTrouble: undefined, epochTrouble: moved.trouble }
}

/**
 * Returns the layout as {@link choose} does, unless the page can only decode it. A link may name such a
 * layout.
 */
export function chooseToMake(text: string, epoch: string): Choice {
  const choice = choose(text, epoch)
  if (choice.layout?.decodeOnly !== true) return choice
  const layoutTrouble: Trouble = { key: 'troubleDecodeOnly', values: { layout: choice.layout.name } }
  return { layout: undefined, layoutTrouble, epochTrouble: undefined }
}

/** Returns the text that chooses a layout: the name of a preset, or the whole layout. */
export function choiceOf(layout: Layout): string {
  return layouts[layout.name as keyof typeof layouts] === layout ? layout.name : layoutToText(layout)
}

/** Returns all presets, with another epoch if one is given. @throws Told */
export function presets(epoch: string): Layout[] {
  const epochMs = epoch.trim() === '' ? undefined : readTime(epoch)
  return Object.values(layouts).map((layout) => withEpoch(layout, epochMs))
}

/** @throws Told */
function layoutOf(text: string): Layout {
  if (Object.hasOwn(layouts, text)) return layouts[text as keyof typeof layouts]
  return remembered(layoutFromText(text))
}

function withEpoch(layout: Layout, epochMs: number | undefined): Layout {
  return epochMs === undefined ? layout : remembered(defineLayout({ ...layout, epochMs }))
}

/** Returns one object for all equal layouts, because views and jobs compare layouts by identity. */
export function remembered(layout: Layout): Layout {
  const text = layoutToText(layout)
  const first = known.get(text) ?? layout
  known.set(text, first)
  return first
}

/** Checks how ids are written, from a link. '' means that the page finds the encoding out. */
export function chooseEncoding(text: string) {
  return trouble(() => {
    if (text !== '' && text !== 'shortcode') encodeId(0n, text as Encoding)
    return text as Writing | ''
  })
}

/** Returns the value that `read` returns, or the fault that it throws. */
export function trouble<T>(read: () => T): { value: T | undefined; trouble: Trouble | undefined } {
  try {
    return { value: read(), trouble: undefined }
  } catch (error) {
    if (error instanceof Told) return { value: undefined, trouble: error.trouble }
    return { value: undefined, trouble: { key: 'troubleLibrary', values: { message: (error as Error).message } } }
  }
}
