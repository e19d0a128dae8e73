import { STATUS_CODES } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Layout, layouts } from 'graupel'
import type { Load } from '../http/load.js'
import type { RefusalLog } from '../http/log.js'
import { headersOf } from '../http/media.js'
import { pathOf } from '../http/parameters.js'
import { Problem, refusalOf } from '../http/problems.js'
import { type Source, type TakingLog, takerOf } from '../http/taking-log.js'
import { clientOf } from '../http/tokens.js'
import type { Service } from '../service.js'
import { nextOf, type ServedLayouts } from './ids.js'
import { documentationOf, documentationOfDecode } from './leaf-documentation.js'

// The routes of leaf-server (LeafController, LeafMonitorController). Leaf's clients only need another
// address.

/** The names of exceptions in Leaf's answers. */
const leafException = 'com.sankuai.inf.leaf.server.exception.LeafServerException'
const missingParameter = 'org.springframework.web.bind.MissingServletRequestParameterException'

/** The `id` of the Result in a refusal (SegmentIDGenImpl, SnowflakeIDGenImpl). */
type ResultId = -1 | -2 | -3
/** Leaf's generator is not initialised. */
const notReady = -1
/** Leaf has no such key. */
const unknownKey = -2
/** Both of Leaf's segments are used up, and its database gives no other. */
const usedUp = -3
/** The clock went back further than Leaf waits. */
const clockWentBack = -3

