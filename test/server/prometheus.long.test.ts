import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Server, start } from '../stores/servers.ts'
import { describeWith } from '../support/needs.ts'
import { until } from '../support/until.ts'
import { deploy, folder, read } from './support/deployed.ts'
import { makeService } from './support/in-process.ts'
import { serve } from './support/process.ts'

const rules = join(deploy, 'prometheus/rules.yaml')

interface Panel {
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[]
}
const { panels, schemaVersion, templating } = JSON.parse(read('grafana/dashboard.json')) as {
  panels: Panel[]
  schemaVersion: number
  templating: { list: { name: string }[] }
}

function promtool(...words: string[]): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', words, { encoding: 'utf8', cwd: folder })
  return { status, output: `${stdout}${stderr}` }
}

describeWith(['prometheus'], 'Prometheus', () => {
  test('promtool finds no fault in the alerts, and their tests pass', () => {
    expect(promtool('check', 'rules', '--lint=all', '--lint-fatal', rules)).toMatchObject({ status: 0 })
    expect(promtool('test', 'rules', join(deploy, 'prometheus/rules-test.yaml'))).toMatchObject({ status: 0 })
  })

  test('the tests of the alerts fail if an alert is wrong', () => {
    const text = read('prometheus/rules.yaml')
    const tests = read('prometheus/rules-test.yaml')
    const mutations = [
      ['', ''],
      ['up{job=~".*graupel.*"} == 0', 'up{job=~".*graupel.*"} == 2'],
      ['graupel_ready == 0', 'graupel_ready == 1'],
      ['absent(up{job=~".*graupel.*"})', 'absent(up)'],
      ['- on (job, instance) count', '- on (job, instance) 0 * count'],
      ['count by (job, instance) (graupel_ready)', 'count by (job, instance) (graupel_workers)'],
      ['increase(graupel_worker_restarts_total[15m]) > 2', 'graupel_worker_restarts_total > 2'],
      ['graupel_connections_limit > 0.8', 'graupel_connections_limit > 0.96'],
      ['increase(graupel_connections_dropped_total[5m]) > 0', 'graupel_connections_dropped_total > 0'],
      ['graupel_files_stale == 1', 'graupel_files_stale == 0'],
      ['increase(graupel_log_lines_dropped_total[5m]) > 0', 'graupel_log_lines_dropped_total > 0'],
      ['graupel_store_new == 1', 'graupel_store_new == 0'],
      ['} < 3600', '} < 36000'],
      ['and on (job) count by (job) (graupel_ready offset 1h)', ''],
      ['_not_before_timestamp_seconds) / 4, 7 * 86400)', '_not_before_timestamp_seconds) / 4, 8 * 86400)'],
      [
        'clamp_max((graupel_certificate_not_after_timestamp_seconds - graupel_certificate_not_before',
        'clamp_max(100 * (graupel_certificate_not_after_timestamp_seconds - graupel_certificate_not_before',
      ],
      ['/ max by (job, layout) (graupel_nodes)', '/ sum by (job, layout) (graupel_nodes)'],
      ['< 0.33', '< 0.9'],
      ['on (job, instance, worker)', 'on (job, instance)'],
      ['> 0.05', '> 0.6'],
      ['status="5xx"', 'status="4xx"'],
      [', fault!="client"', ''],
      ['histogram_quantile(0.99,', 'histogram_quantile(0.5,'],
      ['|/metrics|', '|'],
      ['increase(graupel_rollbacks_total[5m]) > 0', 'graupel_rollbacks_total > 0'],
      ['rate(graupel_overflows_total[5m]) > 10', 'rate(graupel_overflows_total[5m]) > 1'],
      ['and increase(graupel_segment_failures_total[5m]) > 0', ''],
      ['graupel_count_lost_total[1h]', 'graupel_count_lost_total[1m]'],
      ['increase(graupel_count_recovered_total[1h]) > 0', 'graupel_count_recovered_total > 0'],
      ['graupel_count_oldest_wait_seconds > 2', 'graupel_count_oldest_wait_seconds > 1'],
      ['nodejs_eventloop_lag_p99_seconds{job=~".*graupel.*"} > 0.1', 'nodejs_eventloop_lag_p99_seconds > 1'],
    ] as const
    // All mutations at once, because the tool takes longer to start than to test.
    const files = mutations.map(([right, wrong], index) => {
      expect(text).toContain(right)
      const place = join(folder, `mutation-${index}`)
      mkdirSync(place)
      writeFileSync(join(place, 'rules.yaml'), text.replace(right, wrong))
      writeFileSync(join(place, 'rules-test.yaml'), tests)
      return join(place, 'rules-test.yaml')
    })
    const { output } = promtool('test', 'rules', ...files)
    const passed = files.flatMap((file, index) => (output.includes(`${file}\n  SUCCESS`) ? [mutations[index]] : []))
    expect(passed).toEqual([['', '']])
  })

  test('promtool finds no fault in the metrics', async () => {
    const { app, service } = await makeService()
    await service.open()
    for (const url of ['/v1/ids', '/v1/segments/orders', '/v1/counters/invoices']) {
      expect((await app.inject(url)).statusCode).toBe(200)
    }
    const { body } = await app.inject('/metrics')
    const check = (input: string) => spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
    expect(check(body)).toMatchObject({ status: 0, stdout: '', stderr: '' })
    expect(check(body.replaceAll('graupel_ids_total', 'graupel_ids')).status).not.toBe(0)
  })

  test('promtool finds no fault in the metrics of workers', async () => {
    const { url } = await serve(['--data', join(folder, 'workers'), '--workers', '2', '--layouts', 'twitter,js53'])
    for (const path of ['/v1/ids', '/v1/segments/orders', '/v1/counters/invoices', '/no']) await fetch(`${url}${path}`)
    const input = await (await fetch(`${url}/metrics`)).text()
    expect(input).toMatch(/^graupel_workers 2$/m)
    const { status, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
  })

  test('panels of the dashboard do not overlap, and have the properties that Grafana needs', () => {
    expect(schemaVersion).toBeGreaterThanOrEqual(39)
    expect(templating.list.map(({ name }) => name)).toEqual(['datasource', 'job', 'instance'])
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true)
  })

  test('a service under load has an answer to each query of the dashboard, and to each alert', async () => {
    const { app, service } = await makeService()
    await service.open()
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    const server = await scraping(port)
    try {
      const without = new Map(
        panels.flatMap(({ title, targets = [] }) =>
          targets.map(({ refId, expr }) => [`${title} ${refId}`, filledIn(expr)] as const),
        ),
      )
      expect(without.size).toBeGreaterThan(20)
      expect(await hasAnswer(server, 'graupel_nothing')).toBe(false)
      const segment = await service.segments.get('orders')
      const counted = await service.counters.get('invoices')
      await until(async () => {
        await Promise.all([fetch(`http://127.0.0.1:${port}/v1/ids?count=9`), segment.nextAsync(), counted.next()])
        for (const [panel, query] of without) if (await hasAnswer(server, query)) without.delete(panel)
        return without.size === 0
      }, 30_000).catch((error) => expect(without, `${error}`).toEqual(new Map()))
      const { groups } = (await ask(server, 'rules')) as { groups: { rules: Rule[] }[] }
      const told = groups.flatMap((group) => group.rules)
      expect(told.length).toBeGreaterThan(10)
      expect(told.filter(({ health, state }) => health === 'err' || state === 'firing')).toEqual([])
    } finally {
      await server.stop()
    }
  })
})

