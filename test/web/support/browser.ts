import { createReadStream, mkdtempSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { findCommand, run } from '../../runtimes/run.ts'
import { repository } from '../../support/documents.ts'

const commands = ['chromium', 'chromium-browser', 'google-chrome']
const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }

/** Returns the reason if there is no browser for tests. */
export function missingChromium(): string | undefined {
  try {
    findCommand(commands, 'chromium')
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** The page, built from the sources, on a server below a path, with a browser, for one test file. */
export class Site {
  readonly folder = mkdtempSync(join(tmpdir(), 'graupel-web-'))
  readonly #path: string
  #server = createServer()
  #browser: Browser | undefined
  #contexts: BrowserContext[] = []

  constructor(path = '/') {
    this.#path = path
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${this.#path}`
  }

  get fileUrl(): string {
    return pathToFileURL(join(this.folder, 'index.html')).href
  }

  async open(): Promise<void> {
    const outDir = this.folder
    const vite = join(repository, 'node_modules/vite/bin/vite.js')
    await run(process.execPath, [vite, 'build', 'web', '--outDir', outDir, '--emptyOutDir'])
    this.#server.on('request', ({ url = '' }, response) => {
      const name = new URL(url, 'http://localhost').pathname.slice(this.#path.length) || 'index.html'
      const file = join(outDir, name)
      if (!url.startsWith(this.#path) || statSync(file, { throwIfNoEntry: false }) === undefined) {
        response.writeHead(404).end()
        return
      }
      response.writeHead(200, { 'content-type': types[extname(name)] ?? 'application/octet-stream' })
      createReadStream(file).pipe(response)
    })
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const executablePath = findExecutable()
    // Chromium's sandbox refuses to run for root.
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    this.#browser = await chromium.launch({ executablePath, args })
  }

  async close(): Promise<void> {
    await this.#browser?.close()
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
    rmSync(this.folder, { recursive: true, force: true })
  }

  /**
   * The page at a hash. Any request but for its own files, any message of the console, which is where
   * violations of the policy are told, and any error fails the test that calls `expectNoFaults`.
   */
  async visit(hash: string, options: BrowserContextOptions & { readonly base?: string } = {}): Promise<Visit> {
    const { base = this.url, ...context } = options
    const own = (await this.#browser?.newContext({
      locale: 'en-GB',
      timezoneId: 'Asia/Shanghai',
      viewport: { width: 1280, height: 900 },
      ...context,
    })) as BrowserContext
    this.#contexts.push(own)
    const page = await own.newPage()
    page.setDefaultTimeout(20_000)
    const faults: string[] = []
    const folder = new URL('.', base).href
    await own.route('**', async (route) => {
      const url = route.request().url()
      const isOwn = url.startsWith(folder) && /^(index\.html|page\.js|page\.css)?(#.*)?$/.test(url.slice(folder.length))
      if (isOwn) return await route.continue()
      faults.push(`a request to ${url}`)
      await route.abort()
    })
    page.on('console', (message) => faults.push(`${message.type()}: ${message.text()}`))
    page.on('pageerror', (error) => faults.push(String(error)))
    await page.goto(base + hash)
    await page.locator('h1').waitFor()
    return { page, context: own, faults, expectNoFaults: () => expect(faults).toEqual([]) }
  }

  /** Closes the pages of a test. */
  async leave(): Promise<void> {
    await Promise.all(this.#contexts.splice(0).map((context) => context.close()))
  }
}

export interface Visit {
  readonly page: Page
  readonly context: BrowserContext
  readonly faults: string[]
  expectNoFaults(): void
}

/** Returns a site for all tests of a file. */
export function siteForTests(path?: string): Site {
  const site = new Site(path)
  beforeAll(() => site.open())
  afterAll(() => site.close())
  return site
}

function findExecutable(): string {
  const command = findCommand(commands, 'chromium')
  const folder = (process.env['PATH'] ?? '')
    .split(':')
    .find((one) => statSync(join(one, command), { throwIfNoEntry: false }))
  return join(folder ?? '/usr/bin', command)
}
