import type { DestinationStream } from 'pino'

/** Bytes of lines that wait for a slow reader. */
const mostBytes = 2 ** 20

/** A stream such as `process.stderr`. */
type Output = Pick<NodeJS.WriteStream, 'write' | 'on' | 'writableLength'>

/**
 * Writes lines without waiting for their reader: a reader that stops must not stop the service. Lines beyond
 * a megabyte, and lines that cannot be written, are dropped and counted. A closed terminal must not end the
 * service before it releases its nodes.
 */
export class LogOutput implements DestinationStream {
  dropped = 0
  readonly #to: Output

  constructor(to: Output) {
    this.#to = to
    to.on('error', () => this.dropped++)
  }

  write(line: string): void {
    if (this.#to.writableLength > mostBytes) this.dropped++
    // A pipe takes the line at once if it has room, so none is lost if the process then ends.
    else this.#to.write(line)
  }
}

let ofStderr: LogOutput | undefined

/** Returns the log's output to stderr. */
export function stderrOutput(): LogOutput {
  ofStderr ??= new LogOutput(process.stderr)
  return ofStderr
}
