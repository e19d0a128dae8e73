// A short run proves each guarantee with few repetitions: GRAUPEL_SHORT=1, as in the gate.

/** Whether long tests take their short form. */
export const isShort = process.env['GRAUPEL_SHORT'] === '1'

/** Returns the number of repetitions of a test in its long form, or in its short form. */
export const repetitions = (long: number, short: number): number => (isShort ? short : long)
