import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { host } from './kinds/kind.ts'

/** An error that DynamoDB answers. */
export interface Refusal {
  readonly type: string
  readonly message: string
}

/** A server before dynalite that counts the calls, and refuses calls with errors as DynamoDB has them. */
export interface Gate {
  readonly port: number
  /** The actions that were asked for, such as `GetItem`, in their order. */
  readonly actions: string[]
  /** The longest item that was written, in bytes of its JSON. */
  longestItem(): number
  /** Decides which calls are refused. At first no call is. */
  refuse: (action: string) => Refusal | undefined
  stop(): void
}

export async function startGate(behind: number): Promise<Gate> {
  const actions: string[] = []
  let longest = 0
  const gate: Gate = {
    get port() {
      return (server.address() as AddressInfo).port
    },
    actions,
    longestItem: () => longest,
    refuse: () => undefined,
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
  const server = createServer(async (asked, answer) => {
    const body = await buffer(asked)
    const action = `${asked.headers['x-amz-target']}`.replace(/^.*\./, '')
    actions.push(action)
    if (action === 'PutItem') longest = Math.max(longest, JSON.stringify(JSON.parse(`${body}`).Item).length)
    const refusal = gate.refuse(action)
    if (refusal !== undefined) {
      answer.writeHead(400, { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-requestid': 'R1' })
      return answer.end(JSON.stringify({ __type: refusal.type, Message: refusal.message, message: refusal.message }))
    }
    const { method, url, headers } = asked
    request({ host, port: behind, method, path: url, headers }, (answered) => {
      answer.writeHead(answered.statusCode ?? 0, answered.headers)
      answered.pipe(answer)
    })
      .on('error', () => answer.destroy())
      .end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  return gate
}

/** The refusal of a user without the right to an action. */
export function denied(action: string): Refusal {
  const who = 'User: arn:aws:iam::123456789012:user/ids'
  const what = `dynamodb:${action} on resource: arn:aws:dynamodb:eu-west-1:123456789012:table/graupel_store`
  return {
    type: 'com.amazon.coral.service#AccessDeniedException',
    message: `${who} is not authorized to perform: ${what} because no identity-based policy allows the dynamodb:${action} action`,
  }
}
