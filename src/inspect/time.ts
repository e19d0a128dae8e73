const units = [
  ['year', 365.25 * 24 * 3_600_000],
  ['month', (365.25 / 12) * 24 * 3_600_000],
  ['day', 24 * 3_600_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const

/** A time in the local time zone: `2016-04-30 13:18:25.796 +02:00 Europe/Berlin`. */
export function localTime(time: Date): string {
  const offsetMinutes = -Math.round(time.getTimezoneOffset())
  const shifted = new Date(time.getTime() + offsetMinutes * 60_000).toISOString()
  const minutes = Math.abs(offsetMinutes)
  const two = (part: number) => String(part).padStart(2, '0')
  const offset = `${offsetMinutes < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  return `${shifted.slice(0, -1).replace('T', ' ')} ${offset} ${timeZone}`
}

/** How long ago, in the largest unit that fits: `10 years ago`, `in 3 days`. */
export function howLongAgo(timeMs: number, nowMs: number): string {
  const amount = amountOf(Math.abs(nowMs - timeMs))
  return timeMs > nowMs ? `in ${amount}` : `${amount} ago`
}

/** How far from another time: `10 years behind`, `3 days ahead of`. */
export function howFar(timeMs: number, nowMs: number): string {
  return `${amountOf(Math.abs(nowMs - timeMs))} ${timeMs > nowMs ? 'ahead of' : 'behind'}`
}

function amountOf(ms: number): string {
  const [unit, unitMs] = units.find(([, unitMs]) => ms >= unitMs) ?? ['millisecond', 1]
  const count = Math.floor(ms / unitMs)
  return `${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`
}