interface Rule {
  readonly name: string
  readonly health: string
  readonly state: string
}

/** Starts a Prometheus with the alerts, which scrapes the service on a port each second. */
function scraping(port: number): Promise<Server> {
  const configuration = `
global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: ['${rules}']
scrape_configs:
  - job_name: graupel
    static_configs: [{ targets: ['127.0.0.1:${port}'] }]
`
  return start({
    program: 'prometheus',
    prepare: (place) => writeFileSync(join(place, 'prometheus.yaml'), configuration),
    words: (own, place) => [
      `--config.file=${join(place, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(place, 'data')}`,
      `--web.listen-address=127.0.0.1:${own}`,
    ],
    ready: 'Server is ready to receive web requests',
  })
}

/** Fills the variables of a query in as Grafana does. */
function filledIn(expr: string): string {
  const values: Record<string, string> = { $job: 'graupel', $instance: '.*', $__rate_interval: '5s' }
  return expr.replace(/\$\w+/g, (name) => values[name] ?? name)
}

async function ask(server: Server, path: string): Promise<unknown> {
  const answer = await fetch(`http://127.0.0.1:${server.port}/api/v1/${path}`)
  const { status, data, error } = (await answer.json()) as { status: string; data: unknown; error?: string }
  if (status !== 'success') throw new Error(`${path}: ${error}`)
  return data
}

/** Tells whether a query finds a series with a number. */
async function hasAnswer(server: Server, query: string): Promise<boolean> {
  const { result } = (await ask(server, `query?query=${encodeURIComponent(query)}`)) as {
    result: { value: [number, string] }[]
  }
  return result.some(({ value: [, text] }) => Number.isFinite(Number(text)))
}
