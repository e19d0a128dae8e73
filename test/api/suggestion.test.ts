import { describe, expect, it } from 'vitest'
import { suggestionFor } from '../../src/core/suggestion.js'
import { createGenerator, encodeId } from '../../src/index.js'
import { caught } from '../support/engines.js'

describe('a suggestion', () => {
  const names = ['node', 'layout', 'epoch', 'namespace', 'maxAheadMs', 'maxWaitMs', 'sequenceStart', 'state', 'clock']

  it.each([
    ['nodes', 'node'],
    ['nod', 'node'],
    ['Node', 'node'],
    ['nodde', 'node'],
    ['noed', 'node'],
    ['lauoyt', 'layout'],
    ['max-wait-ms', 'maxWaitMs'],
    ['MAX_WAIT_MS', 'maxWaitMs'],
    ['maxWait', 'maxWaitMs'],
    ['sequence', 'sequenceStart'],
    ['name', 'namespace'],
    ['stats', 'state'],
  ])('for %s is %s', (given, name) => {
    expect(suggestionFor(given, names)).toBe(name)
  })

  it.each([
    '',
    'n',
    'no',
    'ndoe23',
    'max',
    'worker',
    'x'.repeat(1e5),
    'toString',
    'lapuot3',
    'store',
    'start',
    'close',
    '__proto__',
  ])('for %.20s is none', (given) => {
    expect(suggestionFor(given, names)).toBe(undefined)
  })

  it('is the name with the fewest letters wrong', () => {
    expect(suggestionFor('base68', ['base32', 'base58', 'base62'])).toBe('base58')
  })

  it('stands in messages', () => {
    expect(caught(() => createGenerator({ nodes: 7 } as never)).message).toMatch(
      /^there is no option 'nodes' \(did you mean 'node'\?\); the options are lease, node, /,
    )
    expect(caught(() => encodeId(1n, 'base68' as never)).message).toMatch(
      /^the encoding is 'base68' \(did you mean 'base58'\?\); it is one of /,
    )
  })
})
