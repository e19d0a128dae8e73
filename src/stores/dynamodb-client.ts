import { GraupelError, reasonOf } from '../core/errors.js'
import { answerRemedy, type CallOptions, callOptions, unsentRemedy, withDate } from './aws.js'
import { clientError } from './options.js'

/**
 * A `DynamoDB` of `@aws-sdk/client-dynamodb`, or a `DynamoDBDocument` of `@aws-sdk/lib-dynamodb`, of version
 * 3 of the AWS SDK. A `DynamoDBClient` has no methods for the calls, so it cannot be used.
 */
export type DynamodbClient = DynamodbPlain | DynamodbDocument

interface DynamodbPlain extends Configured {
  getItem(input: Input, options?: CallOptions): Promise<unknown>
  putItem(input: Input, options?: CallOptions): Promise<unknown>
  query(input: Input, options?: CallOptions): Promise<unknown>
  updateItem(input: Input, options?: CallOptions): Promise<unknown>
  deleteItem(input: Input, options?: CallOptions): Promise<unknown>
  describeTable(input: Input, options?: CallOptions): Promise<unknown>
  createTable(input: Input, options?: CallOptions): Promise<unknown>
}
interface DynamodbDocument extends Configured {
  get(input: Input, options?: CallOptions): Promise<unknown>
  put(input: Input, options?: CallOptions): Promise<unknown>
  query(input: Input, options?: CallOptions): Promise<unknown>
  update(input: Input, options?: CallOptions): Promise<unknown>
  delete(input: Input, options?: CallOptions): Promise<unknown>
}
interface Configured {
  readonly config: object
  readonly middlewareStack: { clone(): unknown }
}
// biome-ignore lint/suspicious/noExplicitAny: the SDK has a type for the input of each call
type Input = any

/** An item, an input or an answer, whose properties are read one by one. */
export type Fields = Readonly<Record<string, unknown>>

/** The calls of the store that both clients have, by the names of the API. */
type DynamodbCall = 'GetItem' | 'PutItem' | 'Query' | 'UpdateItem' | 'DeleteItem'

/** The calls that only a `DynamoDB` has. */
type TableCall = 'DescribeTable' | 'CreateTable'

/** Makes the calls of both clients, whose items differ in form. */
export interface DynamodbCalls {
  /** @throws GraupelError `ERR_STORE_UNAVAILABLE` if another server has answered; the client's errors. */
  ask(call: DynamodbCall | TableCall, input: Fields, signal: AbortSignal | undefined): Promise<Fields>
  /** As `ask`. Returns the `Date` of the answer. */
  dateOf(call: DynamodbCall, input: Fields, signal: AbortSignal | undefined): Promise<string | undefined>
  /** Whether the client can describe and create tables. */
  readonly hasTables: boolean
  /** Writes a text as the value of an attribute. */
  text(value: string): unknown
  /** Writes a whole number as the value of an attribute. */
  number(value: bigint): unknown
  /** Reads the text, or the digits, of an attribute; an empty text if there is none. */
  read(item: Fields | undefined, attribute: string): string
  /** The region of the client. */
  region(): Promise<string>
}

const methods: Readonly<Record<DynamodbCall, readonly [plain: string, document: string]>> = {
  GetItem: ['getItem', 'get'],
  PutItem: ['putItem', 'put'],
  Query: ['query', 'query'],
  UpdateItem: ['updateItem', 'update'],
  DeleteItem: ['deleteItem', 'delete'],
}

/** @throws TypeError `ERR_OPTION_INVALID` */
export function callsOf(client: DynamodbClient): DynamodbCalls {
  const has = (name: string) => typeof Object(client)[name] === 'function'
  const isPlain = Object.values(methods).every(([plain]) => has(plain))
  const isDocument = Object.values(methods).every(([, document]) => has(document))
  // Version 2 of the SDK has the methods as well, which return no promise.
  if (!(isPlain || isDocument) || typeof client.middlewareStack?.clone !== 'function') {
    throw clientError(
      'DynamoDB',
      client,
      'a DynamoDB of @aws-sdk/client-dynamodb, or a DynamoDBDocument of @aws-sdk/lib-dynamodb',
    )
  }
  const methodOf = (call: DynamodbCall | TableCall) => {
    if (call === 'DescribeTable' || call === 'CreateTable')
      return call === 'DescribeTable' ? 'describeTable' : 'createTable'
    return methods[call][isPlain ? 0 : 1]
  }
  type Methods = Record<string, (input: Fields, options: CallOptions) => Promise<Fields>>
  const send = async (
    on: DynamodbClient,
    call: DynamodbCall | TableCall,
    input: Fields,
    signal: AbortSignal | undefined,
  ): Promise<Fields> => {
    signal?.throwIfAborted()
    const answer = await (on as never as Methods)[methodOf(call)]?.(input, callOptions(signal))
    // The SDK takes any JSON for an answer: an empty object would be a write that has landed.
    const { requestId } = Object(answer?.['$metadata']) as { requestId?: unknown }
    if (answer === undefined || typeof requestId !== 'string')
      throw notDynamodb(`an answer to ${call} without a request id`)
    return answer
  }
  return {
    ask: (call, input, signal) => send(client, call, input, signal),
    async dateOf(call, input, signal) {
      return (await withDate(client, (own) => send(own, call, input, signal))).date
    },
    hasTables: isPlain && has('describeTable') && has('createTable'),
    text: (value) => (isPlain ? { S: value } : value),
    number: (value) => (isPlain ? { N: `${value}` } : value),
    read(item, attribute) {
      const found = item?.[attribute]
      // By `wrapNumbers`, a DynamoDBDocument reads a number as an object with its digits.
      const { S = undefined, N = S, value = N } = Object(found)
      return typeof found === 'object' ? `${value ?? ''}` : `${found ?? ''}`
    },
    async region() {
      const { region } = client.config as { region?: string | (() => Promise<string>) }
      return `${typeof region === 'function' ? await region() : region}`
    },
  }
}

function notDynamodb(said: string, cause?: unknown): GraupelError {
  return new GraupelError(
    'ERR_STORE_UNAVAILABLE',
    `DynamoDB cannot be used (${said}); is this DynamoDB? check the endpoint of the client`,
    { cause },
  )
}

/** The name of the error of a call whose table is missing. */
export const missing = 'ResourceNotFoundException'

export function nameOf(error: unknown): unknown {
  return Object(error).name
}

/** The remedies of errors that another attempt would meet again, by name and text; then those of AWS. */
const remedies: readonly (readonly [RegExp, string])[] = [
  [/^AccessDenied/, 'allow this action on the table; docs/stores/dynamodb.md has a policy'],
  [/does not match the schema/, 'pass the name of a table that setup() has created'],
]

/** Explains an error that a user has to act on. Returns any other error unchanged. */
export function explained(error: unknown): unknown {
  const { name, $metadata } = Object(error) as { name?: string; $metadata?: { httpStatusCode?: number } }
  const status = $metadata?.httpStatusCode ?? 500
  // The SDK could not read the answer.
  if (status < 500 && (name === 'SyntaxError' || name === 'Unknown')) {
    return notDynamodb(`an answer of ${status}: ${reasonOf(error).replace(/ Deserialization error:.*/, '')}`, error)
  }
  const text = `${name}: ${reasonOf(error)}`
  const remedy = remedies.find(([reason]) => reason.test(text))?.[1] ?? unsentRemedy(error) ?? answerRemedy(text)
  if (remedy === undefined) return error
  return new GraupelError('ERR_STORE_UNAVAILABLE', `DynamoDB cannot be used (${text}); ${remedy}`, { cause: error })
}
