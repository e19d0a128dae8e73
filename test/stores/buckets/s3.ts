import type { Call, Dialect, Outcome, Reply } from './server.ts'

// The API of S3, with the bucket's name in the path. Signatures are not checked.

export const s3Dialect: Dialect = {
  callOf({ method = '', url = '', headers }, body) {
    const { pathname, searchParams } = new URL(url, 'http://s3')
    const [, bucket = '', rest = ''] = /^\/([^/]+)(?:\/(.*))?$/.exec(decodeURIComponent(pathname)) ?? []
    if (bucket === '' || headers.authorization === undefined) return undefined
    const isList = searchParams.get('list-type') === '2'
    const actions = { GET: isList ? 'ListBucket' : 'GetObject', PUT: 'PutObject', DELETE: 'DeleteObject' } as const
    const action = actions[method as keyof typeof actions]
    if (action === undefined) return undefined
    return {
      action,
      bucket,
      name: isList ? (searchParams.get('prefix') ?? '') : rest,
      body,
      ifMatch: headers['if-match'],
      ifNoneMatch: headers['if-none-match'],
      after: searchParams.get('continuation-token') ?? '',
      limit: Number(searchParams.get('max-keys') ?? 1000),
    }
  },
  reply(call, outcome) {
    return outcome.kind === 'fault' ? refused(outcome) : done(call, outcome)
  },
}

const xml = (inner: string) => `<?xml version="1.0" encoding="UTF-8"?>\n${inner}`

function refused({ status, code, message, retryAfter }: Extract<Outcome, { kind: 'fault' }>): Reply {
  const headers = { 'content-type': 'application/xml', ...(retryAfter && { 'retry-after': `${retryAfter}` }) }
  const words = `<Code>${code}</Code><Message>${escaped(message)}</Message>`
  return { status, headers, body: xml(`<Error>${words}<RequestId>ABC</RequestId></Error>`) }
}

function done({ action }: Call, outcome: Exclude<Outcome, { kind: 'fault' }>): Reply {
  if (outcome.kind === 'deleted') return { status: 204 }
  if (outcome.kind === 'object') {
    const { etag, text } = outcome.stored
    return { status: 200, headers: { etag }, ...(action === 'GetObject' && { body: text }) }
  }
  const { names, next } = outcome
  const contents = names.map((name) => `<Contents><Key>${escaped(name)}</Key><Size>1</Size></Contents>`).join('')
  const token = next === undefined ? '' : `<NextContinuationToken>${escaped(next)}</NextContinuationToken>`
  const inner = `<IsTruncated>${next !== undefined}</IsTruncated>${contents}${token}`
  return {
    status: 200,
    headers: { 'content-type': 'application/xml' },
    body: xml(`<ListBucketResult>${inner}</ListBucketResult>`),
  }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll("'", '&#39;')
}
