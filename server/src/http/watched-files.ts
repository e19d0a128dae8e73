import { readFileSync, statSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import type { Logger } from 'pino'
import { lineOf, StartError } from '../failure.js'

/**
 * Time between two looks at the files. inotify would miss changes: Kubernetes replaces a link to their folder, and network file systems
 * send no events.
 */
const everyMs = 1000

/** A value that is read from files, and read again when they change. */
export class WatchedFiles<T> {
  readonly #paths: readonly string[]
  readonly #make: (contents: readonly Buffer[]) => T
  readonly #logger: Logger
  readonly #timer: NodeJS.Timeout
  #value: T
  /** The signature of the files at the last reading, even if that reading failed. */
  #seen: string
  #isLooking = false

  /** Called after each change. */
  onChange: (value: T) => void = () => {}

  /**
   * @param option - The name of the files in errors: `--token-file`.
   * @param make - Makes the value from the contents, or throws.
   * @throws StartError
   */
  constructor(
    option: string,
    paths: readonly string[],
    make: (contents: readonly Buffer[]) => T,
    logger: Logger,
    pollMs = everyMs,
  ) {
    this.#paths = paths
    this.#make = make
    this.#logger = logger
    try {
      const stats = paths.map((path) => statSync(path, { bigint: true }))
      this.#seen = stats.map(signature).join()
      this.#value = make(paths.map((path) => readFileSync(path)))
      for (const [index, { mode }] of stats.entries()) {
        // Only a warning, because Kubernetes mounts secrets with this mode, and a container has no other users.
        if ((mode & 0o007n) !== 0n && process.platform !== 'win32') {
          logger.warn({ file: paths[index] }, 'others may read this file; run chmod o= on it')
        }
      }
    } catch (error) {
      const isUnreadable = (error as NodeJS.ErrnoException).syscall !== undefined
      const rule = isUnreadable ? '; give a file that this user may read' : ''
      const { message } = error as Error
      throw new StartError('ERR_OPTION_INVALID', `${option} is ${paths.join(' and ')}: ${message}${rule}`)
    }
    this.#timer = setInterval(() => void this.#look(), pollMs).unref()
  }

  get value(): T {
    return this.#value
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    // Calls must not pile up on a file system that does not answer.
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      const stats = await Promise.all(this.#paths.map((path) => stat(path, { bigint: true })))
      const seen = stats.map(signature).join()
      if (seen === this.#seen) return
      // Before the reading, so the next look notices a file that changes during it.
      this.#seen = seen
      this.#value = this.#make(await Promise.all(this.#paths.map((path) => readFile(path))))
      this.#logger.info({ files: this.#paths }, 'the files changed and were read again')
      this.onChange(this.#value)
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#isLooking = false
    }
  }

  #failure = ''

  /** Logs a failure once, not at every look. */
  #fail(error: unknown): void {
    const failure = `${this.#seen} ${lineOf(error)}`
    if (failure === this.#failure) return
    this.#failure = failure
    this.#logger.error(
      { files: this.#paths, reason: lineOf(error) },
      'the files cannot be read; their former contents stay in use',
    )
  }
}

function signature({ dev, ino, size, mtimeNs }: { dev: bigint; ino: bigint; size: bigint; mtimeNs: bigint }): string {
  return `${dev}:${ino}:${size}:${mtimeNs}`
}
