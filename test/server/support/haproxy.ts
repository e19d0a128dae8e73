import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { host, missingProgram } from '../../stores/kinds/kind.ts'
import { type Server, start } from '../../stores/servers.ts'

/** The settings of docs/service-deployment.md by which HAProxy repeats a request on another instance. */
export const repeating = ['retries 2', 'retry-on conn-failure empty-response', 'option redispatch 1']

export const missingHaproxy = () => missingProgram('haproxy', '-v', 'haproxy')

/**
 * Starts HAProxy before instances of the service.
 *
 * @param defaults - More lines of the section `defaults`. Without them, HAProxy repeats no request.
 */
export function startHaproxy(ports: readonly number[], defaults: readonly string[] = ['retries 0']): Promise<Server> {
  return start({
    program: 'haproxy',
    words: (port, folder) => {
      const lines = [
        'defaults',
        ...['mode http', 'http-reuse always', 'timeout connect 5s', ...defaults].map((line) => `  ${line}`),
        // Otherwise a check that takes longer than `inter` fails, and on a busy machine all servers are down at once.
        ...['timeout check 5s', 'timeout client 60s', 'timeout server 60s'].map((line) => `  ${line}`),
        'listen graupel',
        ...[`bind ${host}:${port}`, 'option httpchk GET /readyz'].map((line) => `  ${line}`),
        ...ports.map((one, index) => `  server s${index} ${host}:${one} check inter 100ms fall 1 rise 1`),
      ]
      const file = join(folder, 'haproxy.cfg')
      writeFileSync(file, `${lines.join('\n')}\n`)
      return ['-db', '-f', file]
    },
  })
}
