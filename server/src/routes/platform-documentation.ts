import { documented } from '../http/documentation.js'
import { mediaTypes } from '../http/media.js'

// The descriptions of the probes and of the metrics in the OpenAPI document.

const lines = { [mediaTypes.text]: { schema: { type: 'string' }, example: 'ok\n' } }

export const documentationOfLive = documented({
  operationId: 'getLive',
  summary: 'Whether the process answers',
  tag: 'service',
  isLenient: true,
  isOpen: true,
  answers: { 200: { description: 'The process answers', content: lines } },
})

const readiness = {
  type: 'object',
  required: ['ready', 'reasons'],
  properties: {
    ready: { type: 'boolean' },
    reasons: { type: 'array', items: { type: 'string' }, description: 'why it should get no requests' },
  },
}

/** Describes one of the two answers. */
const answerOf = (description: string, ready: boolean, reasons: readonly string[]) => ({
  description,
  content: {
    [mediaTypes.text]: { schema: { type: 'string' }, example: ready ? 'ok\n' : `${reasons.join('\n')}\n` },
    [mediaTypes.json]: { schema: readiness, example: { ready, reasons } },
  },
})

export const documentationOfReady = documented({
  operationId: 'getReady',
  summary: 'Whether the service should get requests',
  description: 'With workers, the service is ready if each worker that listens is.',
  tag: 'service',
  isLenient: true,
  isOpen: true,
  answers: {
    200: answerOf('The service can make ids', true, []),
    503: answerOf('The service should get no requests, for these reasons', false, ['the service is being shut down']),
  },
})

export const documentationOfMetrics = documented({
  operationId: 'getMetrics',
  summary: 'Metrics for Prometheus',
  description: 'With workers, any worker has the metrics of all.',
  tag: 'service',
  isLenient: true,
  answers: {
    200: {
      description: "Prometheus's text format",
      content: { [mediaTypes.text]: { schema: { type: 'string' }, example: 'graupel_ready 1\n' } },
    },
  },
})
