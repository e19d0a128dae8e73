import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { folderWith, linkPackages } from '../examples/app.ts'
import { blocksOf, repository } from '../support/documents.ts'

// Runs the TypeScript of docs/leases.md: the typed listener, and the metrics.

const [listener = '', prometheus = '', openTelemetry = ''] = blocksOf('docs/leases.md')
  .filter(({ language }) => language === 'ts')
  .map(({ code }) => code)

/** The module of the user that exports the lease. OpenTelemetry has its provider before it. */
const lease = `
import { metrics } from '@opentelemetry/api'
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { acquireLease } from 'graupel/lease'
import { memoryStore } from 'graupel/stores'
import './listener.js'

export const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
export const reader = new PeriodicExportingMetricReader({ exporter })
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
export const lease = await acquireLease({ store: memoryStore() })
`

const app = `
import { register } from 'prom-client'
import { exporter, lease, reader } from './lease.js'
import './prometheus.js'
import './open-telemetry.js'

const values = await register.getMetricsAsJSON()
const ceiling = values[0]?.values[0]?.value
await lease.release()
const counted = (await register.getMetricsAsJSON())[1]?.values
await reader.forceFlush()
const exported = exporter.getMetrics().at(-1)?.scopeMetrics[0]?.metrics.map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints[0]?.value])
console.log(JSON.stringify({ ceiling, counted, exported }))
process.exit()
`
const files = { listener, lease, prometheus, 'open-telemetry': openTelemetry, app }

const folder = folderWith()
beforeAll(() => linkPackages(folder), 600_000)

it('a typed listener, prom-client and OpenTelemetry count the events of a lease, and show how long it lasts', () => {
  expect([listener, prometheus, openTelemetry].map((code) => code.includes('LeaseEvent'))).toEqual([true, true, true])
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }')
  for (const [name, code] of Object.entries(files)) writeFileSync(join(folder, `${name}.ts`), code)
  const compilerOptions = { module: 'nodenext', target: 'es2023', strict: true, skipLibCheck: true, types: ['node'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  const run = (...args: string[]) => spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  expect(run(join(repository, 'node_modules/typescript/bin/tsc')).stdout).toBe('')
  const { stdout, stderr } = run('app.js')
  expect(stderr).toBe('')
  const [acquired, released, json = ''] = stdout.trim().split('\n')
  expect(acquired).toMatch(/^acquired \d+ undefined$/)
  expect(released).toMatch(/^released \d+ undefined$/)
  const { ceiling, counted, exported } = JSON.parse(json)
  expect(ceiling).toBeGreaterThan(1)
  expect(ceiling).toBeLessThan(60)
  expect(counted).toMatchObject([{ value: 1, labels: { type: 'released' } }])
  expect(exported).toMatchObject([
    ['graupel.ceiling', expect.any(Number)],
    ['graupel.lease.events', 1],
  ])
})
