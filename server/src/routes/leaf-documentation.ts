import { documented } from '../http/documentation.js'
import { mediaTypes } from '../http/representation.js'

// What the OpenAPI document says of Leaf's routes.

const error = {
  schema: {
    type: 'object',
    description: 'as Spring Boot 1.5 writes it',
    required: ['timestamp', 'status', 'error', 'message', 'path'],
    properties: {
      timestamp: { type: 'integer', description: 'in milliseconds since 1970' },
      status: { type: 'integer' },
      error: { type: 'string' },
      exception: { type: 'string' },
      message: { type: 'string', description: 'Result{id=-2, status=EXCEPTION} for a key that there is none of' },
      path: { type: 'string' },
    },
  },
}

const numbers = {
  segment: {
    operationId: 'getLeafSegmentId',
    summary: "A number of a segment, as Leaf's service answers it",
    path: { key: { description: 'the name of the segment', schema: { type: 'string' }, example: 'orders' } },
  },
  snowflake: {
    operationId: 'getLeafSnowflakeId',
    summary: "An id with the bits of Leaf's, as Leaf's service answers it",
    path: { key: { description: 'any text', schema: { type: 'string' }, example: 'orders' } },
  },
}

export function documentationOf(kind: keyof typeof numbers) {
  return documented({
    ...numbers[kind],
    tag: 'leaf',
    description:
      'HEAD uses up none. Refusals that are not of the key or the generator are problem details, as on other routes.',
    answers: {
      200: { description: 'The number', content: { [mediaTypes.text]: { schema: { type: 'string' }, example: '4' } } },
      500: { description: 'There is none', content: { [mediaTypes.json]: error } },
    },
  })
}

const parts = { timestamp: '1567733700834(2019-09-06 09:35:00.834)', sequenceId: '3448', workerId: '39' }

export const documentationOfDecode = documented({
  operationId: 'decodeLeafSnowflakeId',
  summary: "What an id of Leaf's bits is made up of, as Leaf's service answers it",
  tag: 'leaf',
  query: {
    snowflakeId: {
      isRequired: true,
      description: 'an id in decimal',
      schema: { type: 'string', default: '1169786042799259000' },
      read: (_name, text) => text,
    },
  },
  answers: {
    200: {
      description: 'Its parts, the time in the time zone of the server; or errorMsg, where it is no number of 64 bits',
      content: {
        [mediaTypes.json]: {
          schema: { type: 'object', additionalProperties: { type: 'string' } },
          example: parts,
        },
      },
    },
    400: { description: 'The id is missing', content: { [mediaTypes.json]: error } },
  },
})
