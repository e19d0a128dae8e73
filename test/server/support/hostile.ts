import type { Random } from '../../support/random.ts'

// Requests that only hostile or broken programs send.

/** Texts in the place of a name, an id or a value. */
const words = [
  ...['', '0', '1', '-1', '+1', '1e3', '1.5', '0x10', '1000000000', '18446744073709551616', 'NaN', '%31', '%20', '+'],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', 'then', '__defineGetter__'],
  ...['%', '%%', '%zz', '%0', '%00', 'a%00b', '%0d%0aX-Evil:%201', '%c0%ae%c0%ae', '%ff%fe', '%ed%a0%80', '%u0041'],
  ...[
    '..',
    '.',
    '%2e%2e',
    '%2e',
    '..%2f..%2fetc%2fpasswd',
    '%2f',
    '%5c',
    '\\..\\',
    '~',
    ';a=b',
    '$%7bjndi:ldap://a%7d',
  ],
  ...['%F0%9F%98%80', '%E2%80%AE', '%D9%A1', '%EF%BB%BF', 'n'.repeat(129), 'n'.repeat(128), '9'.repeat(400)],
  ...['orders', 'a b'.replace(' ', '%20'), "'%20or%201=1--", '<script>', '*', '{}', '[]', 'null', 'undefined', 'true'],
  ...['json', 'text', 'bytes', 'hex', 'twitter', 'discord', 'leaf', '2045881362063413248', '100', '3000'],
]

const paths = [
  ...['/v1/ids', '/v1/ids', '/v1/ids', '/v1/ids/', '/v1/ids/WW', '/v1/ids/WW', '/v1/ids/WW/WW', '/v1//ids', '/V1/IDS'],
  ...[
    '/v1/segments/WW',
    '/v1/segments/WW',
    '/v1/segments',
    '/v1/counters/WW',
    '/v1/counters/WW',
    '/v1/counters/',
    '/WW',
  ],
  ...[
    '/api/snowflake/get/WW',
    '/api/segment/get/WW',
    '/decodeSnowflakeId',
    '/api/WW/get/WW',
    '/',
    '//',
    '/livez',
    '/readyz',
  ],
  ...[
    '/openapi.json',
    '/v1/ids/../ids',
    '/v1/./ids',
    '/WW/WW/WW',
    '*',
    'http://127.0.0.1/v1/ids',
    'https://WW/v1/ids',
    '/v1',
  ],
]

const keys = ['count', 'count', 'format', 'layout', 'snowflakeId', 'WW', '__proto__', 'constructor', 'count[]', 'Count']

const headers = [
  ...[
    'Accept: WW',
    'Accept: application/json;q=0, */*;q=WW',
    'Accept: text/plain;q=2',
    'Accept: application/octet-stream',
  ],
  ...[
    'Accept: */*',
    `Accept: ${'a/b,'.repeat(500)}`,
    'X-Request-Id: WW',
    'X-Request-Id: ok-1',
    'Accept-Encoding: gzip, WW',
  ],
  ...[
    'Authorization: Bearer WW',
    'Authorization: Basic WW',
    'Authorization: Bearer',
    'Cookie: WW',
    'Range: bytes=0-WW',
  ],
  ...['Sec-Fetch-Site: cross-site', 'Origin: http://WW', 'Content-Length: 0', 'Expect: WW', 'Expect: 100-continue'],
  ...[
    'X-Forwarded-For: WW',
    'X-HTTP-Method-Override: DELETE',
    '__proto__: WW',
    'constructor: WW',
    'Via: WW',
    'Keep-Alive: WW',
    'If-None-Match: *',
    'TE: trailers',
  ],
]

/**
 * Headers for the last request of a connection only, because Node reads nothing that arrives behind such a
 * request.
 */
const upgrades = [
  'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__',
  'Upgrade: WW',
]

const methods = ['HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH', 'PROPFIND', 'QUERY', 'M-SEARCH']

/** A valid HTTP request for something forbidden. */
export interface Odd {
  readonly method: string
  readonly url: string
  readonly text: string
}

export class Hostile {
  readonly #random: Random
  readonly #token: string

