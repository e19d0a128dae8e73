import type { Writable } from 'node:stream'

/** Writes the results one chunk at a time, so that memory stays flat however slowly they are read. */
export class Output {
  readonly isTerminal: boolean
  readonly #stream: Writable

  constructor(stream: Writable & { isTTY?: boolean }) {
    this.#stream = stream
    this.isTerminal = stream.isTTY === true
    // The callback of write() reports the error, too; without a listener it would end the process.
    stream.on('error', () => {})
  }

  /**
   * Resolves when the stream has passed the chunk on: to `false` if the reader has closed the pipe (`| head`), which is no
   * error.
   *
   * @throws the stream's error, such as `ENOSPC`
   */
  write(chunk: string | Uint8Array): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#stream.write(chunk, (error: NodeJS.ErrnoException | null | undefined) => {
        if (!error) resolve(true)
        // Windows calls it EOF.
        else if (error.code === 'EPIPE' || error.code === 'EOF') resolve(false)
        else reject(error)
      })
    })
  }
}
