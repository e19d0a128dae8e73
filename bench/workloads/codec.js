import { compare, effortFor } from '../measure/compare.js'
import { stampOf } from '../measure/stamps.js'

/** @import { Codecs, Stamp, Workload } from '../contract.js' */

const size = 4096

/**
 * Something that is done with an id, against `BigInt#toString`.
 *
 * @param {object} workload
 * @param {string} workload.name
 * @param {string} workload.title
 * @param {(codecs: Codecs) => ((id: bigint) => unknown) | undefined} workload.use
 * @param {(result: any, id: bigint, stamp: Stamp, codecs: Codecs) => boolean} workload.isRight
 * @returns {Workload}
 */
export function codec({ name, title, use, isRight }) {
  return {
    name,
    title,
    unit: 'ns/id',
    yardstick: 'BigInt#toString',
    bars: {},
    async run(subject, isQuick) {
      const codecs = await subject.codecs?.()
      const convert = codecs && use(codecs)
      const stamp = stampOf(subject, { layout: 'twitter', node: 0 })
      if (convert === undefined || stamp === undefined) return undefined
      // One a millisecond, with all values of the bits below.
      const firstMs = BigInt(Date.now() - size - stamp.epochMs)
      const ids = Array.from({ length: size }, (_, i) => ((firstMs + BigInt(i)) << BigInt(stamp.shift)) | BigInt(i))
      const results = new Array(size).fill(undefined)
      const run = () => {
        for (let i = 0; i < size; i++) results[i] = convert(/** @type {bigint} */ (ids[i]))
      }
      const texts = new Array(size).fill('')
      const yardstick = () => {
        for (let i = 0; i < size; i++) texts[i] = /** @type {bigint} */ (ids[i]).toString()
      }
      const outcome = await compare({ size, run }, { size, run: yardstick }, effortFor(subject, isQuick))
      const wrong = ids.filter((id, i) => !isRight(results[i], id, stamp, /** @type {Codecs} */ (codecs))).length
      return { ...outcome, check: { ids: size, repeats: 0, outOfOrder: 0, future: 0, wrong } }
    },
  }
}
