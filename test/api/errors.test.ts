import { createRequire } from 'node:module'
import { createGenerator, GraupelError } from 'graupel'
import { describe, expect, it } from 'vitest'
import { caught } from '../support/engines.js'

const commonJs = createRequire(import.meta.url)('graupel') as typeof import('graupel')

/** A generator whose clock has stepped back. */
function refusal(create: typeof createGenerator): Error {
  let now = Date.UTC(2030, 0, 1)
  const ids = create({ node: 1, clock: () => now, onRollback: 'throw' })
  ids.next()
  now -= 10
  return caught(() => ids.next())
}

describe.each([
  ['import', createGenerator, GraupelError],
  ['require', commonJs.createGenerator, commonJs.GraupelError],
])('an error of what %s loads', (_, create, own) => {
  it('has its name, as Node prints it', () => {
    const error = refusal(create)
    expect(own.name).toBe('GraupelError')
    expect(error.stack).toMatch(/^GraupelError: /)
    expect(`${error}`).toMatch(/^GraupelError: /)
  })

  it('is an instance of its form of the package, with a name and a code for the other form', () => {
    class Derived extends own {}
    const error = refusal(create)
    expect(error).toBeInstanceOf(own)
    expect(error).toMatchObject({ name: 'GraupelError', code: 'ERR_CLOCK_ROLLBACK' })
    expect(error).not.toBeInstanceOf(Derived)
    expect(new Derived('ERR_CLOSED', 'mine')).toBeInstanceOf(Derived)
    expect(new Error('none')).not.toBeInstanceOf(own)
  })
})
