import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { StoreEntry } from 'graupel/stores'
import { shown } from '../failure.js'
import { storePath } from '../http/gate.js'
import type { Load } from '../http/load.js'
import { contentTypes, headersOf } from '../http/media.js'
import { type Parameter, type RequiredParameter, readQuery, representationOf } from '../http/parameters.js'
import { Problem } from '../http/problems.js'
import { clientOf, type Right } from '../http/tokens.js'
import type { Service } from '../service.js'
import { LentStore } from '../sources/lent-store.js'
import { documentationOf, folderSchema, keySchema, maxKey, maxValue } from './store-documentation.js'

/** The folders of records, by the right that allows them. */
const folders: readonly (readonly [folder: string, right: Right])[] = [
  ['groups/', 'leases'],
  ['leases/', 'leases'],
  ['numbers/', 'numbers'],
]
/** A folder of the contract of stores. Its records are the only ones that a client may remove. */
const scratch = /^contract-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}0?\//

const key: RequiredParameter<string> = {
  description: 'the key of a record: folders and a name',
  schema: keySchema,
  isRequired: true,
  read: (name, text) => keyFrom(name, text),
}
const optionalKey: Parameter<string> = {
  ...key,
  isRequired: false,
  description: 'a key; the server that has it is asked',
}
const folder: RequiredParameter<string> = {
  description: 'a folder, which ends with a slash',
  schema: folderSchema,
  isRequired: true,
  read(name, text) {
    if (text.endsWith('/')) return keyFrom(name, text)
    throw new Problem('ERR_OPTION_INVALID', `${name} is ${shown(text)}; end it with a slash`)
  },
}

/**
 * Adds the routes by which clients use the store of the service, with compare-and-swap. @param load - Counts
 * the calls under way.
 */
export function addStoreRoutes(app: FastifyInstance, service: Service, load: Load): void {
  const lent = new LentStore(service.store, load)
  const { store } = lent
  const answer = async (request: FastifyRequest, reply: FastifyReply, body: object) => {
    representationOf(request.headers.accept, ['json'])
    const identity = await lent.identity()
    reply.headers({
      ...headersOf(contentTypes.json),
      'graupel-durable': `${store.durable}`,
      ...(identity !== undefined && { 'graupel-store': identity }),
    })
    return JSON.stringify(body)
  }

  app.get(storePath, documentationOf('getStore'), async (request, reply) => {
    readQuery({}, request.query)
    return answer(request, reply, { name: store.name, durable: store.durable })
  })
  app.get(`${storePath}/record`, documentationOf('getRecord', { key }), async (request, reply) => {
    const { key: at } = readQuery({ key }, request.query)
    checkRight(request, at)
    const found = await lent.call((store, signal) => store.read(at, signal))
    return answer(request, reply, { record: found === undefined ? null : entryOf(found) })
  })
  app.get(`${storePath}/records`, documentationOf('getRecords', { folder }), async (request, reply) => {
    const { folder: at } = readQuery({ folder }, request.query)
    checkRight(request, at)
    const found = await lent.call((store, signal) => store.list(at, signal))
    return answer(request, reply, { records: found.map(entryOf) })
  })
  app.get(`${storePath}/time`, documentationOf('getTime', { key: optionalKey }), async (request, reply) => {
    const at = optionalKeyOf(request)
    const nowMs = await lent.call(async (store, signal) => store.nowMs?.(signal, at) ?? Date.now())
    return answer(request, reply, { nowMs })
  })
  app.get(
    `${storePath}/incarnation`,
    documentationOf('getIncarnation', { key: optionalKey }),
    async (request, reply) => {
      const at = optionalKeyOf(request)
      const incarnation = await lent.call(async (store, signal) => store.incarnation?.(signal, at) ?? null)
      return answer(request, reply, { incarnation })
    },
  )
  app.get(`${storePath}/place`, documentationOf('getPlace'), async (request, reply) => {
    readQuery({}, request.query)
    const place = await lent.call(async (store, signal) => store.place?.(signal) ?? store.name)
    const advice = await lent.call(async (store, signal) => store.advice?.(signal) ?? [])
    return answer(request, reply, { place, advice })
  })
  app.post(`${storePath}/write`, documentationOf('writeRecord'), async (request, reply) => {
    const { key: at, value, expected } = bodyOf(request, ['key', 'value', 'expected'])
    if (typeof value !== 'string' || value.length > maxValue || !value.isWellFormed()) {
      throw new Problem(
        'ERR_OPTION_INVALID',
        `value is no well-formed text of at most ${maxValue} characters; send one`,
      )
    }
    // Not left out: a client that forgets it would create in place of writing over.
    if (expected !== null && typeof expected !== 'string') {
      throw new Problem(
        'ERR_OPTION_INVALID',
        'expected is no text and not null; send the version, or null to create the record',
      )
    }
    checkRight(request, at)
    const version = await lent.call((store, signal) => store.write(at, value, expected ?? undefined, signal))
    return answer(request, reply, { version: version ?? null })
  })
  app.post(`${storePath}/remove`, documentationOf('removeRecord'), async (request, reply) => {
    const { key: at, expected } = bodyOf(request, ['key', 'expected'])
    if (typeof expected !== 'string') throw new Problem('ERR_OPTION_INVALID', 'expected is no text; send the version')
    if (!scratch.test(at)) {
      throw new Problem(
        'ERR_FORBIDDEN',
        `the key is ${shown(at)}, and only scratch records of a check may be removed: a node whose record is removed is forgotten; leave it`,
      )
    }
    const removed = await lent.call(async (store, signal) => store.remove?.(at, expected, signal) ?? false)
    return answer(request, reply, { removed })
  })
}

