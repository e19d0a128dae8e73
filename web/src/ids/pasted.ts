import { choiceOf, choose, presets, trouble } from '../layouts/choice.ts'
import type { Values } from '../state.ts'
import { candidatesOf, likeliestOf } from './candidates.ts'
import { readAnyId } from './encodings.ts'

/**
 * Returns the id of the view Parse with its layout, or the likeliest layout, as values of the view Learn.
 *
 * @returns undefined if there is not exactly one id
 */
export function pastedId(
  { ids, layout, epoch }: Values<'parse'>,
  nowMs: number,
): { id: string; layout: string } | undefined {
  const { value: id } = trouble(() => readAnyId(ids.trim(), nowMs).id)
  if (id === undefined) return undefined
  const known = trouble(() => presets(epoch)).value ?? []
  const made = layout === '' ? likeliestOf(candidatesOf([id], known, nowMs)) : choose(layout, epoch).layout
  return made === undefined ? undefined : { id: String(id), layout: choiceOf(made) }
}