  /** @param token - The right token, which half of the requests have, or '' if no token is needed. */
  constructor(random: Random, token: string) {
    this.#random = random
    this.#token = token === '' ? '' : `Authorization: Bearer ${token}\r\n`
  }

  /** @param isLast - Ends the connection. */
  odd(isLast: boolean): Odd {
    const method = this.#isRare(0.08) ? this.#one(methods) : 'GET'
    const url = this.url()
    const host = this.#isRare(0.03) ? this.#filled('Host: WW.example') : 'Host: 127.0.0.1'
    const kinds = isLast && this.#isRare(0.3) ? upgrades : headers
    const more = this.#isRare(0.5) ? `${this.#filled(this.#one(kinds))}\r\n` : ''
    const isToken = this.#isRare(0.5) && !more.startsWith('Authorization')
    const close = isLast ? 'Connection: close\r\n' : ''
    const text = `${method} ${url} HTTP/1.1\r\n${host}\r\n${isToken ? this.#token : ''}${more}${close}\r\n`
    return { method, url, text }
  }

  url(): string {
    const path = this.#filled(this.#one(paths))
    if (this.#isRare(0.01)) return `${path}?${'a'.repeat(1500 + this.#below(4000))}`
    const pairs = Array.from({ length: this.#below(3) }, () => {
      const pair = `${this.#filled(this.#one(keys))}${this.#isRare(0.95) ? '=' : ''}${this.#one(words)}`
      return this.#isRare(0.1) ? `${pair}&${pair}` : pair
    })
    return pairs.length === 0 ? path : `${path}?${pairs.join(this.#isRare(0.95) ? '&' : ';')}`
  }

  /** Makes bytes that are not quite HTTP. */
  malformed(): Buffer {
    const form = this.#one(forms)
    const url = this.#isRare(0.5) ? this.url() : '/v1/ids'
    const text = form
      .replaceAll('URL', () => url)
      .replaceAll('N.', () => `${this.#below(100_000)}`)
      .replaceAll('HOST', () => `Host: 127.0.0.1\r\n${this.#isRare(0.8) ? this.#token : ''}`)
    const bytes = Buffer.from(text, 'latin1')
    return this.#isRare(0.3) ? this.#mutated(bytes) : bytes
  }

  /** Changes, drops or repeats some bytes. */
  #mutated(bytes: Buffer): Buffer {
    let all = bytes
    for (let change = 0; change <= this.#below(4); change++) {
      const at = this.#below(all.length)
      const kind = this.#below(4)
      const made =
        kind === 0
          ? Buffer.of(this.#below(256))
          : kind === 1
            ? Buffer.of(this.#one([0, 9, 10, 13, 32, 58]))
            : kind === 2
              ? Buffer.alloc(0)
              : all.subarray(at, at + this.#below(40))
      all = Buffer.concat([all.subarray(0, at), made, all.subarray(at + (this.#isRare(0.5) ? 1 : 0))])
    }
    return all
  }

  #filled(text: string): string {
    return text.replaceAll('WW', () => this.#one(words))
  }

  #one<T>(some: readonly T[]): T {
    return some[this.#below(some.length)] as T
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }

  #isRare(part: number): boolean {
    return this.#random() < part
  }
}

const end = 'Connection: close\r\n\r\n'
const get = 'GET URL HTTP/1.1\r\nHOST'
const body = `POST URL HTTP/1.1\r\nHOST`
const inner = 'GET /v1/ids HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'

const forms = [
  // Request lines.
  ...[
    '',
    '\r\n',
    '\n\n\n',
    '\0',
    'GET',
    'GET ',
    'GET URL',
    'GET URL\r\n\r\n',
    'GET  URL HTTP/1.1\r\n\r\n',
    `get URL HTTP/1.1\r\nHOST${end}`,
  ],
  ...[
    'HTTP/1.1',
    'HTTP/1.0',
    'HTTP/0.9',
    'HTTP/2.0',
    'HTTP/9.9',
    'HTTP/1.',
    'HTTP/-1',
    'HTTP/1.1.1',
    'http/1.1',
    'ICY/1.0',
    'HTTP/1.1 x',
  ].map((version) => `GET URL ${version}\r\nHOST${end}`),
  ...['FOO', 'G\0T', 'GET\t', 'G E T', 'GET,', 'PRI', 'CONNECT', 'SOURCE', '\x16', 'é', 'GET'.repeat(300)].map(
    (method) => `${method} URL HTTP/1.1\r\nHOST${end}`,
  ),
  `GET /v1/ids\xff\xfe HTTP/1.1\r\nHOST${end}`,
  `GET /v1/ids?count=\0 HTTP/1.1\r\nHOST${end}`,
  `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHOST${end}`,
  // Bodies, and the border between two requests.
  `${body}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
  `${get}Content-Length: 44\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
  `${get}Content-Length: 0\r\nContent-Length: 44\r\n\r\n${inner}`,
  ...['-1', '+5', '1e3', '0x5', '99999999999999999999', ' ', '5, 5', '5;', '1 2', 'N.'].map(
    (length) => `${get}Content-Length: ${length}\r\n\r\nhello${inner}`,
  ),
  ...[
    'chunked, identity',
    'identity',
    'xchunked',
    ' chunked',
    '\tchunked',
    'chunked\r\nTransfer-Encoding: x',
    '"chunked"',
    'gzip, chunked',
    '\vchunked',
  ].map((coding) => `${body}Transfer-Encoding: ${coding}\r\n\r\n0\r\n\r\n${inner}`),
  ...['-1', 'ffffffffffffffffff', 'g', '5;a=b', `5;${'e'.repeat(20_000)}`, '5\n', '', ' 5', '0x5', '5\0'].map(
    (size) => `${body}Transfer-Encoding: chunked\r\n\r\n${size}\r\nhello\r\n0\r\nTrailer: x\r\n\r\n${inner}`,
  ),
  // Headers.
  ...[
    'X: a\r\n b',
    ' X: a',
    'X : a',
    'X',
    ': a',
    'X: \0',
    'X\0: a',
    'X: a\nY: b',
    'X: a\rY: b',
    'X: \x7f',
    'É: a',
    'X: é',
    '\tX: a',
    'X:\r\n\ta',
  ].map((header) => `${get}${header}\r\n${end}`),
  `GET URL HTTP/1.1\nHost: 127.0.0.1\n\n`,
  `GET URL HTTP/1.1\r\nHost: 127.0.0.1\n\r\n`,
  `GET URL HTTP/1.1\r\n${end}`,
  `GET URL HTTP/1.0\r\n\r\n`,
  `GET URL HTTP/1.1\r\nHost: a\r\nHost: b\r\n${end}`,
  `GET URL HTTP/1.1\r\nHost: 127.0.0.1, evil.example\r\n${end}`,
  `${get}X: ${'a'.repeat(20_000)}\r\n${end}`,
  `${get}${'X: a\r\n'.repeat(1500)}${end}`,
  `${get}${'X: a\r\n'.repeat(500)}${end}`,
  `${get}Authorization: Bearer ${'a'.repeat(7000)}\r\n${end}`,
  `${get}Expect: 100-continue\r\nContent-Length: 9\r\n${end}`,
  `${get}Expect: a miracle\r\n${end}`,
  // Half a request, and more than one.
  'GET URL HTTP/1.1\r\nHos',
  get,
  `${get}Content-Length: 1000000\r\n\r\nabc`,
  `${body}Transfer-Encoding: chunked\r\n\r\nfff\r\nabc`,
  `${`${get}\r\n`.repeat(30)}${get}${end}`,
  `${get}\r\nGET / HTTP/7.7\r\n\r\n${inner}`,
  `${get}${end}${inner}${inner}`,
  // Other protocols.
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
  `\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03${'\x9c'.repeat(200)}`,
  'SSH-2.0-OpenSSH_9.9\r\n',
  '*1\r\n$4\r\nPING\r\n',
  'EHLO evil.example\r\n',
  `${get}Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n\x81\x85abcdhello`,
  'PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nGET URL HTTP/1.1\r\nHOST\r\n',
]
