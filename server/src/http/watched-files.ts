import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import type { Logger } from 'pino'
import { lineOf, StartError } from '../failure.js'

/**
 * Time between two looks at the files. inotify would miss changes: Kubernetes replaces a link to their
 * folder, and network file systems send no events.
 */
const everyMs = 1000
/** Time for a file system to answer. */
const answerMs = 5000

/** Calls of file systems that are under way. Each one keeps a thread of Node's pool. */
const unanswered = new Set<Promise<unknown>>()

/** Returns whether a file system has not answered yet. `process.exit()` would wait for the answer. */
export function isReading(): boolean {
  return unanswered.size > 0
}

/** Resolves when no call is under way. */
export async function endOfReading(): Promise<void> {
  await Promise.allSettled(unanswered)
}

/** A file as it was read. */
interface Contents {
  readonly signature: string
  readonly mode: bigint
  readonly bytes: Buffer
}

/** A value that is read from files, and read again when they change. */
export class WatchedFiles<T> {
  /** The name of the files in errors and metrics: `--token-file`. */
  readonly option: string
  readonly #paths: readonly string[]
  readonly #make: (contents: readonly Buffer[]) => T
  readonly #logger: Logger
  readonly #timer: NodeJS.Timeout
  #value: T
  /** The signature of the files at the last look; empty if they could not be found. */
  #seen: string
  /** The signature of the files whose contents are in use. */
  #used: string
  #isLooking = false
  /** Set while the file system does not answer. */
  #isSilent = false

  /** Called after each change. */
  onChange: (value: T) => void = () => {}

  /**
   * Reads the files.
   *
   * @param make - Makes the value from the contents, or throws.
   * @throws StartError
   */
  static async open<T>(
    option: string,
    paths: readonly string[],
    make: (contents: readonly Buffer[]) => T,
    logger: Logger,
    pollMs = everyMs,
  ): Promise<WatchedFiles<T>> {
    let timer: NodeJS.Timeout | undefined
    try {
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(silence()), answerMs)
      })
      const files = await Promise.race([contentsOf(paths), late])
      const value = make(files.map(({ bytes }) => bytes))
      for (const [index, { mode }] of files.entries()) {
        // Only a warning, because Kubernetes mounts secrets with this mode, and a container has no other
        // users.
        if ((mode & 0o007n) !== 0n && process.platform !== 'win32') {
          logger.warn({ file: paths[index] }, 'others may read this file; run chmod o= on it')
        }
      }
      return new WatchedFiles(option, paths, make, logger, pollMs, value, joined(files))
    } catch (error) {
      const isUnreadable = (error as NodeJS.ErrnoException).syscall !== undefined
      const rule = isUnreadable ? '; give a file that this user may read' : ''
      const { message } = error as Error
      throw new StartError('ERR_OPTION_INVALID', `${option} is ${paths.join(' and ')}: ${message}${rule}`)
    } finally {
      clearTimeout(timer)
    }
  }

  private constructor(
    option: string,
    paths: readonly string[],
    make: (contents: readonly Buffer[]) => T,
    logger: Logger,
    pollMs: number,
    value: T,
    signature: string,
  ) {
    this.option = option
    this.#paths = paths
    this.#make = make
    this.#logger = logger
    this.#value = value
    this.#used = this.#seen = signature
    this.#timer = setInterval(() => void this.#look(), pollMs).unref()
  }

  get value(): T {
    return this.#value
  }

  /**
   * Tells whether the files cannot be read, or have changed and could not be read since, so their former
   * contents are in use.
   */
  get isStale(): boolean {
    return this.#isSilent || this.#seen !== this.#used
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    // Calls must not pile up on a file system that does not answer.
    if (this.#isLooking) return
    this.#isLooking = true
    const timer = setTimeout(() => {
      this.#isSilent = true
      this.#fail('', silence())
    }, answerMs).unref()
    let seen = ''
    try {
      seen = await signatureOf(this.#paths)
      if (seen === this.#seen) {
        this.#failure = ''
        return
      }
      const files = await contentsOf(this.#paths)
      this.#value = this.#make(files.map(({ bytes }) => bytes))
      seen = this.#used = joined(files)
      this.#failure = ''
      this.#logger.info({ files: this.#paths }, 'the files changed and were read again')
      this.onChange(this.#value)
    } catch (error) {
      this.#fail(seen, error)
      // The same file may be read at the next look: a right to read it does not change its signature.
      if ((error as NodeJS.ErrnoException).syscall !== undefined) seen = ''
    } finally {
      clearTimeout(timer)
      this.#isSilent = false
      this.#seen = seen
      this.#isLooking = false
    }
  }

  #failure = ''

  /** Logs a failure once, not at every look. */
  #fail(seen: string, error: unknown): void {
    const failure = `${seen} ${lineOf(error)}`
    if (failure === this.#failure) return
    this.#failure = failure
    this.#logger.error(
      { files: this.#paths, reason: lineOf(error) },
      'the files cannot be read; their former contents stay in use',
    )
  }
}

function silence(): Error {
  return new Error(`the file system has not answered within ${answerMs / 1000} s`)
}

/** Reads the files one after the other, so that they keep one thread of Node's pool. */
async function contentsOf(paths: readonly string[]): Promise<Contents[]> {
  const found: Contents[] = []
  for (const path of paths) found.push(await noted(readFile(path)))
  return found
}

async function readFile(path: string): Promise<Contents> {
  // A pipe without a writer would keep a blocking call for ever.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    // Before the reading, so the next look notices a file that changes during it.
    const found = await file.stat({ bigint: true })
    if (!found.isFile())
      throw new Error(`${path} is no regular file; give one, because it is read again when it changes`)
    return { signature: signature(found), mode: found.mode, bytes: await file.readFile() }
  } finally {
    await file.close()
  }
}

async function signatureOf(paths: readonly string[]): Promise<string> {
  const found: string[] = []
  for (const path of paths) found.push(signature(await noted(stat(path, { bigint: true }))))
  return found.join()
}

function joined(files: readonly Contents[]): string {
  return files.map((file) => file.signature).join()
}

function noted<T>(call: Promise<T>): Promise<T> {
  unanswered.add(call)
  return call.finally(() => unanswered.delete(call))
}

function signature({ dev, ino, size, mtimeNs }: { dev: bigint; ino: bigint; size: bigint; mtimeNs: bigint }): string {
  return `${dev}:${ino}:${size}:${mtimeNs}`
}
