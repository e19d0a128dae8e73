/** Whether long tests run in their short form, with few repetitions. */
export const isShort = Boolean(process.env['GRAUPEL_SHORT'])

/** The number of repetitions of a long test in its long and in its short form. */
export function repetitions(long: number, short: number): number {
  return isShort ? short : long
}
