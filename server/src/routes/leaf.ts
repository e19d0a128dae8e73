import { STATUS_CODES } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Layout, layouts } from 'graupel'
import { headersOf } from '../http/answer-headers.js'
import type { RefusalLog } from '../http/log.js'
import { Problem, refusalOf } from '../http/problems.js'
import type { Service } from '../service.js'
import { decodeAsLeaf } from './leaf-decode.js'
import { documentationOf, documentationOfDecode } from './leaf-documentation.js'

// The routes of leaf-server (LeafController, LeafMonitorController), so that its clients need another address and nothing else.

/** The exceptions that Leaf's answers name. */
const leafException = 'com.sankuai.inf.leaf.server.exception.LeafServerException'
const missingParameter = 'org.springframework.web.bind.MissingServletRequestParameterException'

/** `id` of the Result in an answer that refuses (SegmentIDGenImpl, SnowflakeIDGenImpl). */
type ResultId = -1 | -2 | -3
/** Not initialised. */
const notReady = -1
/** No such key. */
const unknownKey = -2
/** Both segments are used up, and the database gives no other. */
const usedUp = -3
/** The clock went back further than can be waited for. */
const clockWentBack = -3

export function addLeafRoutes(app: FastifyInstance, service: Service, refusals: RefusalLog): void {
  const ofSegment = async (key: string) => (await service.segments.get(key)).nextAsync()
  addNumberRoute(app, 'segment', ofSegment, segmentResult, refusals)
  const source = [...service.ids.values()].find(({ layout }) => hasLeafsBits(layout))
  // Leaf answers 0 to all where its generator is switched off. That would be one id for many rows.
  const next = async () => {
    if (source !== undefined) return source.next()
    throw new Problem('ERR_LEASE_EXPIRED', "no layout of the service has the bits of Leaf's ids")
  }
  addNumberRoute(app, 'snowflake', next, snowflakeResult, refusals)

  app.get('/decodeSnowflakeId', documentationOfDecode, async (request, reply) => {
    // Parameters that it does not know are left alone, as by Spring: clients of Leaf may send some.
    const { snowflakeId } = request.query as { snowflakeId?: string | string[] }
    if (snowflakeId === undefined) {
      return answerError(
        request,
        reply,
        400,
        "Required String parameter 'snowflakeId' is not present",
        missingParameter,
      )
    }
    reply.headers(headersOf(json))
    return JSON.stringify(decodeAsLeaf(`${snowflakeId}`))
  })
}

/** @param resultOf - What Leaf says where there is no number, by the code of the error. */
function addNumberRoute(
  app: FastifyInstance,
  kind: 'segment' | 'snowflake',
  take: (key: string) => Promise<bigint>,
  resultOf: (code: unknown) => ResultId,
  refusals: RefusalLog,
): void {
  const path = `/api/${kind}/get/:key`
  // Before the other: Fastify would make one that answers as GET, and uses a number up.
  app.head(path, (request, reply) => reply.headers(headersOf(typeFor(request.headers.accept))).send())
  app.get(path, documentationOf(kind), async (request, reply) => {
    const { key } = request.params as { key: string }
    // Spring finds no route for it, so Leaf's NoKeyException is never thrown.
    if (key === '') return answerError(request, reply, 404, 'No message available')
    try {
      const number = await take(key)
      reply.headers(headersOf(typeFor(request.headers.accept)))
      return `${number}`
    } catch (error) {
      const { status, code } = refusalOf(error)
      // By the status of the code, which tells what a client got wrong from what the service could not do; Leaf answers 500 to both.
      refusals.add(request, status, code, error)
      return answerError(request, reply, 500, `Result{id=${resultOf(code)}, status=EXCEPTION}`, leafException)
    }
  })
}

function segmentResult(code: unknown): ResultId {
  if (code === 'ERR_CLOSED') return notReady
  // A name of a counter is no key of a segment either, nor is one with too many characters.
  const unknown = ['ERR_NAME_UNKNOWN', 'ERR_NAMES_FULL', 'ERR_OPTION_INVALID', 'ERR_STATE_MISMATCH']
  return unknown.includes(code as string) ? unknownKey : usedUp
}

function snowflakeResult(code: unknown): ResultId {
  return code === 'ERR_CLOCK_ROLLBACK' ? clockWentBack : notReady
}

/** An error as Spring Boot 1.5 writes it (DefaultErrorAttributes), which Leaf 1.0.1 is built with. */
function answerError(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  message: string,
  exception?: string,
): string {
  const [path] = request.url.split('?')
  reply.code(status).headers(headersOf(json)).header('x-request-id', request.id)
  const error = STATUS_CODES[status]
  return JSON.stringify({ timestamp: Date.now(), status, error, ...(exception && { exception }), message, path })
}

const json = 'application/json;charset=UTF-8'
const text = 'text/plain;charset=UTF-8'

/**
 * A number is JSON and text; the first of the two that a client names, as Spring chooses among the types that are equally good.
 * RestTemplate reads a Long from JSON alone.
 */
function typeFor(accept = '*/*'): string {
  for (const range of accept.split(',')) {
    const [type = ''] = range.split(';')
    if (/^\s*application\/(json|\*)\s*$/i.test(type)) return json
    if (/^\s*text\/(plain|\*)\s*$/i.test(type)) return text
  }
  return text
}

/** Whether Leaf's shifts read its ids: 41 bits of milliseconds since Leaf's epoch, 10 of the node, 12 of the sequence. */
function hasLeafsBits({ epochMs, tickMs, bits, timestamp, sequence }: Layout): boolean {
  const { leaf } = layouts
  const isAlike = (one: typeof timestamp, other: typeof timestamp) =>
    one.bits === other.bits && one.shift === other.shift
  return (
    epochMs === leaf.epochMs &&
    tickMs === leaf.tickMs &&
    bits === leaf.bits &&
    isAlike(timestamp, leaf.timestamp) &&
    isAlike(sequence, leaf.sequence)
  )
}
