import Negotiator from 'negotiator'
import { didYouMean } from '#suggestion'
import { shown } from '../failure.js'
import { mediaTypes, type Representation } from './media.js'
import { Problem } from './problems.js'

/** A parameter of a query: how it is read, and how the OpenAPI document describes it. */
export interface Parameter<T> {
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
  /** Whether `readQuery` refuses a request without the parameter. */
  readonly isRequired?: boolean
  /** @throws Problem */
  read(name: string, text: string): T
}

/** A parameter that each request has to give. */
export interface RequiredParameter<T> extends Parameter<T> {
  readonly isRequired: true
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

/**
 * Returns the path of a URL, without its parameters. A request may have a whole URL (RFC 9112, 3.2.2), of
 * which the router takes the same part.
 */
export function pathOf(url: string): string {
  const part = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]+\/?/i, '/')
  const end = part.indexOf('?')
  return end < 0 ? part : part.slice(0, end)
}

type ValueOf<P> = P extends Parameter<infer T> ? T : never
type Values<P> = { readonly [N in keyof P]?: ValueOf<P[N]> } & {
  readonly [N in keyof P as P[N] extends RequiredParameter<unknown> ? N : never]: ValueOf<P[N]>
}

/**
 * Reads the parameters of a query.
 *
 * @param query - As Fastify parsed it, with a list for a parameter that is given twice.
 * @throws Problem if a parameter is unknown, missing, given twice, or has a wrong value.
 */
export function readQuery<P extends Readonly<Record<string, Parameter<unknown>>>>(
  parameters: P,
  query: unknown,
): Values<P> {
  const values: Record<string, unknown> = {}
  // Not Object.entries(): most queries are empty, and this loop then allocates nothing.
  for (const name in query as Record<string, string | string[]>) {
    const text = (query as Record<string, string | string[]>)[name] as string | string[]
    const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined
    if (parameter === undefined) {
      const known = Object.keys(parameters)
      throw new Problem(
        'ERR_OPTION_UNKNOWN',
        known.length === 0
          ? `there is no parameter ${shown(name)}; leave it out, because this path takes no parameters`
          : `there is no parameter ${shown(name)}${didYouMean(name, known, shown)}; this path takes ${known.join(', ')}`,
      )
    }
    if (typeof text !== 'string')
      throw new Problem('ERR_OPTION_INVALID', `${name} is given ${text.length} times; give it once`)
    values[name] = parameter.read(name, text)
  }
  for (const name in parameters) {
    if (parameters[name]?.isRequired && values[name] === undefined)
      throw new Problem('ERR_OPTION_INVALID', `${name} is missing; give it`)
  }
  return values as Values<P>
}

/**
 * Returns the media type that a client prefers, or `undefined` if it accepts none. Parameters of its types,
 * such as `charset`, are ignored, except their weight `q`, because the service has each type in one form
 * only.
 */
export function preferredType(accept: string, types: readonly string[]): string | undefined {
  const plain = accept.replace(/;(?!\s*q\s*=)[^;,]*/gi, '')
  return new Negotiator({ headers: { accept: plain } }).mediaType([...types])
}

const byMediaType = new Map(Object.entries(mediaTypes).map(([name, type]) => [type, name as Representation]))

/**
 * Chooses the representation that a client prefers.
 *
 * @param accept - Its `Accept` header.
 * @param offered - The first is the default.
 * @throws Problem `ERR_NOT_ACCEPTABLE`
 */
export function representationOf<R extends Representation>(accept: string | undefined, offered: readonly R[]): R {
  if (accept === undefined || accept === '*/*') return offered[0] as R
  const types = offered.map((name) => mediaTypes[name])
  // Clients of the service send one type, which needs no parser.
  const exact = byMediaType.get(accept as (typeof types)[number])
  if (exact !== undefined && offered.includes(exact as R)) return exact as R
  const type = preferredType(accept, types)
  const found = byMediaType.get(type as (typeof types)[number])
  if (found !== undefined) return found as R
  throw new Problem('ERR_NOT_ACCEPTABLE', `Accept is ${shown(accept)}; accept ${types.join(' or ')}`)
}
