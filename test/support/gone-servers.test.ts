import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { start } from '../stores/servers.ts'
import { throwIfServerIsGone } from './gone-servers.ts'
import { until } from './until.ts'

/** A server that ends by itself as soon as a client sends something. */
const program = `
  require('node:net').createServer((socket) => {
    socket.on('data', () => {
      console.error('out of memory')
      process.exit(3)
    })
  }).listen(process.argv[1], '127.0.0.1')
`

const begin = () => start({ program: process.execPath, words: (port) => ['-e', program, `${port}`] })

it('a server that a test ends, or starts again, is not missed', async () => {
  const server = await begin()
  await server.restart()
  await server.signal('SIGKILL')
  await server.stop()
  expect(throwIfServerIsGone).not.toThrow()
})

it('a wait for a server that has ended fails at once, with the exit code and the log', async () => {
  const { port } = await begin()
  connect(port, '127.0.0.1')
    .on('error', () => {})
    .write('die')
  await expect(until(() => false)).rejects.toThrow(/ended with 3, which no test wanted.*out of memory/s)
})

it.fails('each later test of its file fails', () => {})
