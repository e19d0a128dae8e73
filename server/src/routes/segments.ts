import type { FastifyInstance, FastifyRequest } from 'fastify'
import { documented, namePath, nameProblems } from '../http/documentation.js'
import { heldCountOf, type Load, untilGone } from '../http/load.js'
import { isOfRuns } from '../http/media.js'
import { bodyOf, bodyOfRuns, inSlices, sliceLength } from '../http/number-body.js'
import { formatOf, formOf, headersWith, numbersAnswer, textEncodings } from '../http/number-form.js'
import { readQuery, wholeNumber } from '../http/parameters.js'
import { Runs } from '../http/runs.js'
import { type TakingLog, takerOf } from '../http/taking-log.js'
import { clientOf } from '../http/tokens.js'
import type { Options } from '../options/table.js'
import type { Service } from '../service.js'

export function addSegmentRoutes(
  app: FastifyInstance,
  service: Service,
  options: Options,
  load: Load,
  takings: TakingLog | undefined,
): void {
  const { maxCount } = options
  const held = wholeNumber('how many numbers', 1, heldCountOf(options))
  const parameters = {
    count: wholeNumber('how many numbers', 1, maxCount, 1),
    format: formatOf('numbers', textEncodings),
  }
  const headers = headersWith()
  const asked = (request: FastifyRequest) => {
    const { count = 1, format } = readQuery(parameters, request.query)
    const { name } = request.params as { name: string }
    const form = formOf(format, request.headers.accept)
    if (!isOfRuns(form.representation)) held.read('count', `${count}`)
    return { name, count, ...form }
  }

  const documentation = documented({
    operationId: 'getNumbers',
    summary: 'New numbers of a segment, which no other request gets',
    description:
      'The numbers of one answer ascend. The numbers of a request that fails or is cut off are lost. HEAD uses up none.',
    tag: 'segments',
    path: namePath('the name of the segment', 'orders'),
    query: parameters,
    answers: { 200: numbersAnswer('number', heldCountOf(options), ['1', '2']) },
    problems: [...nameProblems, 'ERR_EMPTY', 'ERR_SEGMENT_OVERFLOW', 'ERR_OVERLOADED'],
  })
  // Before GET, because Fastify would add a HEAD that uses numbers up as GET does.
  app.head('/v1/segments/:name', documentation, (request, reply) => {
    const { name, representation } = asked(request)
    service.segments.check(name)
    return reply.headers(headers[representation]).send()
  })
  app.get('/v1/segments/:name', documentation, async (request, reply) => {
    const { name, count, representation, encoding } = asked(request)
    // Runs are found in one slice of the numbers after the other.
    const most = isOfRuns(representation) ? Math.min(count, sliceLength) : count
    clientOf(request.raw)?.takeIds(count)
    const gone = untilGone(request.raw.socket)
    const runs = { stride: options.segments?.[name]?.stride ?? 1, fixed: 0n }
    const taken = takings && new Runs(runs)
    const body = await load.holdUntilMade(most, request.raw, async () => {
      const segment = await service.segments.get(name)
      const fill = async (array: BigUint64Array<ArrayBuffer>) => {
        // A client that ends its side may still read its answer, but many numbers are not worth it.
        if (count > sliceLength) gone.throwIfAborted()
        const part = await segment.fillAsync(array)
        taken?.add(part)
        return part
      }
      if (isOfRuns(representation)) {
        // This memory stays in the processor's cache.
        const kept = new BigUint64Array(most)
        const part = (from: number, to: number) => fill(kept.subarray(0, to - from))
        return bodyOfRuns(count, representation, runs, part)
      }
      const numbers = new BigUint64Array(count)
      await inSlices(count, (from, to) => fill(numbers.subarray(from, to)))
      return bodyOf(numbers, representation, encoding, { key: 'numbers', runs })
    })
    if (taken !== undefined) takings?.addRuns(takerOf(request), { kind: 'segment', name }, taken)
    reply.headers(headers[representation])
    return body
  })
}
