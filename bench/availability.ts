import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type EventName, eventNames } from './availability/events.ts'
import { measure } from './availability/measure.ts'
import { type Kept, keptFile, page, pageOf, type Rates, rates, readKept, tables, textOf } from './availability/page.ts'
import { measureService, type ServiceEvent, serviceEventNames } from './availability/service.ts'
import { rows } from './availability/sites.ts'
import { describeMachine } from './machine.ts'

// Measures for how long processes get no ids when something happens to the store of their leases, and how
// many requests the id service loses. docs/availability.md has the tables.

const help = `npx tsx bench/availability.ts [options]

  --store NAME   only this store; may be repeated: ${Object.keys(rows).join(', ')}
  --event NAME   only this event; may be repeated: ${eventNames.join(', ')}
  --service      the id service behind HAProxy, in place of the stores; its events are ${serviceEventNames.join(', ')}
  --repeats N    how often each event is measured
  --seconds N    events that have a length last N seconds: for a look, not for a claim
  --keep         keep the runs in bench/results/availability.jsonl, in place of the former ones of the same store
                 and event, and write the tables of docs/availability.md
  --kept         measure nothing, and take the runs that are kept; with --keep, write docs/availability.md
  --rates LIST   how often each event comes in a year, such as restart=12,failover=4
`

const { values } = parseArgs({
  options: {
    store: { type: 'string', multiple: true },
    event: { type: 'string', multiple: true },
    service: { type: 'boolean', default: false },
    repeats: { type: 'string' },
    seconds: { type: 'string' },
    keep: { type: 'boolean', default: false },
    kept: { type: 'boolean', default: false },
    rates: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

function fail(message: string): never {
  console.error(`${message}\n\n${help}`)
  process.exit(2)
}

if (values.help) {
  console.log(help)
  process.exit()
}
if (values.keep && values.seconds !== undefined) fail('--seconds is for a look, so its runs cannot be kept')
const known: readonly string[] = values.service ? serviceEventNames : eventNames
for (const name of values.event ?? []) if (!known.includes(name)) fail(`there is no event ${name}`)
for (const name of values.store ?? []) if (rows[name] === undefined) fail(`there is no store ${name}`)

const yearly: Rates = { ...rates, ...readRates(values.rates) }
const failures: string[] = []
const machine = await describeMachine()
const measured: Kept = { machine, runs: [], service: [] }

if (values.kept) Object.assign(measured, readKept())
else if (values.service) await measureServices()
else await measureStores()

if (values.kept && values.keep) keep(measured)
console.log(tables(measured, yearly))
for (const failure of failures) console.error(failure)
// Some clients of stores never let the process end.
process.exit(failures.length > 0 ? 1 : 0)

async function measureStores(): Promise<void> {
  const present = (values.store ?? Object.keys(rows)).filter((store) => {
    const missing = rows[store]?.missing()
    if (missing !== undefined) failures.push(`${store} is left out, because there is no ${missing}`)
    return missing === undefined
  })
  await measure({
    stores: present,
    events: (values.event ?? eventNames) as EventName[],
    ...(values.repeats !== undefined && { repeats: Number(values.repeats) }),
    ...(values.seconds !== undefined && { seconds: Number(values.seconds) }),
    done: (run) => add('runs', run),
    failed: (store, error) => void failures.push(`${store}: ${error.stack}`),
  })
}

async function measureServices(): Promise<void> {
  for (const event of (values.event ?? serviceEventNames) as ServiceEvent[]) {
    for (let time = 0; time < Number(values.repeats ?? 3); time++) add('service', await measureService(event))
  }
}

/** Shows a run, and keeps it if that is wanted: other runs may fail later. */
function add<P extends 'runs' | 'service'>(part: P, run: Kept[P][number]): void {
  ;(measured[part] as Kept[P][number][]).push(run)
  console.log(JSON.stringify(run))
  if (values.keep) keep(measured)
}

function keep(now: Kept): void {
  const before = readKept()
  const isNew = (a: { event: string; store?: string }) => (b: { event: string; store?: string }) =>
    a.event === b.event && a.store === b.store
  const merge = <T extends { event: string; store?: string }>(former: readonly T[], now: readonly T[]) => [
    ...former.filter((one) => !now.some(isNew(one))),
    ...now,
  ]
  const kept: Kept = {
    machine: now.machine ?? machine,
    runs: merge(before.runs, now.runs),
    service: merge(before.service, now.service),
  }
  writeFileSync(keptFile, textOf(kept))
  writeFileSync(page, pageOf(kept, readFileSync(page, 'utf8')))
}

function readRates(text = ''): Partial<Rates> {
  const pairs = text
    .split(',')
    .filter(Boolean)
    .map((pair) => pair.split('='))
  for (const [name, value] of pairs) {
    if (!(eventNames as readonly (string | undefined)[]).includes(name) || !(Number(value) >= 0))
      fail(`--rates has ${name}=${value}; write EVENT=TIMES`)
  }
  return Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)]))
}
