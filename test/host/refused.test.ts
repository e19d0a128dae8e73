import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { freshNamespace } from '../support/engines.ts'
import { describeWith } from '../support/needs.ts'
import { cleanUp, failure, Obedient, type Plan, stateFolder } from '../support/processes.ts'

// State files that are refused, and the messages. No refused file is changed or made again.

afterEach(cleanUp)

/** A process, and the state file of its closed generator. */
async function left(): Promise<{ process: Obedient; own: Plan; state: string; aside: string }> {
  const { folder, state } = stateFolder()
  const own: Plan = { node: 1, namespace: freshNamespace(), state }
  const process = new Obedient()
  await process.open(own)
  await process.close()
  return { process, own, state, aside: join(folder, 'aside') }
}

describeWith(['native', 'linux'], 'a state file', () => {
  it.each([
    [
      'that is a symbolic link',
      /a symbolic link/,
      (state: string, aside: string) => {
        renameSync(state, aside)
        symlinkSync(aside, state)
      },
    ],
    [
      'that leads nowhere',
      /a symbolic link/,
      (state: string, aside: string) => {
        renameSync(state, `${aside}-too`)
        symlinkSync(aside, state)
      },
    ],
    ['with a second name', /by a hard link/, (state: string, aside: string) => linkSync(state, aside)],
    [
      'that is a folder',
      /a folder/,
      (state: string, aside: string) => {
        renameSync(state, aside)
        mkdirSync(state)
      },
    ],
    [
      'that is a pipe',
      /not a plain file/,
      (state: string, aside: string) => {
        renameSync(state, aside)
        execFileSync('mkfifo', ['-m', '600', state])
      },
    ],
    ['that others may read', /by its mode 0640/, (state: string) => chmodSync(state, 0o640)],
    ['that others may write', /by its mode 0602/, (state: string) => chmodSync(state, 0o602)],
  ])('%s is refused as unsafe', async (_, message, make) => {
    const { process, own, state, aside } = await left()
    make(state, aside)
    const error = await failure(process.open(own))
    expect(error).toMatchObject({ code: 'ERR_STATE_UNSAFE', message: expect.stringMatching(message) })
    expect(error.message).toContain(state)
  })

  it.each([
    ['empty', /has 0 bytes and not 8192/, (state: string) => truncateSync(state, 0)],
    ['short by one byte', /has 8191 bytes/, (state: string) => truncateSync(state, 8191)],
    ['longer by one byte', /has 8193 bytes/, (state: string) => truncateSync(state, 8193)],
    ['of something else', /does not begin as one/, (state: string) => writeFileSync(state, ' '.repeat(8192))],
    ['with a wrong byte in its header', /checksum of its first part/, (state: string) => flip(state, 13)],
    ['with a wrong byte in its key', /checksum of its first part/, (state: string) => flip(state, 100)],
    ['with a wrong byte in its record', /checksum of its record/, (state: string) => flip(state, 4096 + 60)],
    ['with a wrong checksum', /checksum of its record/, (state: string) => flip(state, 4096 + 84)],
  ])('%s is refused as damaged, and stays as it is', async (_, message, damage) => {
    const { process, own, state } = await left()
    damage(state)
    const before = readFileSync(state)
    const error = await failure(process.open(own))
    expect(error).toMatchObject({ code: 'ERR_STATE_CORRUPT', message: expect.stringMatching(message) })
    expect(error.message).toMatch(/; delete it once the clock has certainly passed its last id$/)
    expect(readFileSync(state).equals(before)).toBe(true)
  })

  it.each([
    ['node', { node: 2 }, /node 1, .* not for layout 'twitter' .* node 2,/],
    ['epoch', { epochMs: 1_500_000_000_000 }, /epoch 1288834974657, .* not for .* epoch 1500000000000,/],
    ['layout', { layout: 'sonyflake' }, /layout 'twitter' \(.* not for layout 'sonyflake' \(/],
    [
      'namespace',
      { namespace: `test ${process.pid} of another one` },
      /namespace 'test .* not for .* namespace 'test \d+ of another one'/,
    ],
  ] satisfies [string, Plan, RegExp][])('of another %s is refused, and both are named', async (_, other, message) => {
    const { process, own, state } = await left()
    const before = readFileSync(state)
    const error = await failure(process.open({ ...own, ...other }))
    expect(error).toMatchObject({ code: 'ERR_STATE_MISMATCH', message: expect.stringMatching(message) })
    expect(readFileSync(state).equals(before)).toBe(true)
    await process.open(own)
  })

  it('in a folder that does not exist is refused, and so is the folder made for it', async () => {
    const { folder } = stateFolder()
    const error = await failure(
      new Obedient().open({ node: 1, namespace: freshNamespace(), state: join(folder, 'none', 'ids.state') }),
    )
    expect(error).toMatchObject({ code: 'ERR_STATE_UNAVAILABLE', causeCode: 'ENOENT' })
  })
})

describeWith(['native', 'linux', 'root'], 'a state file', () => {
  it('of another user is refused as unsafe', async () => {
    const { process, own, state } = await left()
    chownSync(state, 65534, 65534)
    const error = await failure(process.open(own))
    expect(error).toMatchObject({ code: 'ERR_STATE_UNSAFE', message: expect.stringMatching(/owned by user 65534/) })
  })
})

function flip(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
  writeFileSync(path, bytes)
}
