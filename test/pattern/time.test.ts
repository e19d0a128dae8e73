import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { calendarEndMs, calendarStartMs, readOffset, timeOfTexts, unitTexts } from '../../src/pattern/calendar.js'

describe('a time zone', () => {
  it.each([
    ['UTC', 0],
    ['Z', 0],
    ['+00:00', 0],
    ['-00:00', 0],
    ['+08:00', 480],
    ['-03:30', -210],
    ['+05:45', 345],
    ['+14:00', 840],
    ['-14:00', -840],
  ])('%s is %i minutes ahead of UTC', (timeZone, minutes) => {
    expect(readOffset(timeZone)).toBe(minutes)
  })

  it.each(['', '+8', '+08', '+0800', '08:00', '+8:00', '+08:60', '+14:01', '-15:00', '+08:00 ', '+08:00:00', '−08:00'])(
    'is refused if it is %j',
    (timeZone) => {
      const refused = expect(() => readOffset(timeZone))
      refused.toThrow(RangeError)
      refused.toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID' }))
      refused.toThrow(`timeZone is '${timeZone}'; pass 'UTC' or a fixed offset from -14:00 to +14:00`)
    },
  )

  it.each(['Europe/Berlin', 'America/Port-au-Prince', 'Etc/GMT+8', 'CET', 'utc'])(
    'is refused where it is the name %s, because clocks of such zones go back',
    (timeZone) => {
      expect(() => readOffset(timeZone)).toThrow(
        `timeZone is '${timeZone}', and the clocks of a named zone can go back, as they do after summer time: one text would stand for two moments; pass 'UTC'`,
      )
    },
  )

  it.each([undefined, null, 8, 480])('is refused if it is %j', (timeZone) => {
    const refused = expect(() => readOffset(timeZone))
    refused.toThrow(TypeError)
    refused.toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID' }))
  })
})

describe('date and time', () => {
  const moment = Date.UTC(2026, 10, 22, 20, 5, 6, 7)

  it('are digits of constant width', () => {
    expect(unitTexts(moment, 0)).toEqual({
      ...{ yyyy: '2026', yy: '26', MM: '11', dd: '22' },
      ...{ HH: '20', mm: '05', ss: '06', SSS: '007' },
    })
  })

  it('are those of the offset', () => {
    expect(unitTexts(moment, 480)).toMatchObject({ dd: '23', HH: '04', mm: '05' })
    expect(unitTexts(moment, -210)).toMatchObject({ dd: '22', HH: '16', mm: '35' })
  })

  it('have years from 0 to 9999 at every offset', () => {
    for (const offset of [0, 480, -840]) {
      const first = calendarStartMs(offset)
      const last = calendarEndMs(offset)
      expect(unitTexts(first, offset)).toMatchObject({ yyyy: '0000', MM: '01', dd: '01', HH: '00', SSS: '000' })
      expect(unitTexts(last, offset)).toMatchObject({ yyyy: '9999', MM: '12', dd: '31', HH: '23', SSS: '999' })
    }
  })

  it('lead back to their moment', () => {
    fc.assert(
      fc.property(fc.integer({ min: -840, max: 840 }), fc.double({ min: 0, max: 1, noNaN: true }), (offset, share) => {
        const [first, last] = [calendarStartMs(offset), calendarEndMs(offset)]
        const timeMs = first + Math.floor(share * (last - first))
        expect(timeOfTexts(unitTexts(timeMs, offset), offset)).toBe(timeMs)
      }),
    )
  })

  it('are those that Date writes', () => {
    fc.assert(
      fc.property(fc.integer({ min: calendarStartMs(0), max: calendarEndMs(0) }), (timeMs) => {
        const { yyyy, MM, dd, HH, mm, ss, SSS } = unitTexts(timeMs, 0)
        expect(`${yyyy}-${MM}-${dd}T${HH}:${mm}:${ss}.${SSS}Z`).toBe(new Date(timeMs).toISOString())
      }),
    )
  })

  it('have their first value if they are left out', () => {
    expect(timeOfTexts({ yyyy: '2026' }, 0)).toBe(Date.UTC(2026, 0, 1))
    expect(timeOfTexts({ yyyy: '0050', MM: '02' }, 60)).toBe(Date.parse('0050-01-31T23:00:00Z'))
  })

  it.each([
    { MM: '13' },
    { MM: '00' },
    { MM: '04', dd: '31' },
    { MM: '02', dd: '29' },
    { dd: '00' },
    { HH: '24' },
    { mm: '60' },
    { ss: '60' },
    { yyyy: '9999', MM: '99' },
    { yyyy: '0000', MM: '00' },
  ])('have no moment where they are %j', (texts) => {
    expect(timeOfTexts({ yyyy: '2026', ...texts }, 0)).toBeUndefined()
  })

  it('have a 29th of February in leap years', () => {
    expect(timeOfTexts({ yyyy: '2028', MM: '02', dd: '29' }, 0)).toBe(Date.UTC(2028, 1, 29))
    expect(timeOfTexts({ yyyy: '2000', MM: '02', dd: '29' }, 0)).toBe(Date.UTC(2000, 1, 29))
    expect(timeOfTexts({ yyyy: '2100', MM: '02', dd: '29' }, 0)).toBeUndefined()
  })
})
