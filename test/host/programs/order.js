// Orders for the programs in this folder. They are JSON, which has neither layouts nor functions.
import { createGenerator, layouts } from 'graupel'

/**
 * @typedef {import('graupel').GeneratorOptions} Options
 * @typedef {Omit<Options, 'clock' | 'layout'> & { layout?: keyof typeof layouts, epochMs?: number, clock?:
 *   'wall' | 'steady', clockOffsetMs?: number }} Plan `clockOffsetMs`: the difference from the true time.
 */

/** @param {Plan} plan */
export function generatorOf({ layout, epochMs, clockOffsetMs, ...rest }) {
  return createGenerator(
    /** @type {Options} */ ({
      ...rest,
      ...(layout !== undefined && { layout: layouts[layout] }),
      ...(epochMs !== undefined && { epoch: epochMs }),
      ...(clockOffsetMs !== undefined && { clock: () => Date.now() + clockOffsetMs }),
    }),
  )
}

/** The order for this process, from its command line. */
export function order() {
  return JSON.parse(process.argv[2] ?? '')
}
