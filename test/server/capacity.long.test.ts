import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { folder, serve } from './support/process.ts'

// Measures what docs/service-operations.md says under "Connections and memory".

const connections = 2000

/** Returns the memory of a process in kB. */
function memoryOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

/**
 * Sends a request on each of many connections, which stay open, and returns the memory that each takes, in
 * kB.
 */
async function memoryOfEach(flags: readonly string[], open: (port: number) => Socket): Promise<number> {
  const { url, pid, child, ended } = await serve(['--data', join(folder, `memory ${flags.length}`), ...flags])
  const port = Number(new URL(url).port)
  const ask = (socket: Socket) =>
    new Promise<void>((resolve, reject) => {
      socket.once('data', () => resolve()).once('error', reject)
      socket.write('GET /v1/ids HTTP/1.1\r\nHost: localhost\r\n\r\n')
    })
  // The first requests compile code and fill caches.
  for (let times = 0; times < 200; times++) {
    const socket = open(port)
    await ask(socket)
    socket.destroy()
  }
  const before = memoryOf(pid)
  const held: Socket[] = []
  for (let at = 0; at < connections; at++) {
    const socket = open(port)
    await ask(socket)
    held.push(socket)
  }
  const each = (memoryOf(pid) - before) / connections
  for (const socket of held) socket.destroy()
  child.kill('SIGKILL')
  await ended
  return each
}

describeWith(['linux', 'openssl'], 'the memory of an open connection', () => {
  test('is some 8 kB without TLS', async () => {
    expect(await memoryOfEach([], (port) => connect(port, '127.0.0.1'))).toBeLessThan(16)
  })

  test('is some 50 kB with TLS', async () => {
    const [cert, key] = [join(folder, 'capacity.crt'), join(folder, 'capacity.key')]
    const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost'
    execFileSync('openssl', [...words.split(' '), '-keyout', key, '-out', cert], { stdio: 'ignore' })
    const each = await memoryOfEach(['--tls-cert', cert, '--tls-key', key], (port) =>
      connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }),
    )
    expect(each).toBeGreaterThan(16)
    expect(each).toBeLessThan(75)
  })
})
