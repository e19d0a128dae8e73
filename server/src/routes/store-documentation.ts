import { documented } from '../http/documentation.js'
import { mediaTypes } from '../http/media.js'
import type { Parameter } from '../http/parameters.js'
import type { ProblemCode } from '../http/problems.js'

// The descriptions of the routes of the store in the OpenAPI document.

/** The most characters of a key. */
export const maxKey = 255
/** The most characters of a value. */
export const maxValue = 4096

const text = { type: 'string' }
const textOrNull = { type: ['string', 'null'] }
const example = { key: 'leases/default-0a1b2c3d/0/7', value: '{"format":1}', version: '8d3c2f0e' }
const entry = {
  type: 'object',
  required: ['key', 'value', 'version'],
  properties: {
    key: text,
    value: text,
    version: text,
    damage: { ...text, description: 'how the record is known to be damaged' },
  },
}

export const keySchema = { ...text, minLength: 1, maxLength: maxKey, examples: [example.key] }
export const folderSchema = { ...keySchema, pattern: '/$', examples: ['leases/default-0a1b2c3d/0/'] }

/** The body and the answer of a route: the properties of the JSON, all of them required, and an example. */
interface Route {
  readonly summary: string
  readonly answer: Shape
  readonly body?: Shape
}
interface Shape {
  readonly properties: Readonly<Record<string, unknown>>
  readonly example: Readonly<Record<string, unknown>>
}

/** By the `operationId`. */
const routes = {
  getStore: {
    summary: 'The kind of the store, and whether it keeps what it has acknowledged',
    answer: { properties: { name: text, durable: { type: 'boolean' } }, example: { name: 'redis', durable: false } },
  },
  getRecord: {
    summary: 'The latest record of a key, or null',
    answer: { properties: { record: { anyOf: [entry, { type: 'null' }] } }, example: { record: example } },
  },
  getRecords: {
    summary: 'The records of a folder',
    answer: { properties: { records: { type: 'array', items: entry } }, example: { records: [example] } },
  },
  getTime: {
    summary: "The store's clock, in milliseconds since 1970",
    answer: { properties: { nowMs: { type: 'number' } }, example: { nowMs: 1_790_000_000_000 } },
  },
  getIncarnation: {
    summary: "The name of the run of the store's server, or null if it forgets nothing",
    answer: { properties: { incarnation: textOrNull }, example: { incarnation: null } },
  },
  getPlace: {
    summary: 'Where the records are, and what an operator should change',
    answer: {
      properties: { place: text, advice: { type: 'array', items: text } },
      example: { place: 'file /data/graupel.db, table graupel_store', advice: [] },
    },
  },
  writeRecord: {
    summary: 'Writes a record if its key has the expected version',
    answer: {
      properties: { version: { ...textOrNull, description: 'null if the key has another version' } },
      example: { version: example.version },
    },
    body: {
      properties: {
        key: keySchema,
        value: { ...text, maxLength: maxValue },
        expected: { ...textOrNull, description: 'the version that the key has to have; null to create it' },
      },
      example: { key: example.key, value: example.value, expected: null },
    },
  },
  removeRecord: {
    summary: 'Removes a scratch record if its key has the expected version',
    answer: { properties: { removed: { type: 'boolean' } }, example: { removed: true } },
    body: {
      properties: { key: keySchema, expected: text },
      example: { key: 'contract-00000000-0000-4000-8000-000000000000/1', expected: example.version },
    },
  },
} satisfies Record<string, Route>

const problems: readonly ProblemCode[] = [
  'ERR_STORE_UNAVAILABLE',
  'ERR_STORE_INVALID',
  'ERR_STORE_UNSAFE',
  'ERR_OVERLOADED',
]

export function documentationOf(
  operationId: keyof typeof routes,
  query: Readonly<Record<string, Parameter<unknown>>> = {},
) {
  const { summary, answer, body }: Route = routes[operationId]
  return documented({
    operationId,
    summary,
    tag: 'store',
    query,
    answers: {
      200: {
        description: summary,
        content: { [mediaTypes.json]: contentOf(answer) },
        headers: {
          'graupel-durable': 'whether the store never forgets what it has acknowledged: true or false',
          'graupel-store': 'names the records of a durable store; another name means another store',
        },
      },
    },
    problems: [...problems, ...(body ? (['ERR_BODY_TOO_LARGE'] as const) : [])],
    ...(body && { body: contentOf(body) }),
  })
}

function contentOf({ properties, example }: Shape) {
  return { schema: { type: 'object', required: Object.keys(properties), properties }, example }
}
