import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { host } from '../../stores/kinds/kind.ts'
import { type Server, start } from '../../stores/servers.ts'
import { repository } from '../../support/documents.ts'

/** The lines by which HAProxy repeats a request on another instance. */
const repeating = / {2}(?:retries|retry-on|option redispatch) .*\n/g

/**
 * Starts HAProxy before instances of the service, with the settings of docs/service-deployment.md.
 *
 * @param repeats - Whether HAProxy repeats requests, as these settings say.
 */
export function startHaproxy(ports: readonly number[], repeats: boolean): Promise<Server> {
  return start({
    program: 'haproxy',
    words: (port, folder) => {
      const file = join(folder, 'haproxy.cfg')
      writeFileSync(file, configuration(port, ports, repeats))
      return ['-db', '-f', file]
    },
  })
}

function configuration(port: number, ports: readonly number[], repeats: boolean): string {
  const page = readFileSync(join(repository, 'docs/service-deployment.md'), 'utf8')
  const [, documented] = /\n## HAProxy\n\n```text\n(.*?)```/s.exec(page) ?? []
  if (documented?.match(repeating)?.length !== 3) throw new Error('the page has no settings of HAProxy that repeat')
  const settings = repeats ? documented : documented.replace(repeating, '').replace('defaults\n', '$&  retries 0\n')
  return (
    settings
      .replace(/bind .*/, `bind ${host}:${port}`)
      .replace(/^( {2}server .*\n)+/m, ports.map((one, index) => `  server s${index} ${host}:${one}\n`).join(''))
      // On a busy machine a check may take longer, and all servers would be down at once.
      .replace(/timeout check .*/, 'timeout check 5s')
  )
}
