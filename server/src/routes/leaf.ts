import { STATUS_CODES } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Layout, layouts } from 'graupel'
import { refusalOf } from '../http/problems.js'
import type { Service } from '../service.js'
import { decodeAsLeaf } from './leaf-decode.js'

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

export function addLeafRoutes(app: FastifyInstance, service: Service): void {
  app.get('/api/segment/get/:key', async (request, reply) => {
    const { key } = request.params as { key: string }
    const take = async () => (await service.segments.get(key)).nextAsync()
    return answerNumber(request, reply, key, take, segmentResult)
  })
  const source = [...service.ids.values()].find(({ layout }) => hasLeafsBits(layout))
  app.get('/api/snowflake/get/:key', async (request, reply) => {
    const { key } = request.params as { key: string }
    // Leaf answers 0 to all where its generator is switched off; two rows with one id are no help.
    if (source === undefined) return answerResult(request, reply, notReady)
    return answerNumber(request, reply, key, () => source.next(), snowflakeResult)
  })
  // Parameters that it does not know are left alone, as by Spring: clients of Leaf may send some.
  app.get('/decodeSnowflakeId', async (request, reply) => {
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
    reply.header('cache-control', 'no-store').header('content-type', json)
    return JSON.stringify(decodeAsLeaf(`${snowflakeId}`))
  })
}

async function answerNumber(
  request: FastifyRequest,
  reply: FastifyReply,
  key: string,
  take: () => Promise<bigint>,
  resultOf: (code: unknown) => ResultId,
): Promise<string> {
  // Spring finds no route for it, so its NoKeyException is never thrown.
  if (key === '') return answerError(request, reply, 404, 'No message available')
  try {
    const text = request.method === 'HEAD' ? '' : `${await take()}`
    reply.header('cache-control', 'no-store').header('content-type', typeFor(request.headers.accept))
    return text
  } catch (error) {
    if (refusalOf(error).status === 500) request.log.error(error)
    return answerResult(request, reply, resultOf(Object(error).code))
  }
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

function answerResult(request: FastifyRequest, reply: FastifyReply, id: ResultId): string {
  return answerError(request, reply, 500, `Result{id=${id}, status=EXCEPTION}`, leafException)
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
  reply.code(status).header('cache-control', 'no-store').header('content-type', json)
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
