import { createRequire } from 'node:module'
import { inspect } from 'node:util'
import { runInNewContext } from 'node:vm'
import { createGenerator, GraupelError, isGraupelError } from 'graupel'
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

/** The other copies of the package that this process has: its published ES modules, and CommonJS. */
const copies = [
  ['the sources', { createGenerator, GraupelError, isGraupelError }],
  ['import', (await import('../../dist/index.js' as string)) as typeof commonJs],
  ['require', commonJs],
] as const

describe.each(copies)('isGraupelError of %s', (_, { isGraupelError }) => {
  it.each(copies)('is true for every kind of error of %s', (_, other) => {
    const misuse = [
      caught(() => other.createGenerator({ node: 1024 })),
      caught(() => other.createGenerator({} as { node: number })),
    ]
    expect(misuse.map(({ name }) => name)).toEqual(['RangeError', 'TypeError'])
    const all = [...misuse, refusal(other.createGenerator), new other.GraupelError('ERR_CLOSED', 'mine')]
    expect(all.map(isGraupelError)).toEqual(all.map(() => true))
    expect(all.map((error) => 'code' in error && error.code)).not.toContain(undefined)
  })

  it('is false for everything else', () => {
    const error = new GraupelError('ERR_CLOSED', 'closed')
    const throwing = new Proxy(error, {
      get() {
        throw new Error('get')
      },
    })
    const { proxy: revoked, revoke } = Proxy.revocable({}, {})
    revoke()
    const others = [
      Object.assign(new TypeError('no'), { code: 'ERR_INVALID_ARG_TYPE' }),
      Object.assign(new RangeError('no'), { code: 'ERR_CLOSED' }),
      { name: 'GraupelError', code: 'ERR_CLOSED', message: 'closed' },
      { ...error, [Symbol.for('graupel.error')]: true },
      structuredClone(error),
      Object.create(error),
      throwing,
      revoked,
      null,
      undefined,
      'ERR_CLOSED',
      () => error,
    ]
    expect(others.map(isGraupelError)).toEqual(others.map(() => false))
  })
})

it('recognises an error of another realm', () => {
  const foreign = runInNewContext("Object.assign(new RangeError('no'), { code: 'ERR_ID_INVALID' })") as Error
  expect(isGraupelError(foreign)).toBe(false)
  Object.defineProperty(foreign, Symbol.for('graupel.error'), { value: true })
  expect([foreign instanceof Error, isGraupelError(foreign)]).toEqual([false, true])
})

it('marks errors so that no log shows it', () => {
  const error = caught(() => createGenerator({ node: 1024 }))
  expect(Object.keys(error)).toEqual(['code'])
  expect(inspect(error)).not.toContain('graupel.error')
})

it('tells TypeScript the properties of the error', () => {
  const error: unknown = refusal(createGenerator)
  if (!isGraupelError(error)) throw error
  expect([error.code === 'ERR_CLOCK_ROLLBACK', error.rollbackMs, error.message.length > 9]).toEqual([true, 10, true])
})
