import { documented } from '../http/documentation.js'
import { mediaTypes } from '../http/media.js'

// The descriptions of Leaf's routes in the OpenAPI document.

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
      message: { type: 'string', description: 'Result{id=-2, status=EXCEPTION} for an unknown key' },
      path: { type: 'string' },
    },
  },
}

const numbers = {
  segment: {
    operationId: 'getLeafSegmentId',
    summary: "A number of a segment, in the form of Leaf's service",
    path: { key: { description: 'the name of the segment', schema: { type: 'string' }, example: 'orders' } },
  },
  snowflake: {
    operationId: 'getLeafSnowflakeId',
    summary: "An id with the bits of Leaf's ids, in the form of Leaf's service",
    path: { key: { description: 'any text', schema: { type: 'string' }, example: 'orders' } },
  },
}

export function documentationOf(kind: keyof typeof numbers) {
  return documented({
    ...numbers[kind],
    tag: 'leaf',
    isLenient: true,
    description:
      'HEAD uses up none. Other refusals than of the key or the generator are problem details, as on other routes.',
    answers: {
      200: { description: 'The number', content: { [mediaTypes.text]: { schema: { type: 'string' }, example: '4' } } },
      500: { description: 'There is no number', content: { [mediaTypes.json]: error } },
    },
  })
}

const parts = { timestamp: '1567733700834(2019-09-06 09:35:00.834)', sequenceId: '3448', workerId: '39' }

export const documentationOfDecode = documented({
  operationId: 'decodeLeafSnowflakeId',
  summary: "The parts of an id with Leaf's bits, in the form of Leaf's service",
  tag: 'leaf',
  isLenient: true,
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
      description: 'Its parts, with the time in the time zone of the server, or errorMsg if it is no number of 64 bits',
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
