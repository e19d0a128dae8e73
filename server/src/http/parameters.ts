import { didYouMean } from '#suggestion'
import { shown } from '../shown.js'
import { Problem } from './problems.js'

/** A parameter of a query: how it is read, and how the OpenAPI document describes it. */
export interface Parameter<T> {
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
  /** Without it a request is refused. */
  readonly isRequired?: boolean
  /** @throws Problem */
  read(name: string, text: string): T
}

export function wholeNumber(description: string, least: number, most: number, byDefault?: number): Parameter<number> {
  return {
    description,
    schema: { type: 'integer', minimum: least, maximum: most, ...(byDefault !== undefined && { default: byDefault }) },
    read(name, text) {
      const number = /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN
      if (number >= least && number <= most) return number
      const message = `${name} is ${shown(text)}; give a whole number from ${least} to ${most}`
      throw new Problem('ERR_OPTION_INVALID', message, {}, { parameter: name, minimum: least, maximum: most })
    },
  }
}

export function oneOf<T extends string>(description: string, choices: readonly T[], byDefault?: T): Parameter<T> {
  return {
    description,
    schema: { type: 'string', enum: choices, ...(byDefault !== undefined && { default: byDefault }) },
    read(name, text) {
      const found = choices.find((choice) => choice === text)
      if (found !== undefined) return found
      throw new Problem(
        'ERR_OPTION_INVALID',
        `${name} is ${shown(text)}${didYouMean(text, choices, shown)}; give one of ${choices.join(', ')}`,
      )
    },
  }
}

type Values<P> = { readonly [N in keyof P]?: P[N] extends Parameter<infer T> ? T : never }

/**
 * The parameters of a query. @param query - As Fastify has read it: a list where one is given twice.
 *
 * @throws Problem for one that is unknown, is given twice, or has a wrong value.
 */
export function readQuery<P extends Readonly<Record<string, Parameter<unknown>>>>(
  parameters: P,
  query: unknown,
): Values<P> {
  const values: Record<string, unknown> = {}
  // Not by Object.entries(): most queries are empty, and this makes nothing then.
  for (const name in query as Record<string, string | string[]>) {
    const text = (query as Record<string, string | string[]>)[name] as string | string[]
    const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined
    if (parameter === undefined) {
      const known = Object.keys(parameters)
      const rule = known.length === 0 ? 'there is none here' : `there are ${known.join(', ')}`
      throw new Problem(
        'ERR_OPTION_UNKNOWN',
        `there is no parameter ${shown(name)}${didYouMean(name, known, shown)}; ${rule}`,
      )
    }
    if (typeof text !== 'string')
      throw new Problem('ERR_OPTION_INVALID', `${name} is given ${text.length} times; give it once`)
    values[name] = parameter.read(name, text)
  }
  return values as Values<P>
}
