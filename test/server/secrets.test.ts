import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { listen, send } from './support/listening.ts'
import { folder } from './support/process.ts'
import { command, RespClient } from './support/resp.ts'

// SECURITY.md: tokens are never logged. A client may send its token anywhere by mistake.

const valid = 'valid-token-of-this-test'
const foreign = 'token-of-another-service'
const tokenFile = join(folder, 'tokens')
writeFileSync(tokenFile, valid, { mode: 0o600 })

it.each([
  ['with tokens', { tokenFile }],
  ['without tokens', {}],
])('a service %s logs no text of a refused command of Redis', async (_, options) => {
  const { respUrl, log } = await listen({ resp: 0, ...options })
  for (const token of [valid, foreign]) {
    const lines = [
      ['AUTH', token, token, token],
      ['AUTH', token],
      ['AUTH', 'user', token],
      ['AUTH'],
      [token],
      [token, token],
      ['HELLO', token],
      ['HELLO', '3', token],
      ['HELLO', '3', 'AUTH', token],
      ['HELLO', '3', 'AUTH', 'user', token, token],
      ['CLIENT', token],
      ['CLIENT', 'SETNAME', token, token, token],
      ['GET', token],
      ['MGET', 'id:twitter', token],
      ['INCRBY', 'orders', token],
      ['ID.NEXT', token],
      ['ID.NEXT', '1', token],
      ['ID.DECODE', token],
      ['SELECT', token],
      ['ECHO', token, token],
      ['INCR', 'orders', token],
      ['MULTI', token],
      ['EXEC', token],
    ]
    const own = await RespClient.open(respUrl)
    await own.send(lines.map((words) => command(...words)).join(''), lines.length)
    own.socket.write(`AUTH ${token}\r\n`)
    await own.closed()
  }
  expect(log.filter(({ msg }) => msg === 'a request was refused').length).toBeGreaterThan(30)
  expect(JSON.stringify(log).toLowerCase()).not.toMatch(/valid-token|token-of-another/)
})

it.each([
  ['with tokens', { tokenFile }],
  ['without tokens', {}],
])('a service %s logs the path of a request and none of its other texts', async (_, options) => {
  const { port, log } = await listen(options)
  for (const token of [valid, foreign]) {
    const requests = [
      `GET /v1/ids?token=${token} HTTP/1.1\r\nHost: localhost`,
      `GET /v1/ids?${token} HTTP/1.1\r\nHost: localhost`,
      `GET /v1/ids?count=${token} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${valid}`,
      `GET /v1/ids?format=hex&format=${token} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${valid}`,
      `GET /livez?access_token=${token} HTTP/1.1\r\nHost: localhost`,
      `GET /api/segment/get/?token=${token} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${valid}`,
      `GET /v1/ids HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${token}`,
      `GET /v1/ids HTTP/1.1\r\nHost: ${token}`,
      `GET /v1/ids HTTP/1.1\r\nHost: localhost\r\nAccept: ${token}\r\nAuthorization: Bearer ${valid}`,
      `GET http://user:${token}@localhost/v1/ids HTTP/1.1\r\nHost: localhost`,
      `GET /v1/ids HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: ${token} ${token}`,
      `${token} /v1/ids HTTP/1.1\r\nHost: localhost`,
      `CONNECT ${token}:80 HTTP/1.1\r\nHost: localhost`,
    ]
    for (const request of requests) await send(port, `${request}\r\nConnection: close\r\n\r\n`)
  }
  expect(log).toContainEqual(expect.objectContaining({ msg: 'a request was refused', url: '/v1/ids' }))
  expect(JSON.stringify(log)).not.toMatch(/valid-token|token-of-another/)
})