function entryOf({ key, value, version, damage }: StoreEntry) {
  return { key, value, version, ...(damage !== undefined && { damage }) }
}

function optionalKeyOf(request: FastifyRequest): string | undefined {
  const { key: at } = readQuery({ key: optionalKey }, request.query)
  if (at !== undefined) checkRight(request, at)
  return at
}

/** @throws Problem `ERR_FORBIDDEN` if no token, or not the token of the request, may use the folder. */
function checkRight(request: FastifyRequest, at: string): void {
  if (scratch.test(at)) return
  const right = folders.find(([folder]) => at.startsWith(folder))?.[1]
  if (right === undefined) {
    throw new Problem(
      'ERR_FORBIDDEN',
      `the key is ${shown(at)}, which is in none of the folders ${folders.map(([name]) => name).join(', ')}; use a key of leases, segments or counters`,
    )
  }
  clientOf(request.raw)?.require(right)
}

/** @throws Problem `ERR_OPTION_INVALID` */
function keyFrom(name: string, text: unknown): string {
  if (typeof text === 'string' && text.length <= maxKey && /^[\x21-\x7e]+$/.test(text)) return text
  throw new Problem(
    'ERR_OPTION_INVALID',
    `${name} is ${shown(text)}; give at most ${maxKey} printable characters of ASCII`,
  )
}

/** Reads the JSON of a body. @throws Problem */
function bodyOf(
  request: FastifyRequest,
  names: readonly string[],
): { key: string; value?: unknown; expected?: unknown } {
  readQuery({}, request.query)
  // Before the store is called: a client would take a record that was written for refused.
  representationOf(request.headers.accept, ['json'])
  let body: unknown
  try {
    body = JSON.parse(request.body as string)
  } catch {
    throw new Problem('ERR_REQUEST_INVALID', 'the body is no JSON; send an object')
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Problem('ERR_REQUEST_INVALID', 'the body is no JSON object; send one')
  }
  const unknown = Object.keys(body).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    throw new Problem('ERR_OPTION_UNKNOWN', `the body has ${shown(unknown)}; it takes ${names.join(', ')}`)
  }
  const given = body as Record<string, unknown>
  const missing = names.find((name) => given[name] === undefined)
  if (missing !== undefined) throw new Problem('ERR_OPTION_INVALID', `the body has no ${missing}; send it`)
  const { key: at, ...rest } = given
  return { ...rest, key: keyFrom('key', at) }
}
