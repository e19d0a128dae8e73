import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { decode, layouts } from 'graupel'
import { expect } from 'vitest'
import { load } from '../stores/kinds/kind.ts'
import { type Block, read, repository } from '../support/documents.ts'
import { program } from '../support/examples.ts'

/** A folder inside the package, so that its programs can import graupel and drivers by their names. */
export class Project {
  readonly folder = mkdtempSync(join(repository, 'dist', 'databases-'))

  /** @param drivers - Packages by the folders of test/stores in which they are installed. */
  constructor(
    drivers: readonly (readonly [name: string, place: string])[],
    private readonly variables: Record<string, string>,
    private readonly node = process.execPath,
  ) {
    mkdirSync(join(this.folder, 'node_modules'))
    for (const [name, place] of drivers) {
      load(name, place)
      symlinkSync(join(repository, 'test/stores', place, 'node_modules', name), join(this.folder, 'node_modules', name))
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Runs an example of the document, checks each value that stands behind a line, and returns the output. */
  runBlock({ line, code }: Block): Promise<string> {
    const file = join(this.folder, `line-${line}.mjs`)
    writeFileSync(file, program(code))
    return this.run(file)
  }

  /**
   * Runs a program of examples/databases, and checks its output. @param change - Changes the program for
   * another driver.
   */
  async runExample(name: string, change = (code: string) => code): Promise<void> {
    const file = join(this.folder, name)
    writeFileSync(file, change(read(`examples/databases/${name}`)))
    const [order, first, second] = (await this.run(file))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    // libsql adds a property to each row.
    expect(order).toMatchObject({ id: expect.stringMatching(/^\d{19}$/), item: 'tea' })
    expect(decode(order.id, layouts.twitter).node).toBe(7)
    const pages = [...first, ...second]
    const last = pages[0].item.replace(/ .*/, '')
    // The newest of the rows that were inserted last, without a gap between the pages.
    expect(pages.map(({ item }) => item)).toEqual([999, 998, 997, 996, 995, 994].map((index) => `${last} ${index}`))
    for (const { id } of pages) expect(BigInt(id)).toBeGreaterThan(BigInt(order.id))
  }

  private async run(file: string): Promise<string> {
    const env = { ...process.env, ...this.variables }
    return (await promisify(execFile)(this.node, [file], { cwd: this.folder, env })).stdout
  }
}
