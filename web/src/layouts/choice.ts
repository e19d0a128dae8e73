import { defineLayout, type Encoding, encodeId, type Layout, layouts } from 'graupel'
import { Told, type Trouble } from '../ids/trouble.ts'
import { readTime } from '../text/time.ts'
import { layoutFromText, layoutToText } from './spec-text.ts'

/** The layout of a view, or what is wrong with the text for it, or with the epoch. */
export interface Choice {
  readonly layout: Layout | undefined
  readonly layoutTrouble: Trouble | undefined
  readonly epochTrouble: Trouble | undefined
}

/** The layouts of this visit by their texts: what is made of equal texts is the same object. */
const known = new Map<string, Layout>()

/** @param text - The name of a preset, or a layout as links have it. @param epoch - A time instead of its own epoch, or ''. */
export function choose(text: string, epoch: string): Choice {
  const chosen = trouble(() => layoutOf(text))
  const time = trouble(() => (epoch.trim() === '' ? undefined : readTime(epoch)))
  const base = chosen.value
  if (base === undefined || time.trouble !== undefined) {
    return { layout: undefined, layoutTrouble: chosen.trouble, epochTrouble: time.trouble }
  }
  // From a late epoch, a layout can reach beyond what a date can be.
  const moved = trouble(() => withEpoch(base, time.value))
  return { layout: moved.value, layoutTrouble: undefined, epochTrouble: moved.trouble }
}

/** As {@link choose}, for a layout that ids are made of. A link may have one that is for reading. */
export function chooseToMake(text: string, epoch: string): Choice {
  const choice = choose(text, epoch)
  if (choice.layout?.decodeOnly !== true) return choice
  const layoutTrouble: Trouble = { key: 'troubleDecodeOnly', values: { layout: choice.layout.name } }
  return { layout: undefined, layoutTrouble, epochTrouble: undefined }
}

/** The text by which a layout is chosen: the name of a preset, or all of another layout. */
export function choiceOf(layout: Layout): string {
  return layouts[layout.name as keyof typeof layouts] === layout ? layout.name : layoutToText(layout)
}

/** All presets, with another epoch where one is given. @throws Told */
export function presets(epoch: string): Layout[] {
  const epochMs = epoch.trim() === '' ? undefined : readTime(epoch)
  return Object.values(layouts).map((layout) => withEpoch(layout, epochMs))
}

/** @throws Told */
function layoutOf(text: string): Layout {
  if (Object.hasOwn(layouts, text)) return layouts[text as keyof typeof layouts]
  return remembered(text, () => layoutFromText(text))
}

function withEpoch(layout: Layout, epochMs: number | undefined): Layout {
  if (epochMs === undefined || epochMs === layout.epochMs) return layout
  return remembered(`${epochMs} ${layoutToText(layout)}`, () => defineLayout({ ...layout, epochMs }))
}

function remembered(key: string, make: () => Layout): Layout {
  let layout = known.get(key)
  if (layout === undefined) {
    layout = make()
    known.set(key, layout)
  }
  return layout
}

/** An encoding as a link has it: '' stands for one that is to be found out. */
export function chooseEncoding(text: string) {
  return trouble(() => {
    if (text !== '') encodeId(0n, text as Encoding)
    return text as Encoding | ''
  })
}

/** What reading something gives, or what is wrong with it. */
export function trouble<T>(read: () => T): { value: T | undefined; trouble: Trouble | undefined } {
  try {
    return { value: read(), trouble: undefined }
  } catch (error) {
    if (error instanceof Told) return { value: undefined, trouble: error.trouble }
    return { value: undefined, trouble: { key: 'troubleLibrary', values: { message: (error as Error).message } } }
  }
}
