import { describe, expect, it } from 'vitest'
import { describePhase, isAwaited, isParked, next, type Phase, type PhaseEvent } from '../../src/lease/phase.js'

// A row is a phase, a column an event; a dash says that the event changes nothing.
const table = `
           park     resume    release    due       woken     renewed  gone    acquired  failed   refused  given-back
acquiring  -        -         -          -         -         -        -       held      -        -        -
held       parking  resuming  releasing  renewing  renewing  -        -       -         -        -        -
failing    parking  resuming  releasing  renewing  -         -        -       -         -        -        -
renewing   parking  resuming  releasing  -         -         held     moving  -         failing  ended    -
moving     parking  resuming  releasing  -         -         -        -       held      failing  ended    -
parking    -        resuming  releasing  -         -         -        -       -         -        -        parked
parked     -        resuming  releasing  -         -         -        -       -         -        -        -
resuming   parking  -         releasing  -         -         -        -       held      parked   -        -
releasing  -        -         -          -         -         -        -       -         -        -        released
released   -        -         -          -         -         -        -       -         -        -        -
ended      -        -         -          -         -         -        -       -         -        -        -
`
const [events = [], ...rows] = table
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/ +/))
const phases = rows.map(([phase]) => phase as Phase)

describe('the phase of a lease', () => {
  it.each(rows)('%s: %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s', (phase, ...expected) => {
    const after = events.map((event) => next(phase as Phase, event.replace('-', ' ') as PhaseEvent) ?? '-')
    expect(after).toEqual(expected)
  })

  it('is left by each call of the program, except for phases in which the call has no effect', () => {
    const ignored = (event: PhaseEvent) => phases.filter((phase) => next(phase, event) === undefined)
    expect(ignored('release')).toEqual(['acquiring', 'releasing', 'released', 'ended'])
    expect(ignored('park')).toEqual(['acquiring', 'parking', 'parked', 'releasing', 'released', 'ended'])
    expect(ignored('resume')).toEqual(['acquiring', 'resuming', 'releasing', 'released', 'ended'])
  })

  it('says which work the program waits for, and what people see', () => {
    expect(phases.filter(isAwaited)).toEqual(['acquiring', 'parking', 'resuming', 'releasing'])
    expect(phases.filter(isParked)).toEqual(['parking', 'parked', 'resuming'])
    expect(phases.map((phase) => describePhase(phase, false)).join(' ')).toBe(
      'held held held held held parked parked parked released released ended',
    )
    expect(describePhase('failing', true)).toBe('expired')
    expect(describePhase('parked', true)).toBe('parked')
  })
})
