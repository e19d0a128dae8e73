/** Units of time as patterns name them, the largest first; `yy` is the year without its century. */
export const units = ['yyyy', 'yy', 'MM', 'dd', 'HH', 'mm', 'ss', 'SSS'] as const

/** The name of a unit of time: `MM` is the month, and `mm` the minute. */
export type Unit = (typeof units)[number]

/** Whether a token stands for a unit of time. */
export function isUnit(token: string): token is Unit {
  return (units as readonly string[]).includes(token)
}
