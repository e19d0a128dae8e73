import type { Dialect, Outcome, Reply, Stored } from './server.ts'

// The JSON API of Google Cloud Storage.

const path = /^(?:\/upload)?\/storage\/v1\/b\/([^/]+)\/o(?:\/([^/]+))?$/

export const googleDialect: Dialect = {
  callOf({ method = '', url = '', headers }, body) {
    const { pathname, searchParams } = new URL(url, 'http://google')
    const [, bucket = '', encoded] = path.exec(pathname) ?? []
    if (bucket === '') return undefined
    const generation = searchParams.get('ifGenerationMatch') ?? undefined
    const conditions = {
      ifMatch: generation === '0' ? undefined : generation,
      ifNoneMatch: generation === '0' ? '*' : undefined,
    }
    const of = { bucket, body: '', after: '', limit: 1000, ...conditions }
    if (method === 'POST') {
      const name = searchParams.get('name') ?? ''
      return { ...of, action: 'PutObject', name, body: contentOf(body, headers['content-type'] ?? '') }
    }
    if (method === 'DELETE') return { ...of, action: 'DeleteObject', name: decodeURIComponent(encoded ?? '') }
    if (encoded !== undefined) return { ...of, action: 'GetObject', name: decodeURIComponent(encoded) }
    const after = searchParams.get('pageToken') ?? ''
    return { ...of, action: 'ListBucket', name: searchParams.get('prefix') ?? '', after }
  },
  reply({ action, bucket, name }, outcome) {
    if (outcome.kind === 'fault') return refused(outcome, action === 'GetObject', `${bucket}/${name}`)
    if (outcome.kind === 'deleted') return { status: 204 }
    if (outcome.kind === 'list') {
      const { names, next } = outcome
      return json(200, {
        kind: 'storage#objects',
        items: names.map((name) => ({ name })),
        ...(next && { nextPageToken: next }),
      })
    }
    if (action === 'PutObject') return json(200, { name, bucket, ...metadataOf(outcome.stored) })
    const { generation, text } = outcome.stored
    return { status: 200, headers: { 'x-goog-generation': generation, 'content-type': 'text/plain' }, body: text }
  },
}

const json = (status: number, body: object, headers: Record<string, string> = {}): Reply => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

function metadataOf({ generation, text }: Stored) {
  return { generation, metageneration: '1', size: `${text.length}` }
}

/** The reasons and the messages of Google for faults in the terms of S3. */
const known: Record<string, readonly [status: number, reason: string, message: string]> = {
  PreconditionFailed: [412, 'conditionNotMet', 'At least one of the pre-conditions you specified did not hold.'],
  NoSuchBucket: [404, 'notFound', 'The specified bucket does not exist.'],
  AccessDenied: [403, 'forbidden', 'ids@example.iam.gserviceaccount.com does not have storage.objects access.'],
  SlowDown: [429, 'rateLimitExceeded', 'The object exceeded the rate limit for object mutation operations.'],
  ExpiredToken: [401, 'authError', 'Invalid Credentials'],
  InvalidAccessKeyId: [401, 'authError', 'Invalid Credentials'],
}

function refused(fault: Extract<Outcome, { kind: 'fault' }>, isMedia: boolean, at: string): Reply {
  const missing = [404, 'notFound', `No such object: ${at}`] as const
  const other = [fault.status, fault.code, fault.message] as const
  const [status, reason, message] = fault.code === 'NoSuchKey' ? missing : (known[fault.code] ?? other)
  const headers = fault.retryAfter === undefined ? {} : { 'retry-after': `${fault.retryAfter}` }
  // The body of a download that fails is a plain text.
  if (isMedia) return { status, headers: { 'content-type': 'text/html; charset=UTF-8', ...headers }, body: message }
  return json(status, { error: { code: status, message, errors: [{ message, domain: 'global', reason }] } }, headers)
}

/** Returns the second part of a multipart body, which is the text of the object. */
function contentOf(body: string, type: string): string {
  const [, boundary = ''] = /boundary="?([^";]+)"?/.exec(type) ?? []
  const part = body.split(`--${boundary}`)[2] ?? ''
  return part.slice(part.indexOf('\r\n\r\n') + 4).replace(/\r\n$/, '')
}
