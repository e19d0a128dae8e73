import { createServer } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { consulStore } from '../../src/stores/consul.js'
import { type EtcdStoreOptions, etcdStore, type Fetch } from '../../src/stores/etcd.js'
import { callsOf } from './real-time.ts'

// Stores that use fetch, without a server: their refusals, their messages, and the endpoints that they ask.

const url = 'http://store.test:1234'
const makers = { etcdStore, consulStore } as const
type Options = Record<string, unknown>

describe.each(Object.entries(makers))('%s', (name, maker) => {
  const make = (options: unknown) => maker(options as EtcdStoreOptions)

  it.each<[string, Options | null | undefined, string]>([
    ['no options', undefined, 'ERR_OPTION_INVALID'],
    ['null', null, 'ERR_OPTION_INVALID'],
    ['no URL', {}, 'ERR_OPTION_INVALID'],
    ['a URL that is a number', { url: 7 }, 'ERR_OPTION_INVALID'],
    ['a URL without a scheme', { url: 'localhost:2379' }, 'ERR_OPTION_INVALID'],
    ['a URL of another scheme', { url: 'redis://h' }, 'ERR_OPTION_INVALID'],
    ['a URL without a host', { url: 'http://' }, 'ERR_OPTION_INVALID'],
    ['a URL with a query', { url: `${url}?dc=1` }, 'ERR_OPTION_INVALID'],
    ['no endpoints', { url: [] }, 'ERR_OPTION_INVALID'],
    ['an endpoint that is none', { url: [url, undefined] }, 'ERR_OPTION_INVALID'],
    ['a fetch that is no function', { url, fetch: 'node-fetch' }, 'ERR_OPTION_INVALID'],
    ['a prefix with a slash', { url, prefix: 'a/b' }, 'ERR_OPTION_INVALID'],
    ['an empty prefix', { url, prefix: '' }, 'ERR_OPTION_INVALID'],
    ['an option of another store', { url, table: 'x' }, 'ERR_OPTION_UNKNOWN'],
    ['a misspelt option', { url, durabel: true }, 'ERR_OPTION_UNKNOWN'],
    ['assumeDurable that is no boolean', { url, assumeDurable: 'yes' }, 'ERR_OPTION_INVALID'],
  ])('refuses %s', (_, options, code) => {
    expect(() => make(options)).toThrow(expect.objectContaining({ code }))
  })

  it('refuses assumeDurable: false, and says why', () => {
    expect(() => make({ url, assumeDurable: false })).toThrow(
      /assumeDurable is false; leave it out: .* have no incarnation/,
    )
    expect(make({ url, assumeDurable: true }).durable).toBe(true)
    expect(make({ url }).durable).toBe(true)
  })

  it.each(['http://user:hush@host', 'https://:hush@host', 'hush', 'http://h/?token=hush'])(
    'does not show a URL that it refuses: %s',
    (given) => {
      expect(() => make({ url: given })).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID' }))
      expect(() => make({ url: given })).not.toThrow(/hush/)
    },
  )

  it.each<[string, Answer, string]>([
    [
      'HTML',
      { text: '<!doctype html>\n<title>Sign in</title>' },
      ' answered 200: <!doctype html> <title>Sign in</title>; is this ',
    ],
    ['HTML of many lines', { text: 'a\n'.repeat(1000) }, 'a a a …; is this '],
    ['nothing', { text: '' }, ' answered 200 and nothing else; is this '],
    ['JSON of another service', { text: '{"ok":true}' }, ' answered 200: {"ok":true}; is this '],
    ['null', { text: 'null' }, '; is this '],
    ['that there is no such page', { status: 404, text: 'Not Found' }, ' answered 404: Not Found; is this '],
    ['that it is elsewhere', { status: 301, text: '' }, ' answered 301 and nothing else; is this '],
  ])('says in one line who has answered %s', async (_, answer, said) => {
    const store = make({ url: `${url}/base/`, fetch: answering(answer) })
    const calls = [
      () => store.read('a/1'),
      () => store.list('a/'),
      () => store.write('a/1', 'x', undefined),
      () => store.nowMs?.(),
    ]
    for (const call of calls) {
      const message = await failureOf(call(), 'ERR_STORE_UNAVAILABLE')
      expect(message).toContain(`${store.name === 'etcd' ? 'etcd' : 'Consul'} at ${url}/base answered`)
      expect(message).toContain(said)
      expect(message).not.toContain('\n')
    }
    expect(name).toContain(store.name)
  })

  it.each([408, 429, 500, 503])('reports an answer of %d with its text', async (status) => {
    const store = make({ url, fetch: answering({ status, text: 'no leader' }) })
    await expect(store.read('a/1')).rejects.toThrow(new RegExp(`at ${url} answered ${status}: no leader$`))
  })

  it('says why there was no answer', async () => {
    const reset = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
    const store = make({ url, fetch: failing(reset) })
    await expect(store.read('a/1')).rejects.toThrow(`at ${url} cannot be reached: socket hang up`)
    const many = Object.assign(new AggregateError([new Error('refused by ::1'), new Error('x')]), {
      code: 'ECONNREFUSED',
    })
    await expect(make({ url, fetch: failing(many) }).read('a/1')).rejects.toThrow('reached: refused by ::1')
  })

  const ofTrust = ['cannot be trusted', 'let Node trust its authority (NODE_EXTRA_CA_CERTS), or pass a fetch'] as const
  const ofClient = ['wants a client certificate', 'let a fetch or a client of your own present one'] as const
  it.each<[string, string, string]>([
    ['DEPTH_ZERO_SELF_SIGNED_CERT', ...ofTrust],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', ...ofTrust],
    ['CERT_HAS_EXPIRED', 'cannot be trusted', 'renew the certificate of the server'],
    ['CERT_NOT_YET_VALID', 'cannot be trusted', 'set the clock of this host, by NTP'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'cannot be trusted', 'use a host name that the certificate has'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', ...ofClient],
    ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', ...ofClient],
    ['ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED', ...ofClient],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', ...ofClient],
  ])('names a remedy for %s', async (code, what, remedy) => {
    const store = make({ url, fetch: failing(Object.assign(new Error('x'), { code })) })
    const message = await failureOf(store.read('a/1'), 'ERR_STORE_UNAVAILABLE')
    expect(message).toContain(` ${what}: ${code}; ${remedy}`)
  })

  it('leaves a key that is the folder itself out of a list', async () => {
    // The user interface of Consul makes such a key for a folder.
    const [folder, key, stored] = ['graupel/a/', 'graupel/a/1', `${crypto.randomUUID()}x`]
    const rows = [
      { Key: folder, Value: null, ModifyIndex: 1 },
      { Key: key, Value: btoa(stored), ModifyIndex: 2 },
    ]
    const kvs = [{ key: btoa(folder) }, { key: btoa(key), value: btoa(stored) }]
    const text = JSON.stringify(name === 'etcdStore' ? { header: {}, kvs } : rows)
    const listed = await make({ url, fetch: answering({ text }) }).list('a/')
    expect(listed).toEqual([{ key: 'a/1', value: 'x', version: stored }])
  })

  it('follows no redirect, which would take its credentials elsewhere', async () => {
    const asked: string[] = []
    const server = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.writeHead(307, { location: '/elsewhere' }).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const store = make({ url: `http://127.0.0.1:${(server.address() as { port: number }).port}` })
    await expect(store.read('a/1')).rejects.toThrow(' answered 307 and nothing else; is this ')
    expect(asked).toEqual([expect.stringMatching(/^\/v[13]\/kv/)])
    server.closeAllConnections()
    server.close()
  })

  it('refuses an answer without a Date as a clock', async () => {
    const text = name === 'etcdStore' ? '{"header":{}}' : '[]'
    await expect(make({ url, fetch: answering({ text }) }).nowMs?.()).rejects.toThrow(/null for its Date/)
  })

  describe('with several endpoints', () => {
    const first = 'http://first.test'
    const second = 'http://second.test'
    const empty = name === 'etcdStore' ? '{"header":{}}' : '[]'
    const written = name === 'etcdStore' ? '{"header":{},"succeeded":true}' : 'true'
    const asked: string[] = []
    const fleet = (atFirst: Fetch) => {
      asked.length = 0
      const fetch: Fetch = async (at, init) => {
        asked.push(new URL(at).origin)
        if (at.startsWith(first)) return atFirst(at, init)
        const isWrite = init.method === 'PUT' || at.endsWith('/txn')
        return answering({ text: isWrite ? written : empty })(at, init)
      }
      return make({ url: [first, second], fetch })
    }

    it.each(['CERT_HAS_EXPIRED', 'ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'UND_ERR_CONNECT_TIMEOUT'])(
      'goes on with the next endpoint after %s, even for a write, and stays there',
      async (code) => {
        const store = fleet(failing(Object.assign(new Error('x'), { code })))
        expect(await store.write('a/1', 'x', undefined)).toMatch(/x$/)
        expect(await store.read('a/1')).toBeUndefined()
        expect(asked).toEqual([first, second, second])
      },
    )

    it.each<[string, Fetch]>([
      ['a connection that broke', failing(Object.assign(new Error('x'), { code: 'ECONNRESET' }))],
      [
        'a damaged answer by TLS',
        failing(Object.assign(new Error('x'), { code: 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC' })),
      ],
      ['an answer of 503', answering({ status: 503, text: 'x' })],
    ])('sends a read again after %s, but no write', async (_, atFirst) => {
      const reader = fleet(atFirst)
      expect(await reader.read('a/1')).toBeUndefined()
      expect(asked).toEqual([first, second])
      const writer = fleet(atFirst)
      await expect(writer.write('a/1', 'x', undefined)).rejects.toThrow()
      expect(asked).toEqual([first])
      expect(await writer.write('a/1', 'x', undefined)).toMatch(/x$/)
      expect(asked).toEqual([first, second])
    })

    it('loses one call to an endpoint that does not answer', async () => {
      const store = fleet(silent)
      const calls = callsOf(store, 50)
      const lost = await Promise.allSettled([calls.read('a/1'), calls.read('a/2')])
      expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
      // The callers learn of the two lost calls before the store does.
      await turn()
      expect(await calls.read('a/1')).toBeUndefined()
      expect(await calls.read('a/1')).toBeUndefined()
      expect(asked).toEqual([first, first, second, second])
    })

    it('does not return to an earlier endpoint when a call fails late', async () => {
      const third = 'http://third.test'
      const asked: string[] = []
      const fetch: Fetch = (at, init) => {
        asked.push(new URL(at).origin)
        if (at.startsWith(first)) return silent(at, init)
        if (at.startsWith(second)) return failing(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }))(at, init)
        return answering({ text: empty })(at, init)
      }
      const store = make({ url: [first, second, third], fetch })
      const [early, late] = [new AbortController(), new AbortController()]
      const calls = [early, late].map(({ signal }) => store.read('a/1', signal).catch(() => 'failed'))
      early.abort()
      await calls[0]
      await store.read('a/1')
      late.abort()
      await calls[1]
      await store.read('a/1')
      expect(asked).toEqual([first, first, second, third, third])
    })

    it('asks each endpoint once, and reports the answer of the last', async () => {
      const store = make({
        url: [first, second],
        fetch: failing(Object.assign(new Error('no'), { code: 'ECONNREFUSED' })),
      })
      await expect(store.read('a/1')).rejects.toThrow(`${second} cannot be reached: no`)
    })
  })
})

describe('etcdStore', () => {
  it.each<Options>([{ user: 'u' }, { password: 'p' }, { user: '', password: 'p' }, { user: 'u', password: 7 }])(
    'refuses %j',
    (options) => {
      expect(() => etcdStore({ url, ...options })).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID' }))
    },
  )

  const invalid: [number, string] = [401, 'etcdserver: invalid auth token']
  const old: [number, string] = [400, 'etcdserver: revision of auth store is old']

  /** A server that accepts a token if `isGood` returns true, and issues the tokens `t1`, `t2` and so on. */
  function withTokens(isGood: (token: string) => boolean, [status, said] = invalid) {
    const sent: string[] = []
    const hook = { after: async () => {} }
    const fetch: Fetch = async (at, { headers }) => {
      const token = headers['authorization'] ?? 'none'
      sent.push(`${at.slice(at.lastIndexOf('/') + 1)} ${token}`)
      const answer = (status: number, more: object) =>
        answering({ status, text: JSON.stringify(more) })(at, {} as never)
      if (at.endsWith('authenticate')) {
        return answer(200, { header: {}, token: `t${sent.filter((one) => one.startsWith('auth')).length}` })
      }
      const isRight = isGood(token)
      await hook.after()
      if (isRight) return answer(200, { header: {}, succeeded: true })
      return answer(status, { message: `${said} ${token}` })
    }
    return { sent, hook, store: etcdStore({ url, user: 'u', password: 'hush', fetch }) }
  }

  it.each([invalid, old])(
    'keeps its token, and fetches a new token after %d %s, even for a write',
    async (...refusal) => {
      let good = 't1'
      const { sent, store } = withTokens((token) => token === good, refusal)
      await store.read('a/1')
      await store.write('a/1', 'x', undefined)
      good = 't2'
      expect(await store.write('a/1', 'x', undefined)).toMatch(/x$/)
      await store.read('a/1')
      const all = ['authenticate none', 'range t1', 'txn t1', 'txn t1', 'authenticate none', 'txn t2', 'range t2']
      expect(sent).toEqual(all)
    },
  )

  it('never sends a request without a token while another call fetches one', async () => {
    let good = 't1'
    const { sent, store } = withTokens((token) => token >= good)
    await store.read('a/1')
    good = 't2'
    await Promise.all(Array.from({ length: 5 }, () => store.read('a/1')))
    expect(sent).not.toContain('range none')
  })

  it('uses the token that another call has fetched since', async () => {
    let good = 't1'
    const { sent, store, hook } = withTokens((token) => token === good)
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let isLate = false
    hook.after = async () => {
      if (!isLate) return
      isLate = false
      await held
    }
    await store.read('a/1')
    good = 't2'
    isLate = true
    const late = store.read('a/2')
    await store.read('a/1')
    release()
    await late
    expect(sent.filter((one) => one.startsWith('auth')).length).toBe(2)
    expect(sent.at(-1)).toBe('range t2')
  })

  it('reports that a token was refused twice, and does not show the token', async () => {
    const { sent, store } = withTokens(() => false)
    const message = await failureOf(store.write('a/1', 'x', undefined), 'ERR_STORE_UNAVAILABLE')
    expect(message).toMatch(
      /answered 401: etcdserver: invalid auth token \*\*\*; the users of etcd have changed: try again$/,
    )
    expect(sent.length).toBe(4)
  })

  it.each(['hush', 'hu"s\\h', 'hush\u0001'])(
    'does not show the password %j that another service repeats',
    async (password) => {
      const fetch: Fetch = async (at, init) => answering({ text: `you sent ${init.body}` })(at, init)
      const message = await failureOf(etcdStore({ url, user: 'u', password, fetch }).read('a/1'))
      expect(message).toContain('"password":"***"')
    },
  )
})

describe('consulStore', () => {
  it.each<Options>([
    { token: 7 },
    { token: '' },
    { token: 'hush\n' },
    { token: 'hush ' },
    { datacenter: '' },
    { namespace: {} },
  ])('refuses %j, without showing the token', (options) => {
    expect(() => consulStore({ url, ...options })).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID' }))
    expect(() => consulStore({ url, ...options })).not.toThrow(/hush/)
  })

  it('does not show a token that another service repeats', async () => {
    const fetch: Fetch = async (at, init) => answering({ text: `you sent ${JSON.stringify(init.headers)}` })(at, init)
    const message = await failureOf(consulStore({ url, token: 'hush', fetch }).read('a/1'))
    expect(message).toContain('"x-consul-token":"***"')
  })

  it('names the datacenter, the namespace and the key', async () => {
    const asked: string[] = []
    const fetch: Fetch = async (at, init) => {
      asked.push(`${init.method} ${at.slice(url.length)}`)
      return answering({ text: init.method === 'GET' ? '[]' : 'true' })(at, init)
    }
    const store = consulStore({ url, datacenter: 'dc 2', namespace: 'n', prefix: 'mine', fetch })
    await store.read('a/b?c')
    await store.list('a/')
    await store.write('a/1', 'x', undefined)
    expect(asked).toEqual([
      'GET /v1/kv/mine/a/b%3Fc?consistent=&dc=dc+2&ns=n',
      'GET /v1/kv/mine/a/?consistent=&recurse=&dc=dc+2&ns=n',
      'PUT /v1/kv/mine/a/1?cas=0&dc=dc+2&ns=n',
    ])
  })

  it.each(['a/./1', 'a/../1', '../1', './1', 'a/..', 'a/.', 'a//1', '/1'])(
    'refuses the key %s, which fetch or Consul would read as another key',
    async (key) => {
      const store = consulStore({ url, fetch: () => expect.unreachable('it was sent') })
      const folder = `${key}/`
      const calls = [() => store.read(key), () => store.write(key, 'x', undefined), () => store.list(folder)]
      for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' })
    },
  )

  it('accepts keys and folders that begin or end with dots', async () => {
    const store = consulStore({ url, fetch: answering({ text: '[]' }) })
    for (const key of ['a/...', 'a/.b', 'a./b..', '..a/b']) {
      expect(await store.read(key)).toBeUndefined()
      expect(await store.list(`${key}/`)).toEqual([])
    }
  })
})

interface Answer {
  readonly status?: number
  readonly text: string
}

function answering({ status = 200, text }: Answer): Fetch {
  return async () => ({ status, headers: { get: () => null }, text: async () => text })
}

function failing(cause: Error): Fetch {
  return async () => {
    throw new TypeError('fetch failed', { cause })
  }
}

const silent: Fetch = (_, { signal }) =>
  new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))

async function failureOf(call: Promise<unknown> | undefined, code?: string): Promise<string> {
  const error = await (call as Promise<unknown>).then(
    () => new Error('it was fulfilled'),
    (reason) => reason,
  )
  if (code !== undefined) expect(error).toMatchObject({ code })
  return error.message
}
