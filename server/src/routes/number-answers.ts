import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../http/problems.js'

const types = { json: 'application/json', text: 'text/plain; charset=utf-8', bytes: 'application/octet-stream' }
export type Representation = keyof typeof types

export function chooseRepresentation(request: FastifyRequest, possible: readonly Representation[]): Representation {
  const accept = request.headers.accept ?? '*/*'
  for (const range of accept.split(',')) {
    const [type = ''] = range.trim().split(';')
    if (type === '*/*') return 'json'
    const found = possible.find((one) => types[one].startsWith(type))
    if (found !== undefined) return found
  }
  throw new Problem('ERR_NOT_ACCEPTABLE', `there is ${possible.join(', ')}`)
}

export function sendList(reply: FastifyReply, kind: Representation, key: string, list: readonly string[]): string {
  reply.header('cache-control', 'no-store').header('content-type', types[kind])
  return kind === 'json' ? JSON.stringify({ [key]: list }) : list.map((one) => `${one}\n`).join('')
}

export function sendBytes(reply: FastifyReply, numbers: BigUint64Array): Buffer {
  reply.header('cache-control', 'no-store').header('content-type', types.bytes)
  reply.header('graupel-byte-order', 'little-endian')
  return Buffer.from(numbers.buffer)
}
