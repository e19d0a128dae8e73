/**
 * What the pieces of the bench agree on. A subject is something that makes ids, a workload is a way to use it; each pair
 * of them runs in a process of its own (`child.js`) and ends in a {@link Result}.
 *
 * @module
 */

/**
 * What a workload asks of a subject. A subject that has no such thing answers `undefined`, and the pair is left out.
 *
 * @typedef {object} Wanted
 * @property {'wide' | 'twitter' | 'roomy' | 'number'} layout - Where the sequence must not be the limit, the kind of ids
 * that lets it be: `wide` has 65 536 of them in a millisecond, `twitter` 4 096, `roomy` 1 048 576, and `number` fits a
 * JavaScript number.
 * @property {number} node - Another one for each workload, so that none begins in the future that another has used up.
 * @property {string} [namespace] - Lets a node be used again by something that must not meet its first user.
 * @property {boolean} [isMany] - One of thousands.
 * @property {boolean} [unbounded] - Never wait for the clock: the ids may be stamped ahead of it as far as need be.
 */

/**
 * Makes ids. Has the methods that the subject offers, under these names; the timed loop calls them on this object, so an
 * adapter costs nothing where the subject's own object will do.
 *
 * @typedef {object} Source
 * @property {() => bigint | number | string} [next] - Whatever the subject makes natively.
 * @property {() => string} [nextString]
 * @property {() => number} [nextNumber]
 * @property {(array: BigUint64Array<ArrayBuffer>) => unknown} [fill]
 * @property {() => void} [close]
 */

/**
 * @typedef {object} Subject
 * @property {string} name - As in the name of its file.
 * @property {string} title
 * @property {string} [module] - What `import` has to be given, for the workload that times that.
 * @property {boolean} [isYardstick] - Makes nothing that could be checked for repeats.
 * @property {readonly string[]} [only] - The workloads that it is there for; all, if not given.
 * @property {() => Promise<(wanted: Wanted) => Source | undefined>} load
 */

/**
 * A limit of DESIGN.md, section 8.
 *
 * @typedef {object} Bar
 * @property {'ratio' | 'figure'} of
 * @property {number} [most]
 * @property {number} [least]
 */

/**
 * @typedef {object} Workload
 * @property {string} name - As in the name of its file.
 * @property {string} title
 * @property {string} unit - Of the figure.
 * @property {string} [yardstick] - What the ratio is a multiple of.
 * @property {readonly string[]} [nodeFlags] - For the process that it runs in.
 * @property {Readonly<Record<string, readonly Bar[]>>} bars - By the subject's name.
 * @property {(subject: Subject, isQuick: boolean) => Promise<Outcome | undefined>} run - `undefined` where the subject
 * does not offer it.
 */

/** @typedef {{ median: number, low: number, high: number }} Spread - The quartiles, over the rounds of one process. */

/**
 * @typedef {object} Outcome
 * @property {Spread} figure
 * @property {Spread} [ratio]
 * @property {Spread} [yardstick] - In the unit of the figure.
 * @property {Check} [check]
 * @property {string} [note]
 */

/**
 * @typedef {object} Check
 * @property {number} ids - How many of the timed ids were looked at.
 * @property {number} repeats
 * @property {number} outOfOrder - Ids that were not above the one before.
 */

/** @typedef {{ subject: string, workload: string, outcome?: Outcome, error?: string }} Result */

export {}
