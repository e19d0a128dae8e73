import { expect, test } from 'vitest'
import { swap } from '../../src/client/answer.js'

test('a machine of the other byte order reads the same ids', () => {
  const id = 0x0123_4567_89ab_cdefn
  const bytes = new Uint8Array(new BigUint64Array([id, id]).buffer)
  swap(bytes)
  expect(new DataView(bytes.buffer).getBigUint64(8)).toBe(id)
})
