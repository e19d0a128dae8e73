import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connections, missingForClient, runLoad, runs, type Server } from './load.ts'

/** Names a missing program or processor that the rows of the Redis protocol need. */
export function missingForResp(): string | undefined {
  const missing = ['redis-benchmark', 'redis-server'].find((program) => !runs(program))
  return missingForClient() ?? (missing === undefined ? undefined : `${missing} (Debian package redis)`)
}

/** Returns a port that no server listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}

interface Target {
  server: Server
  port: number
  /** The command that is repeated: `['INCR', 'orders']`. */
  command: readonly string[]
  /** The number of commands that a connection sends at once. */
  depth: number
}

/**
 * Makes a load for a server that speaks the Redis protocol. Its turns find out how many commands the server
 * answers in a second.
 */
export function respLoad({ server, port, command, depth }: Target) {
  let rate = 20_000
  const turn = async (seconds: number) => {
    const commands = Math.ceil(rate * seconds)
    const flags = ['-p', `${port}`, '-c', `${connections}`, '-P', `${depth}`, '-n', `${commands}`, '--csv', ...command]
    const sample = sampleOf(port, command)
    const beforeUs = server.cpuUs()
    const said = await runLoad(['redis-benchmark', ...flags])
    const cpuUs = (server.cpuUs() - beforeUs) / commands
    const numbers = await sample()
    // The last line has the command, the commands a second, and latencies in milliseconds.
    const [, found, , , , , p99Ms] = said.trim().split('\n').at(-1)?.split('","') ?? []
    if (!(Number(found) > 0)) throw new Error(`redis-benchmark wrote no rate: ${said.trim()}`)
    rate = Number(found)
    return { rate, cpuUs, p99Ms: Number(p99Ms), numbers }
  }
  return async (seconds: number) => {
    // The first turn is too short, because it knows no rate.
    if (rate === 20_000) await turn(seconds)
    return turn(seconds)
  }
}

/**
 * Commands of a sample that are sent at once, and the pause after their replies. They are some per cent of
 * all commands.
 */
const sampleSize = 64
const samplePauseMs = 5

/**
 * Sends commands beside redis-benchmark, which keeps no reply. The returned function ends that, and resolves
 * to the numbers of the replies.
 */
function sampleOf(port: number, command: readonly string[]): () => Promise<BigUint64Array> {
  const words = command.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
  const request = `*${words.length}\r\n${words.join('')}`.repeat(sampleSize)
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  const numbers: bigint[] = []
  let isEnding = false
  const done = (async () => {
    while (!isEnding) {
      socket.write(request)
      let text = ''
      for (let found: string[] = []; found.length < sampleSize; found = text.match(/^:?\d+\r$/gm) ?? []) {
        text += (await once(socket, 'data'))[0]
        if (text.startsWith('-')) throw new Error(`${command.join(' ')} was refused: ${text}`)
      }
      for (const [number] of text.matchAll(/(?<=^:?)\d+(?=\r$)/gm)) numbers.push(BigInt(number))
      await sleep(samplePauseMs)
    }
    socket.destroy()
    return BigUint64Array.from(numbers)
  })()
  // It is awaited at the end of the turn, even if it fails before.
  done.catch(() => {})
  return () => {
    isEnding = true
    return done
  }
}
