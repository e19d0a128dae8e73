import { reasonOf } from '../core/errors.js'

// The parts that the stores on clients of the AWS SDK share. Azure's client has the same option for signals.

/** The options of a call of a client. */
export interface CallOptions {
  readonly abortSignal?: AbortSignal
}

export function callOptions(signal: AbortSignal | undefined): CallOptions {
  return signal === undefined ? {} : { abortSignal: signal }
}

/** The parts of a middleware stack of the SDK that are used. */
interface Stack {
  add(middleware: (next: Next) => Next, options: object): void
}
type Next = (given: unknown) => Promise<{ readonly response?: { readonly headers?: Readonly<Record<string, string>> } }>

/**
 * Makes a call, and also returns the `Date` of its answer, which the outputs of the SDK lack.
 *
 * @param call - Makes the call on the client that it gets: the user's client with another stack of
 * middleware, so that the user's client stays as it is.
 */
export async function withDate<C extends object, T>(
  client: C,
  call: (own: C) => Promise<T>,
): Promise<{ readonly output: T; readonly date: string | undefined }> {
  let date: string | undefined
  const stack = (client as { middlewareStack?: { clone(): Stack } }).middlewareStack?.clone()
  const seeDate =
    (next: Next): Next =>
    async (given) => {
      const answer = await next(given)
      date = answer.response?.headers?.['date']
      return answer
    }
  // With this priority it is next to the network, so it sees the answer as it came.
  stack?.add(seeDate, { step: 'deserialize', priority: 'low', name: 'graupelDate', override: true })
  const own = stack === undefined ? client : Object.create(client, { middlewareStack: { value: stack } })
  return { output: await call(own), date }
}

/** The remedies of errors of the SDK before it sends a request. */
const unsent: readonly (readonly [RegExp, string])[] = [
  // The second name is of @azure/identity.
  [/CredentialsProviderError|CredentialUnavailable|Could not load .*credentials/i, 'give the client credentials'],
  [/Region is missing/, 'give the client a region'],
]

/** The remedies of answers about clock, credentials and region. The first pattern that matches counts. */
const answered: readonly (readonly [RegExp, string])[] = [
  [/RequestTimeTooSkewed|RequestExpired|Signature (expired|not yet current)/, 'set the clock of this host, by NTP'],
  [/ExpiredToken|TokenRefreshRequired|InvalidToken/, 'renew the credentials'],
  [/AuthorizationHeaderMalformed|valid region/, 'correct the region'],
  [
    /InvalidAccessKeyId|SignatureDoesNotMatch|UnrecognizedClient|InvalidSignature|IncompleteSignature|MissingAuthenticationToken|InvalidClientTokenId/,
    'check the credentials',
  ],
]

/** Returns what to do about an error of the SDK for which no request was sent. */
export function unsentRemedy(error: unknown): string | undefined {
  return find(unsent, `${Object(error).name} ${reasonOf(error)}`)
}

/** Returns what to do about an answer of AWS, by its code and its message. */
export function answerRemedy(text: string): string | undefined {
  return find(answered, text)
}

function find(remedies: readonly (readonly [RegExp, string])[], text: string): string | undefined {
  return remedies.find(([reason]) => reason.test(text))?.[1]
}
