import { until } from '../../support/until.ts'
import { ask } from './clients.ts'
import { type Running, run, type Serving } from './process.ts'

/** Starts the service on a port, and waits until it is ready. */
export async function serveOn(
  port: number,
  flags: readonly string[],
  env: Record<string, string> = {},
): Promise<Serving> {
  const started = run(['--port', `${port}`, ...flags], env)
  const url = `http://127.0.0.1:${port}`
  await ready(url, started)
  return { ...started, url }
}

async function ready(url: string, { ended, stderr }: Running): Promise<void> {
  let end: unknown
  ended.then((code) => {
    end = code
  })
  await until(async () => {
    if (end !== undefined) throw new Error(`the service ended with ${end}: ${stderr()}`)
    return ask(`${url}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    )
  })
}
