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
 * JavaScript number. Rivals have the layout that they have.
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
 * @property {() => any} [next] - Whatever the subject makes natively.
 * @property {() => string} [nextString]
 * @property {() => number} [nextNumber]
 * @property {(array: BigUint64Array<ArrayBuffer>) => unknown} [fill]
 * @property {(array: BigUint64Array<ArrayBuffer>) => Promise<unknown>} [fillAsync]
 * @property {() => void} [close]
 */

/**
 * @typedef {object} Codecs
 * @property {(id: bigint) => string} [encode] - In base 62.
 * @property {(id: bigint) => any} [decode] - Into its fields.
 * @property {(decoded: any) => number | bigint} [timeOf] - Of those fields, in milliseconds; not timed.
 */

/**
 * How the time is read from an id.
 *
 * @typedef {object} Stamp
 * @property {number} epochMs
 * @property {number} shift - Bits below the timestamp, which is in milliseconds.
 * @property {number} perMs - Ids that its sequence has for each.
 */

/**
 * @typedef {object} Subject
 * @property {string} name - Unique.
 * @property {string} title
 * @property {'graupel' | 'yardstick' | 'rival' | 'other'} group - What `other` makes is no id of 64 bits, and not checked.
 * @property {() => string} [url] - What `import` has to be given, for the workload that times that.
 * @property {boolean} [isAsync] - `next` returns promises.
 * @property {(native: any) => bigint} [toId] - From what `next` returns; `BigInt`, if not given.
 * @property {() => Promise<Codecs>} [codecs]
 * @property {Stamp} [stamp] - Of rivals, whose layout is always the same.
 * @property {readonly string[]} [only] - The workloads that it is there for; all, if not given.
 * @property {() => Promise<(wanted: Wanted) => Source | undefined>} load
 */

/**
 * A limit of DESIGN.md, section 8. `lead` is how many times the subject is faster than the fastest rival, by their ratios.
 *
 * @typedef {object} Bar
 * @property {'ratio' | 'figure' | 'lead'} of
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
 * @property {boolean} [onEveryNode] - It is worth running on other versions of Node, too.
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
 * @property {number} [disturbed] - Rounds that do not count, because the yardstick was slow in them.
 * @property {string} [note]
 * @property {readonly { threads: number, idsPerMs: number }[]} [line] - For the chart of ids against threads.
 */

/**
 * What was wrong with the ids that were timed.
 *
 * @typedef {object} Check
 * @property {number} ids - How many of them were looked at.
 * @property {number} repeats
 * @property {number} outOfOrder - Ids that were not above the one before.
 * @property {number} future - Ids that were stamped later than the moment when they had been made.
 * @property {number} [wrong] - Of codecs: results that were not what they should be.
 */

/**
 * @typedef {object} Result
 * @property {string} subject
 * @property {string} workload
 * @property {string} node - Version of Node.
 * @property {Outcome} [outcome]
 * @property {string} [error]
 */

/** @typedef {import('./machine.js').Machine} Machine */
/** @typedef {{ machine: Machine, command: string, quick: boolean, results: Result[], steps?: Steps }} Report - What is in a JSON file. */

/** @typedef {{ step: string, threads: number, ns: Spread }[]} Steps - Of the native core, without Node (`bench/native`). */

export {}
