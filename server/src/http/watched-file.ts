import { readFileSync, statSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import type { Logger } from 'pino'
import { lineOf, StartError } from '../failure.js'

/**
 * How often files are looked at. They are not watched by inotify: Kubernetes replaces a link to their folder, and network
 * file systems tell nothing.
 */
const everyMs = 1000

/** What is read from files, and read again when they change. */
export class WatchedFiles<T> {
  readonly #paths: readonly string[]
  readonly #make: (contents: readonly Buffer[]) => T
  readonly #logger: Logger
  readonly #timer: NodeJS.Timeout
  #value: T
  /** Of the files as they were when they were read last, also in vain. */
  #seen: string
  #isLooking = false

  /** Called after each change. */
  onChange: (value: T) => void = () => {}

  /**
   * @param option - What the files are called in errors: `--token-file`.
   * @param make - Makes the value of their contents, or throws.
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
        // Not refused: it is how Kubernetes mounts secrets, and in a container there are no others.
        if ((mode & 0o007n) !== 0n && process.platform !== 'win32') {
          logger.warn({ file: paths[index] }, 'others may read this file; chmod o= it')
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
    // A file system that does not answer must not gather calls.
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      const stats = await Promise.all(this.#paths.map((path) => stat(path, { bigint: true })))
      const seen = stats.map(signature).join()
      if (seen === this.#seen) return
      // First: a file that is changed while it is read has another signature at the next look.
      this.#seen = seen
      this.#value = this.#make(await Promise.all(this.#paths.map((path) => readFile(path))))
      this.#logger.info({ files: this.#paths }, 'files have changed and were read again')
      this.onChange(this.#value)
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#isLooking = false
    }
  }

  #failure = ''

  /** Once for each failure, and not once a second. */
  #fail(error: unknown): void {
    const failure = `${this.#seen} ${lineOf(error)}`
    if (failure === this.#failure) return
    this.#failure = failure
    this.#logger.error(
      { files: this.#paths, reason: lineOf(error) },
      'files cannot be read; what they had stays in use',
    )
  }
}

function signature({ dev, ino, size, mtimeNs }: { dev: bigint; ino: bigint; size: bigint; mtimeNs: bigint }): string {
  return `${dev}:${ino}:${size}:${mtimeNs}`
}
