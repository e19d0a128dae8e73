import { readFileSync, statSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import type { Logger } from 'pino'
import { lineOf, StartError } from '../failure.js'

/**
 * Time between two looks at the files. inotify would miss changes: Kubernetes replaces a link to their
 * folder, and network file systems send no events.
 */
const everyMs = 1000

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

  /** Called after each change. */
  onChange: (value: T) => void = () => {}

  /**
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
    this.option = option
    this.#paths = paths
    this.#make = make
    this.#logger = logger
    try {
      const stats = paths.map((path) => statSync(path, { bigint: true }))
      this.#used = this.#seen = stats.map(signature).join()
      this.#value = make(paths.map((path) => readFileSync(path)))
      for (const [index, { mode }] of stats.entries()) {
        // Only a warning, because Kubernetes mounts secrets with this mode, and a container has no other
        // users.
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

  /**
   * Tells whether the files have changed and could not be read since, so their former contents are in use.
   */
  get isStale(): boolean {
    return this.#seen !== this.#used
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    // Calls must not pile up on a file system that does not answer.
    if (this.#isLooking) return
    this.#isLooking = true
    let seen = ''
    try {
      const stats = await Promise.all(this.#paths.map((path) => stat(path, { bigint: true })))
      // Before the reading, so the next look notices a file that changes during it.
      seen = stats.map(signature).join()
      if (seen === this.#seen) return
      this.#value = this.#make(await Promise.all(this.#paths.map((path) => readFile(path))))
      this.#used = seen
      this.#logger.info({ files: this.#paths }, 'the files changed and were read again')
      this.onChange(this.#value)
    } catch (error) {
      this.#fail(seen, error)
    } finally {
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

function signature({ dev, ino, size, mtimeNs }: { dev: bigint; ino: bigint; size: bigint; mtimeNs: bigint }): string {
  return `${dev}:${ino}:${size}:${mtimeNs}`
}
