import { readFileSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** The first byte of a database that SQLite locks (sqlite.org/fileformat.html, "The Lock-Byte Page"). */
const pendingByte = 0x4000_0000
/** A process that works with the database has its locks for milliseconds. */
const apartMs = 500

/**
 * Names the processes that have had a lock on a database of SQLite for half a second, such as `process 4711
 * (sqlite3)`. Only Linux has a table of locks; it does not show processes of other containers.
 */
export async function lockHolders(file: string): Promise<string[]> {
  const before = holdersNow(file)
  if (before.length === 0) return []
  await sleep(apartMs)
  const after = holdersNow(file)
  return before.filter((pid) => after.includes(pid)).map((pid) => `process ${pid} (${readCommand(pid)})`)
}

function holdersNow(file: string): string[] {
  let table: string
  let inode: number
  try {
    table = readFileSync('/proc/locks', 'latin1')
    inode = statSync(file).ino
  } catch {
    return []
  }
  const found = table.split('\n').flatMap((line) => {
    // 1: POSIX  ADVISORY  WRITE 4711 08:01:131077 1073741824 1073742335
    const [, type, , , pid = '', inodeOfFile = '', start] = line.trim().split(/\s+/)
    const isHere = type === 'POSIX' && Number(inodeOfFile.split(':')[2]) === inode && Number(start) >= pendingByte
    return isHere ? [pid] : []
  })
  return [...new Set(found)]
}

function readCommand(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return 'ended'
  }
}
