import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// A file in place of /dev/vmclock0. The addon maps it when it loads, so the test imports this module by
// `vi.hoisted`, before all others.

const page = Buffer.alloc(4096)
page.write('VCLK')
page.writeUInt32LE(page.length, 4)
page.writeUInt16LE(1, 8)
// The hypervisor announces its generation counter.
page.writeBigUInt64LE(1n << 8n, 24)
const generationAt = 104

/** Lets the addon of this process and its workers read a file. */
export function standInForVmClock(): { path: string; copyMachine(): void; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'graupel-vmclock-'))
  const path = join(folder, 'vmclock')
  const file = openSync(path, 'w+')
  writeSync(file, page, 0, page.length, 0)
  process.env.GRAUPEL_TEST_VMCLOCK = path
  let generation = 0n
  return {
    path,
    /**
     * Raises the counter, as a hypervisor does before a copy continues: from here on this process is the
     * copy.
     */
    copyMachine() {
      generation += 1n
      const bytes = Buffer.alloc(8)
      bytes.writeBigUInt64LE(generation)
      writeSync(file, bytes, 0, 8, generationAt)
    },
    remove() {
      closeSync(file)
      rmSync(folder, { recursive: true })
    },
  }
}
