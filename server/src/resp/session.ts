import { shown } from '../failure.js'
import type { Client, Tokens } from '../http/tokens.js'
import type { Sources } from './demands.js'
import { bulk, integer, list, map, nothing, type Protocol, Refused, simple } from './replies.js'

/** The state of a connection that commands read and change. */
export interface Session {
  readonly id: number
  /** The address of the client. */
  readonly remote: string | undefined
  protocol: Protocol
  name: string
  /** The header that a request over HTTP with the client's token would have. */
  authorization: string | undefined
  /** The tokens that were found to have it, and its owner. */
  allowedBy: Tokens | undefined
  client: Client | undefined
  /** Whether `MULTI` came and its `EXEC` did not. */
  isInTransaction: boolean
  isEnding: boolean
}

/** The state of a new connection, which `RESET` restores. */
export const fresh = {
  protocol: 2,
  name: '',
  authorization: undefined,
  allowedBy: undefined,
  client: undefined,
  isInTransaction: false,
} as const satisfies Partial<Session>

/** The version of Redis whose commands clients may expect. Clients choose their first commands by it. */
export const redisVersion = '7.0.0'

/** `HELLO`. @throws Refused */
export function hello([, version, ...rest]: readonly string[], session: Session, sources: Sources): string {
  if (version !== undefined && version !== '2' && version !== '3') {
    throw new Refused('NOPROTO', 'unsupported protocol version: the service speaks 2 and 3')
  }
  let token: string | undefined
  let name = session.name
  for (let words = [...rest]; words.length > 0; ) {
    const [option = '', ...values] = words
    const kind = option.toUpperCase()
    if (kind === 'AUTH' && values.length >= 2) token = values[1] as string
    else if (kind === 'SETNAME' && values.length >= 1) name = values[0] as string
    else throw new Refused('ERR', `Syntax error in HELLO option ${shown(option)}; give AUTH USER TOKEN or SETNAME NAME`)
    words = values.slice(kind === 'AUTH' ? 2 : 1)
  }
  // Only now, so that a command that is refused changes nothing.
  if (token !== undefined) authenticate(token, session, sources)
  if (!isAllowed(session, sources)) {
    throw new Refused('NOAUTH', 'HELLO must be called with AUTH, a user and a token of the service')
  }
  session.name = name
  if (version !== undefined) session.protocol = version === '3' ? 3 : 2
  const { protocol, id } = session
  return map(
    {
      server: bulk('graupel'),
      version: bulk(redisVersion),
      proto: integer(protocol),
      id: integer(id),
      mode: bulk('standalone'),
      role: bulk('master'),
      modules: list([]),
    },
    protocol,
  )
}

/** `AUTH`. @throws Refused */
export function authenticate(token: string, session: Session, { tokens }: Sources): void {
  if (tokens === undefined) throw new Refused('ERR', 'AUTH came, and the service has no tokens; leave AUTH out')
  const authorization = `Bearer ${token}`
  const client = tokens.value.clientOf(authorization)
  if (client === undefined) throw new Refused('WRONGPASS', 'the service does not know the token')
  if (!client.rights.includes('ids')) throw new Refused('WRONGPASS', `the token of ${client.name} does not allow ids`)
  Object.assign(session, { authorization, client, allowedBy: tokens.value })
}

/**
 * Tells whether the client has given a token that is still valid. The file of the tokens may have changed
 * since.
 */
export function isAllowed(session: Session, { tokens }: Sources): boolean {
  if (tokens === undefined || session.allowedBy === tokens.value) return true
  session.client = tokens.value.clientOf(session.authorization)
  if (session.client?.rights.includes('ids') !== true) return false
  session.allowedBy = tokens.value
  return true
}

/** `CLIENT`. @throws Refused */
export function client([, part = '', value]: readonly string[], session: Session): string {
  switch (part.toUpperCase()) {
    case 'ID':
      return integer(session.id)
    case 'GETNAME':
      return session.name === '' ? nothing(session.protocol) : bulk(session.name)
    case 'SETNAME':
      session.name = value ?? ''
      return simple('OK')
    case 'SETINFO':
      return simple('OK')
    case 'TRACKING':
      throw new Refused(
        'ERR',
        'CLIENT TRACKING came, and a client that caches replies would repeat ids; switch client-side caching off',
      )
    default:
      throw new Refused('ERR', `unknown subcommand ${shown(part)}; use ID, GETNAME, SETNAME or SETINFO`)
  }
}
