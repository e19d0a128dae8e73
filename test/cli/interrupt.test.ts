import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'

const program = `
  const { interruptible } = await import(process.argv[1])
  let nowMs = 0
  performance.now = () => nowMs
  await interruptible(async (signal) => {
    const timer = setInterval(() => {}, 1000)
    process.stdout.write('begun')
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    nowMs += Number(process.argv[2])
    const again = new Promise((resolve) => process.once('SIGINT', resolve))
    process.stdout.write(', told')
    await again
    clearInterval(timer)
    process.stdout.write(', and ended')
  })
`
const module = new URL('../../src/cli/interrupt.ts', import.meta.url).href

/**
 * Interrupts a command twice, the second time `afterMs` later by the clock of the command. The command's work
 * ends with the second signal, unless that ends the process.
 */
async function interruptedTwice(afterMs: number, second: 'SIGINT' | 'SIGTERM') {
  const words = ['--import', 'tsx', '--input-type=module', '-e', program, module, `${afterMs}`]
  const child = spawn(process.execPath, words)
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    if (`${said}${text}`.includes('begun') && !said.includes('begun')) child.kill('SIGINT')
    if (`${said}${text}`.includes('told') && !said.includes('told')) child.kill(second)
    said += text
  })
  const [, signal] = await once(child, 'close')
  return { signal, said }
}

describe.skipIf(process.platform === 'win32')('a command that is interrupted', () => {
  it('ends its work, even if a wrapper sends the signal again', async () => {
    expect(await interruptedTwice(200, 'SIGINT')).toEqual({ signal: 'SIGINT', said: 'begun, told, and ended' })
  })

  it('ends at once with a second signal', async () => {
    expect(await interruptedTwice(201, 'SIGTERM')).toEqual({ signal: 'SIGTERM', said: 'begun, told' })
  })
})
