import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Random } from './random.ts'

/** A message of Maelstrom's protocol. */
export interface Message {
  readonly src: string
  readonly dest: string
  readonly body: {
    readonly type: string
    readonly msg_id?: number
    readonly in_reply_to?: number
    readonly id?: unknown
  }
}

interface NodeProcess {
  child: ChildProcess
  /** Whether messages to and from it are lost. */
  isCutOff: boolean
  readonly errors: string[]
}

/**
 * Starts nodes of a workload and carries their messages, as Maelstrom does: it may lose them, send them
 * twice, and kill nodes.
 */
export class Network {
  readonly #command: readonly string[]
  readonly #environment: Readonly<Record<string, string>>
  readonly #random: Random
  readonly #nodes = new Map<string, NodeProcess>()
  /** The requests that wait for an answer, by their numbers. */
  readonly #waiting = new Map<
    number,
    { readonly node: NodeProcess; resolve(reply: Message['body'] | undefined): void }
  >()
  /** All messages that nodes have sent, those that were lost too. */
  readonly sent: Message[] = []
  lost = 0
  doubled = 0
  #lastId = 0

  constructor(command: readonly string[], environment: Readonly<Record<string, string>>, random: Random) {
    this.#command = command
    this.#environment = environment
    this.#random = random
  }

  /** Starts a node, or starts it again, and tells it its name. */
  async start(name: string, all: readonly string[]): Promise<void> {
    const [program = '', ...words] = this.#command
    const child = spawn(program, words, {
      env: { ...process.env, ...this.#environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const node: NodeProcess = { child, isCutOff: false, errors: [] }
    this.#nodes.set(name, node)
    child.stdin?.on('error', () => {})
    child.stderr?.setEncoding('utf8').on('data', (text: string) => node.errors.push(text))
    createInterface({ input: child.stdout as NonNullable<typeof child.stdout> }).on('line', (line) => {
      const message = JSON.parse(line) as Message
      this.sent.push(message)
      if (this.#isLost(node)) return
      this.#waiting.get(message.body.in_reply_to ?? -1)?.resolve(message.body)
    })
    const reply = await this.ask(name, { type: 'init', node_id: name, node_ids: all })
    if (reply?.type !== 'init_ok') throw new Error(`${name} answered ${JSON.stringify(reply)}: ${node.errors.join('')}`)
  }

  /** Sends a request and resolves to its answer, or to `undefined` if the request or the answer was lost. */
  async ask(
    name: string,
    body: { readonly type: string } & Record<string, unknown>,
  ): Promise<Message['body'] | undefined> {
    const node = this.#nodes.get(name) as NodeProcess
    if (this.#isLost(node)) return undefined
    const id = ++this.#lastId
    const answer = new Promise<Message['body'] | undefined>((resolve) => this.#waiting.set(id, { node, resolve }))
    const line = `${JSON.stringify({ src: 'c1', dest: name, body: { ...body, msg_id: id } })}\n`
    const isDouble = this.#random() < 0.1
    if (isDouble) this.doubled++
    node.child.stdin?.write(isDouble ? line + line : line)
    return answer.finally(() => this.#waiting.delete(id))
  }

  /** Cuts a node off from its clients, or connects it again. */
  cutOff(name: string, isCutOff: boolean): void {
    const node = this.#nodes.get(name) as NodeProcess
    node.isCutOff = isCutOff
    if (isCutOff) this.#giveUp(node)
  }

  async kill(name: string): Promise<void> {
    const node = this.#nodes.get(name) as NodeProcess
    node.child.kill('SIGKILL')
    await once(node.child, 'close')
    this.#giveUp(node)
  }

  destroy(): void {
    for (const { child } of this.#nodes.values()) child.kill('SIGKILL')
  }

  /** Ends the input of all nodes and resolves to their exit codes. */
  async end(): Promise<unknown[]> {
    return Promise.all(
      [...this.#nodes.values()].map(async ({ child }) => {
        const ended = once(child, 'close')
        child.stdin?.end()
        return (await ended)[0]
      }),
    )
  }

  /** Tells the clients of a node that no answer will come. */
  #giveUp(node: NodeProcess): void {
    for (const waiting of this.#waiting.values()) if (waiting.node === node) waiting.resolve(undefined)
  }

  #isLost({ isCutOff }: NodeProcess): boolean {
    if (isCutOff) this.lost++
    return isCutOff
  }
}
