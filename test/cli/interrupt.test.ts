import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'

const program = `
  const { interruptible } = await import(process.argv[1])
  await interruptible(async (signal) => {
    process.stdout.write('begun')
    const timer = setInterval(() => {}, 1000)
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    if (process.argv[2] === 'end') await new Promise((resolve) => setTimeout(resolve, 100))
    else await new Promise(() => {})
    clearInterval(timer)
    process.stdout.write(', and ended')
  })
`
const module = new URL('../../src/cli/interrupt.ts', import.meta.url).href

/** A command that is under way, and ends its work 100 ms after a signal or never. */
async function command(how: 'end' | 'hang') {
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program, module, how])
  const closed = once(child, 'close')
  await once(child.stdout, 'readable')
  const said = text(child.stdout)
  return { child, ended: async () => ({ signal: (await closed)[1], said: await said }) }
}

describe.skipIf(process.platform === 'win32')('a command that is interrupted', () => {
  it('ends its work, also where a wrapper sends the signal once more', async () => {
    const { child, ended } = await command('end')
    child.kill('SIGINT')
    await new Promise((resolve) => setTimeout(resolve, 5))
    child.kill('SIGINT')
    expect(await ended()).toEqual({ signal: 'SIGINT', said: 'begun, and ended' })
  })

  it('ends at once with a second signal', async () => {
    const { child, ended } = await command('hang')
    child.kill('SIGINT')
    const again = setInterval(() => child.kill('SIGTERM'), 50)
    expect(await ended()).toEqual({ signal: 'SIGTERM', said: 'begun' })
    clearInterval(again)
  })
})
