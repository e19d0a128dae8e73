import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { tryTo } from '../host/system.js'
import { named, userOf } from './state/users.js'

/** The first byte of a database that SQLite locks (sqlite.org/fileformat.html, "The Lock-Byte Page"). */
const pendingByte = 0x4000_0000
/** The byte of the `-shm` file that a writer locks (sqlite.org/walformat.html, "WAL Locks"). */
const writerByte = 120
/** A process that works with the database has its locks for milliseconds. */
const apartMs = 500

/**
 * Names the processes that have had a lock on a database of SQLite for half a second, such as `4711 (sqlite3
 * fleet.db)`; `undefined` if there are none. Only Linux has a table of locks; it does not show processes of
 * other containers.
 */
export async function lockHolders(file: string): Promise<string | undefined> {
  const before = holdersNow(file)
  if (before.length === 0) return undefined
  await sleep(apartMs)
  const after = holdersNow(file)
  const held = before.filter((pid) => after.includes(pid))
  return held.length === 0 ? undefined : named(held.map((pid) => userOf(pid)))
}

function holdersNow(file: string): number[] {
  const table = tryTo(() => readFileSync('/proc/locks', 'latin1')) ?? ''
  const inode = inodeOf(file)
  // With a WAL, each connection has a lock for reading all the time, and a writer locks the other file.
  const isWal = tryTo(() => hasWal(file)) === true
  const inodeOfWal = isWal ? inodeOf(`${file}-shm`) : undefined
  const found = table.split('\n').flatMap((line) => {
    // 1: POSIX  ADVISORY  WRITE 4711 08:01:131077 1073741824 1073742335
    const [, type, , access, pid, place = '', start, end] = line.trim().split(/\s+/)
    if (type !== 'POSIX' || (isWal && access !== 'WRITE')) return []
    const at = Number(place.split(':')[2])
    const isHere =
      (at === inode && Number(start) >= pendingByte) ||
      (at === inodeOfWal && Number(start) <= writerByte && Number(end) >= writerByte)
    return isHere ? [Number(pid)] : []
  })
  return [...new Set(found)]
}

function inodeOf(file: string): number | undefined {
  return tryTo(() => statSync(file).ino)
}

/** Reads the format from the head of a database (sqlite.org/fileformat.html, "The Database Header"). */
function hasWal(file: string): boolean {
  const opened = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(1)
    readSync(opened, bytes, 0, 1, 18)
    return bytes[0] === 2
  } finally {
    closeSync(opened)
  }
}
