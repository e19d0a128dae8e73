import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type EventName, eventNames } from './availability/events.ts'
import { measure, type Run } from './availability/measure.ts'
import { rows } from './availability/sites.ts'

// Measures for how long processes get no ids when something happens to the store of their leases.

const help = `npx tsx bench/availability.ts [options]

  --store NAME    only this store; may be repeated: ${Object.keys(rows).join(', ')}
  --event NAME    only this event; may be repeated: ${eventNames.join(', ')}
  --repeats N     how often each event is measured
  --seconds N     events that have a length last N seconds: for a look, not for a claim; nothing is kept
  --json FILE     write the runs there
  --keep          keep the runs in bench/results/availability.json, in place of the former ones of the same
                  store and event
`

const kept = fileURLToPath(new URL('results/availability.json', import.meta.url))

const { values } = parseArgs({
  options: {
    store: { type: 'string', multiple: true },
    event: { type: 'string', multiple: true },
    repeats: { type: 'string' },
    seconds: { type: 'string' },
    json: { type: 'string' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(help)
  process.exit()
}
const stores = values.store ?? Object.keys(rows)
const chosen = (values.event ?? eventNames) as EventName[]
for (const name of stores) if (rows[name] === undefined) fail(`there is no store ${name}`)
for (const name of chosen) if (!eventNames.includes(name)) fail(`there is no event ${name}`)

function fail(message: string): never {
  console.error(`${message}\n\n${help}`)
  process.exit(2)
}

const runs: Run[] = []
function done(run: Run): void {
  runs.push(run)
  console.log(JSON.stringify(run))
  if (values.keep) {
    const before = existsSync(kept) ? (JSON.parse(readFileSync(kept, 'utf8')) as { runs: Run[] }).runs : []
    const isMeasured = ({ store, event }: Run) => runs.some((one) => one.store === store && one.event === event)
    writeFileSync(kept, `${JSON.stringify({ runs: [...before.filter((one) => !isMeasured(one)), ...runs] }, undefined, 1)}\n`)
  }
}

const failures: string[] = []
const present = stores.filter((store) => {
  const missing = rows[store]?.missing()
  if (missing !== undefined) failures.push(`${store} is left out, because there is no ${missing}`)
  return missing === undefined
})
await measure({
  stores: present,
  events: chosen,
  ...(values.repeats !== undefined && { repeats: Number(values.repeats) }),
  ...(values.seconds !== undefined && { seconds: Number(values.seconds) }),
  done,
  failed(store, error) {
    failures.push(`${store}: ${error.stack}`)
    console.error(failures.at(-1))
  },
})
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify({ runs }))
for (const failure of failures) console.error(failure)
process.exit(failures.length > 0 ? 1 : 0)
