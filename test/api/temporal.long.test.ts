import { execFileSync } from 'node:child_process'
import { composeId, layouts } from 'graupel'
import { expect, it } from 'vitest'
import { npmNode } from '../../scripts/npm-binary.ts'
import { repository } from '../support/documents.ts'

// Node 26 has Temporal. The tests of moment.test.ts have objects in its place.

it('a Temporal.Instant of Node 26 is taken as its milliseconds, and a ZonedDateTime is refused', () => {
  const program = `
    import { composeId, createGenerator, idsBetween, layouts } from 'graupel'
    import { uuidAt } from 'graupel/uuid'
    const instant = Temporal.Instant.from('2026-01-01T00:00:00.0009Z')
    const ms = Date.UTC(2026, 0, 1)
    const calls = [
      (time) => idsBetween(time, time, layouts.twitter).first,
      (time) => uuidAt(time),
      (epoch) => createGenerator({ node: 1, epoch, engine: 'js', state: 'process' }).layout.epochMs,
    ]
    const refused = calls.map((call) => {
      try {
        return call(instant.toZonedDateTimeISO('UTC'))
      } catch ({ code }) {
        return code
      }
    })
    const timestamp = Temporal.Instant.fromEpochMilliseconds(ms)
    console.log(calls.map((call) => call(instant) === call(ms)), refused, composeId({ timestampMs: ms, timestamp, node: 0 }, layouts.twitter))`
  const parameters = ['--input-type=module', '--eval', program]
  const output = execFileSync(npmNode('26'), parameters, { cwd: repository, encoding: 'utf8' })
  expect(output.replace(/\s+/g, ' ').trim()).toBe(
    `[ true, true, true ] [ 'ERR_OPTION_INVALID', 'ERR_ID_INVALID', 'ERR_EPOCH_INVALID' ] ${composeId({ timestampMs: Date.UTC(2026, 0, 1), node: 0 }, layouts.twitter)}n`,
  )
})
