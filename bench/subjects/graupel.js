import { own } from '../measure/stamps.js'

/** @import { Codecs, Source, Subject } from '../contract.js' */

/**
 * Of graupel's own, so that nothing that is done here is remembered of a node that somebody uses.
 */
const ownNamespace = 'graupel bench'

/**
 * @param {'native' | 'js'} engine
 * @param {Partial<Subject> & { state?: () => string }} [special] - Where it differs from the engine as it is by default.
 * @returns {Subject}
 */
export function graupel(engine, { state, ...special } = {}) {
  return {
    name: `graupel-${engine}`,
    title: `graupel ${engine}`,
    group: 'graupel',
    url: () => import.meta.resolve('graupel'),
    // Both engines have the same.
    ...(engine === 'native' && { codecs }),
    ...special,
    async load() {
      const { createGenerator, defineLayout, layouts } = await import('graupel')
      const chosen = {
        wide: layouts.wide,
        twitter: layouts.twitter,
        roomy: defineLayout({
          name: 'roomy',
          epochMs: own.roomy.epochMs,
          tickMs: 1,
          fields: [
            ['timestamp', 41],
            ['node', 2],
            ['sequence', 20],
          ],
        }),
        number: defineLayout({
          name: 'number',
          epochMs: own.number.epochMs,
          tickMs: 1,
          fields: [
            ['timestamp', 36],
            ['sequence', 17],
          ],
        }),
      }
      return ({ layout, node, namespace = ownNamespace, unbounded, isMany }) => {
        const ahead = /** @type {const} */ ({ onOverflow: 'advance', maxAheadMs: Number.MAX_SAFE_INTEGER })
        return /** @type {Source} */ (
          createGenerator({
            layout: /** @type {typeof layouts.wide} */ (chosen[layout]),
            engine,
            // The layout for numbers has no room for a node.
            ...(layout === 'number' ? {} : { node }),
            namespace,
            ...(state === undefined ? {} : { state: state() }),
            // Ids of years to come must not be what the host remembers; nor a thousand nodes, of which each takes a page.
            ...(unbounded || isMany ? { state: 'process' } : {}),
            ...(unbounded ? ahead : {}),
          })
        )
      }
    },
  }
}

/** @returns {Promise<Codecs>} */
async function codecs() {
  const { decode, encodeId, layouts } = await import('graupel')
  return {
    encode: (id) => encodeId(id, 'base62'),
    decode: (id) => decode(id, layouts.twitter),
    timeOf: ({ timestampMs }) => timestampMs,
  }
}
