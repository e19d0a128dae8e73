import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { layouts } from 'graupel'
import { decodeUuid } from 'graupel/uuid'
import { afterAll, expect, it } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { seededRandom } from '../support/random.ts'

// Processes make UUIDs of one node at once, are killed and started again, on both engines. Compares
// three million; for more, which take 8 bytes of memory each:
//
//   GRAUPEL_UUIDS=100000000 npx vitest run --mode long test/uuid/processes.long.test.ts

const wanted = Number(process.env['GRAUPEL_UUIDS'] ?? 3_000_000)
const program = fileURLToPath(new URL('programs/maker.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'graupel-uuids-'))
afterAll(() => rmSync(folder, { recursive: true }))

const random = seededRandom('processes that make UUIDs')
const files: string[] = []

const sizeOf = (file: string) => (existsSync(file) ? Math.floor(statSync(file).size / 16) : 0)

/** Makes so many UUIDs or more on a node, by processes of which the first four are killed. */
async function make(engine: 'native' | 'js', node: number, count: number): Promise<number> {
  let kills = 0
  for (let left = count; kills < 4 || left > 0; ) {
    const file = join(folder, `${files.length}`)
    files.push(file)
    const env = { ...process.env, GRAUPEL_ENGINE: engine }
    const isKilled = kills < 4
    // A process that is to be killed does not end by itself, however late the kill comes.
    const child: ChildProcess = spawn(process.execPath, [program, `${node}`, `${isKilled ? Infinity : left}`, file], {
      env,
      stdio: 'inherit',
    })
    const ended = once(child, 'exit')
    const killAt = Math.floor((0.3 + 0.4 * random()) * (count / 5))
    while (isKilled && child.exitCode === null && sizeOf(file) < killAt)
      await new Promise((done) => setTimeout(done, 5))
    if (isKilled && child.kill('SIGKILL')) kills++
    const [code, signal] = await ended
    if (signal === null) expect(code).toBe(0)
    left -= sizeOf(file)
  }
  return kills
}

const base = Date.now()

/**
 * Appends time, sequence and node of the UUIDs in a file, which decide whether two are equal. Returns how
 * many are not above the one before.
 */
function load(file: string, keys: Uint32Array, at: number): { end: number; disordered: number } {
  const bytes = readFileSync(file)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let disordered = 0
  let [lastHigh, lastLow] = [-1, -1]
  // A killed process may leave a part of a UUID.
  for (let i = 0; i + 16 <= bytes.length; i += 16) {
    const high = view.getUint32(i) * 2 ** 16 + view.getUint16(i + 4) - base
    // The lower twelve bits of the first half, and the ten upper bits below the variant.
    const low = (view.getUint16(i + 6) & 0xfff) * 2 ** 10 + ((view.getUint16(i + 8) >>> 4) & 0x3ff)
    if (high < lastHigh || (high === lastHigh && low <= lastLow)) disordered++
    ;[lastHigh, lastLow] = [high, low]
    keys[at++] = low
    keys[at++] = high
  }
  return { end: at, disordered }
}

describeWith(['native', 'linux'], 'UUIDs', () => {
  it('of processes that run at once, are killed and start again, on both engines, are distinct and in order', async () => {
    const each = Math.ceil(wanted / 3)
    // The js engine has a node for itself.
    const kills = await Promise.all([make('native', 1, each), make('native', 1, each), make('js', 2, each)])
    expect(Math.min(...kills)).toBe(4)
    const total = files.reduce((sum, file) => sum + sizeOf(file), 0)
    expect(total).toBeGreaterThanOrEqual(wanted)
    const keys = new BigUint64Array(total)
    let at = 0
    for (const file of files) {
      const { end, disordered } = load(file, new Uint32Array(keys.buffer), at)
      expect(disordered, file).toBe(0)
      at = end
    }
    const [first = ''] = files
    const { timestampMs, sequence, node } = decodeUuid(readFileSync(first).subarray(0, 16), layouts.wide)
    expect(keys[0]).toBe((BigInt(timestampMs - base) << 32n) | BigInt(sequence * 64 + node))
    keys.sort()
    let equal = 0
    for (let i = 1; i < keys.length; i++) if (keys[i] === keys[i - 1]) equal++
    console.info(`${total} UUIDs of ${files.length} processes, ${equal} equal`)
    expect(equal).toBe(0)
  }, 3_600_000)
})