export function addLeafRoutes(
  app: FastifyInstance,
  { segments }: Service,
  layouts: ServedLayouts,
  load: Load,
  refusals: RefusalLog,
  takings: TakingLog | undefined,
): void {
  app.decorateReply('isClientFault', false)
  const ofSegment = (key: string, { raw }: FastifyRequest) =>
    load.holdUntilMade(1, raw, async () => (await segments.get(key)).nextAsync())
  const record = (request: FastifyRequest, from: Source, number: bigint) =>
    takings?.add(takerOf(request), from, BigUint64Array.of(number), { stride: 1, fixed: 0n })
  const recordSegment = (request: FastifyRequest, name: string, number: bigint) =>
    record(request, { kind: 'segment', name }, number)
  addNumberRoute(app, 'segment', ofSegment, segmentResult, refusals, recordSegment)
  const served = [...layouts.values()].find(({ source }) => hasLeafsBits(source.layout))
  // Leaf answers 0 to every request if its generator is switched off, so many rows would get one id. The
  // service refuses instead.
  const next = async () => {
    if (served !== undefined) return nextOf(served.source, served.load)
    throw new Problem(
      'ERR_ROUTE_UNKNOWN',
      "no layout of the service has the bits of Leaf's ids; start it with --layouts leaf",
    )
  }
  const recordId = (request: FastifyRequest, _: string, number: bigint) =>
    record(request, { kind: 'id', name: `${served?.source.layout.name}` }, number)
  addNumberRoute(app, 'snowflake', next, snowflakeResult, refusals, recordId)

  app.get('/decodeSnowflakeId', documentationOfDecode, async (request, reply) => {
    // Unknown parameters are ignored, as Spring does, because clients of Leaf may send some.
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

/** Adds a route of one number. @param resultOf - Returns Leaf's result for the code of an error. */
function addNumberRoute(
  app: FastifyInstance,
  kind: 'segment' | 'snowflake',
  take: (key: string, request: FastifyRequest) => Promise<bigint>,
  resultOf: (code: unknown) => ResultId,
  refusals: RefusalLog,
  record: (request: FastifyRequest, key: string, number: bigint) => void,
): void {
  const path = `/api/${kind}/get/:key`
  // Before GET, because Fastify would add a HEAD that uses a number up as GET does.
  app.head(path, documentationOf(kind), (request, reply) =>
    reply.headers(headersOf(typeFor(request.headers.accept))).send(),
  )
  app.get(path, documentationOf(kind), async (request, reply) => {
    const { key } = request.params as { key: string }
    // Spring has no route for an empty key, so Leaf's NoKeyException is never thrown.
    if (key === '') return answerError(request, reply, 404, 'No message available')
    try {
      clientOf(request.raw)?.takeIds(1)
      const number = await take(key, request)
      record(request, key, number)
      reply.headers(headersOf(typeFor(request.headers.accept)))
      return `${number}`
    } catch (error) {
      const { status, code } = refusalOf(error)
      // The status of the code tells a client's mistake from a failure of the service. Leaf answers 500 to
      // both.
      refusals.add(request, status, code, error)
      reply.isClientFault = status < 500
      return answerError(request, reply, 500, `Result{id=${resultOf(code)}, status=EXCEPTION}`, leafException)
    }
  })
}

function segmentResult(code: unknown): ResultId {
  if (code === 'ERR_CLOSED') return notReady
  // The name of a counter and a name with too many characters are no keys of segments either.
  const unknown = ['ERR_NAME_UNKNOWN', 'ERR_NAMES_FULL', 'ERR_OPTION_INVALID', 'ERR_STATE_MISMATCH']
  return unknown.includes(code as string) ? unknownKey : usedUp
}

function snowflakeResult(code: unknown): ResultId {
  return code === 'ERR_CLOCK_ROLLBACK' ? clockWentBack : notReady
}

/** Answers an error as Spring Boot 1.5 does (DefaultErrorAttributes). Leaf 1.0.1 is built with it. */
function answerError(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  message: string,
  exception?: string,
): string {
  const path = pathOf(request.url)
  reply.code(status).headers(headersOf(json)).header('x-request-id', request.id)
  const error = STATUS_CODES[status]
  return JSON.stringify({ timestamp: Date.now(), status, error, ...(exception && { exception }), message, path })
}

const json = 'application/json;charset=UTF-8'
const text = 'text/plain;charset=UTF-8'

/**
 * Returns the first of JSON and text that a client names, as Spring chooses among types that are equally
 * good. RestTemplate reads a Long from JSON only.
 */
function typeFor(accept = '*/*'): string {
  for (const range of accept.split(',')) {
    const [type = ''] = range.split(';')
    if (/^\s*application\/(json|\*)\s*$/i.test(type)) return json
    if (/^\s*text\/(plain|\*)\s*$/i.test(type)) return text
  }
  return text
}

/**
 * Tells whether Leaf's shifts read the layout's ids: 41 bits of milliseconds since Leaf's epoch, 10 of node,
 * 12 of sequence.
 */
function hasLeafsBits({ epochMs, tickMs, bits, timestamp, sequence, tagFields }: Layout): boolean {
  const { leaf } = layouts
  const isAlike = (one: typeof timestamp, other: typeof timestamp) =>
    one.bits === other.bits && one.shift === other.shift
  return (
    epochMs === leaf.epochMs &&
    tickMs === leaf.tickMs &&
    bits === leaf.bits &&
    tagFields.length === 0 &&
    isAlike(timestamp, leaf.timestamp) &&
    isAlike(sequence, leaf.sequence)
  )
}

/** The answer of LeafMonitorController.decodeSnowflakeId, in the order of a HashMap of Java 8. */
type LeafDecoded =
  | { readonly workerId: string; readonly sequenceId: string; readonly timestamp: string }
  | { readonly errorMsg: string }

const unreadable: LeafDecoded = { errorMsg: 'snowflake Id反解析发生异常!' }

/**
 * Decodes an id by Leaf's own shifts, which are right for Leaf's layout only. @param text - As the client
 * sent it.
 */
export function decodeAsLeaf(text: string): LeafDecoded {
  // The texts that Long.parseLong reads, except digits of other scripts.
  if (!/^[+-]?[0-9]{1,100}$/.test(text)) return unreadable
  const id = BigInt(text.replace('+', ''))
  if (BigInt.asIntN(64, id) !== id) return unreadable
  const timeMs = Number(id >> 22n) + layouts.leaf.epochMs
  return {
    workerId: `${(id >> 12n) ^ ((id >> 22n) << 10n)}`,
    sequenceId: `${id ^ ((id >> 12n) << 12n)}`,
    timestamp: `${timeMs}(${localTime(new Date(timeMs))})`,
  }
}

/** Formats a time as SimpleDateFormat("yyyy-MM-dd HH:mm:ss.SSS") does, in the time zone of the process. */
function localTime(date: Date): string {
  const digits = (number: number, width = 2) => `${number}`.padStart(width, '0')
  const day = [digits(date.getFullYear(), 4), digits(date.getMonth() + 1), digits(date.getDate())].join('-')
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map((number) => digits(number)).join(':')
  return `${day} ${time}.${digits(date.getMilliseconds(), 3)}`
}
