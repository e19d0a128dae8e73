// Reads commands of Redis's protocol. Node's parsers of npm (redis-parser, @redis/client) read replies: they
// accept what a server sends, have no bound for a length that a client announces, and keep a whole reply in
// memory.

/** The most bytes of a command, as many as the head of a request over HTTP may have. */
const maxBytes = 8192
const maxWords = 1024
const maxDigits = 4

const [star, dollar, cr, lf, zero] = [0x2a, 0x24, 0x0d, 0x0a, 0x30]

/** Bytes that are no command. No later byte of the connection can be understood. */
export class ProtocolError extends Error {}

const nothing = Buffer.alloc(0)

/** Splits the bytes of a connection into commands. */
export class CommandParser {
  #bytes: Buffer = nothing
  /** The index of the first byte that belongs to no command that was returned. */
  #at = 0
  /** The index up to which the present command is read. */
  #reading = 0
  /** The first byte of the last command. It ends at `#at`. */
  #lastFrom = 0

  add(chunk: Buffer): void {
    this.#bytes = this.isEmpty ? chunk : Buffer.concat([this.#bytes.subarray(this.#at), chunk])
    this.#at = 0
    this.#lastFrom = 0
  }

  /** Whether all bytes belong to commands that were returned. */
  get isEmpty(): boolean {
    return this.#at === this.#bytes.length
  }

  /**
   * Keeps only the bytes that belong to no command, so that half a command does not hold the memory of a
   * whole read.
   */
  trim(): void {
    if (this.#at === 0) return
    const rest = this.#bytes.subarray(this.#at)
    this.#bytes = rest.length === 0 ? nothing : Buffer.allocUnsafeSlow(rest.length)
    rest.copy(this.#bytes)
    this.#at = 0
    this.#lastFrom = 0
  }

  /**
   * Returns the words of the next command, or `undefined` if not all of it has arrived. @throws ProtocolError
   */
  next(): string[] | undefined {
    this.#reading = this.#at
    const count = this.#number(star, maxWords)
    if (count === undefined) return undefined
    if (count === 0) throw new ProtocolError('a command has no word')
    const words: string[] = []
    while (words.length < count) {
      const length = this.#number(dollar, maxBytes)
      if (length === undefined) return undefined
      const from = this.#reading
      const to = from + length
      if (to + 2 - this.#at > maxBytes) throw new ProtocolError(`a command has more than ${maxBytes} bytes`)
      if (to + 2 > this.#bytes.length) return undefined
      if (this.#bytes[to] !== cr || this.#bytes[to + 1] !== lf) {
        throw new ProtocolError('a word is longer than its length says')
      }
      words.push(this.#bytes.toString('utf8', from, to))
      this.#reading = to + 2
    }
    this.#lastFrom = this.#at
    this.#at = this.#reading
    return words
  }

  /**
   * Skips commands that equal the last one, byte for byte, and returns how many there were. Comparing takes a
   * quarter of the time of reading, and pipelines mostly repeat one command.
   */
  repeats(most: number): number {
    const bytes = this.#bytes
    const from = this.#lastFrom
    const length = this.#at - from
    let count = 0
    // Compares twice as many commands each time, with all that were found equal before, and half as many
    // after a difference.
    for (let width = 1; width > 0; ) {
      const size = width * length
      const to = this.#at + size
      if (count + width <= most && to <= bytes.length && bytes.compare(bytes, this.#at, to, from, from + size) === 0) {
        this.#at = to
        count += width
        width = Math.min(2 * width, count + 1)
      } else {
        width >>= 1
      }
    }
    return count
  }

  /** Reads a line such as `$12`; returns `undefined` if not all of it has arrived. @throws ProtocolError */
  #number(marker: number, most: number): number | undefined {
    const bytes = this.#bytes
    let at = this.#reading
    if (at === bytes.length) return undefined
    if (bytes[at] !== marker) {
      throw new ProtocolError(
        `byte ${bytes[at]} came instead of '${String.fromCharCode(marker)}'; send arrays of bulk strings, as every client of Redis does`,
      )
    }
    at++
    const from = at
    let number = 0
    for (; at < bytes.length; at++) {
      const digit = (bytes[at] as number) - zero
      if (digit < 0 || digit > 9) break
      number = number * 10 + digit
      if (at - from >= maxDigits) throw new ProtocolError(`a length is above ${most}`)
    }
    if (number > most) throw new ProtocolError(`a length is above ${most}`)
    if (at === bytes.length) return undefined
    if (at === from || bytes[at] !== cr) throw new ProtocolError('a length is no whole number from 0 up')
    if (at + 1 === bytes.length) return undefined
    if (bytes[at + 1] !== lf) throw new ProtocolError('a line does not end with CR LF')
    this.#reading = at + 2
    return number
  }
}
