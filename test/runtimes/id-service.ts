import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { repository } from '../support/documents.ts'

/** An id service for the client, in its own folder. */
export class IdService {
  readonly url: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, url: string) {
    this.#child = child
    this.url = url
  }

  static async start(folder: string): Promise<IdService> {
    const program = join(repository, 'server/dist/main.js')
    const env = { ...process.env, HOME: folder, XDG_STATE_HOME: join(folder, 'state') }
    const child = spawn(process.execPath, [program, '--port', '0'], { env, stdio: ['ignore', 'pipe', 'ignore'] })
    const url = await new Promise<string>((resolve, reject) => {
      let text = ''
      child.stdout.setEncoding('utf8').on('data', (part: string) => {
        text += part
        const [found] = /http:\/\/\S+?:\d+/.exec(text) ?? []
        if (found !== undefined) resolve(found)
      })
      child.once('exit', (code) => reject(new Error(`the service ended with ${code}`)))
    })
    return new IdService(child, url)
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
  }
}

/**
 * A site of one origin: files, and the service below /ids, as docs/client.md says. /gate answers after a
 * request of /done.
 */
export async function startSite(
  service: string,
  files: Readonly<Record<string, { type: string; text: string }>>,
): Promise<{ origin: string; server: Server }> {
  let open = () => {}
  const done = new Promise<void>((resolve) => {
    open = resolve
  })
  const server = createServer(async (request, response) => {
    const { url = '/' } = request
    const file = files[url]
    if (file !== undefined) response.setHeader('content-type', file.type).end(file.text)
    else if (url.startsWith('/ids/')) {
      const { accept = '*/*' } = request.headers
      const answer = await fetch(`${service}${url.slice('/ids'.length)}`, { headers: { accept } })
      const body = Buffer.from(await answer.arrayBuffer())
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(body)
    } else {
      if (url === '/done') open()
      if (url === '/gate') await done
      response.writeHead(204).end()
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}
