import { createServer, Socket } from 'node:net'

/** A proxy between a client and a server, which can lose replies. */
export interface LossyProxy {
  readonly port: number
  /** The number of lost replies. */
  readonly cuts: number
  /**
   * Forwards the next message with this text, and then closes the connection instead of forwarding the reply.
   *
   * @param kept - How much of the reply is forwarded before: 0.5 for the first half. @default 0
   */
  cutReplyTo(text: string, kept?: number): void
  /**
   * Holds all data in both directions until the returned function is called, which forwards the data. The
   * server sees no new connection meanwhile, and later only those that their clients have kept.
   */
  hold(): () => void
  /**
   * Drops all further data of the present connections, as a network does that has forgotten them. New
   * connections work. Throws if there is no connection.
   */
  silence(): void
  close(): void
}

/** @param serverPort - The port of the server, or a function that is asked at each connection. */
export async function startProxy(serverPort: number | (() => number)): Promise<LossyProxy> {
  const sockets = new Set<Socket>()
  const silent = new Set<Socket>()
  let marker: string | undefined
  let part = 0
  let cuts = 0
  let isHolding = false
  /** For each connection, the functions that forward its data when the data are released. */
  const held = new Map<Socket, (() => void)[]>()
  const server = createServer((near) => {
    const far = new Socket()
    const pass = (action: () => void) => {
      if (!isHolding) return action()
      const actions = held.get(near) ?? []
      held.set(near, actions)
      actions.push(action)
    }
    let isSeen = false
    pass(() => {
      isSeen = true
      far.connect(typeof serverPort === 'number' ? serverPort : serverPort(), '127.0.0.1')
    })
    let isCutting = false
    const end = () => {
      near.destroy()
      far.destroy()
    }
    near.on('data', (data) =>
      pass(() => {
        if (silent.has(near)) return
        if (marker !== undefined && data.includes(marker)) {
          marker = undefined
          isCutting = true
        }
        far.write(data)
      }),
    )
    far.on('data', (data) =>
      pass(() => {
        if (silent.has(near)) return
        if (!isCutting) return near.write(data)
        cuts++
        if (part === 0) return end()
        near.end(data.subarray(0, data.length * part))
        silent.add(near)
      }),
    )
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        silent.delete(socket)
        if (isSeen) {
          // The connection ends after the held data.
          pass(end)
          return
        }
        held.delete(near)
        end()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    get cuts() {
      return cuts
    },
    cutReplyTo(text, kept = 0) {
      marker = text
      part = kept
    },
    hold() {
      isHolding = true
      return () => {
        isHolding = false
        const released = [...held.values()]
        held.clear()
        for (const action of released.flat()) action()
      }
    },
    silence() {
      if (sockets.size === 0) throw new Error('no connection could go silent')
      for (const socket of sockets) silent.add(socket)
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
