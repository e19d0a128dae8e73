import { makeLayout } from './define.js'
import type { Field, Layout, Named } from './layout.js'

/** Twitter's epoch, which many systems use with its 41-bit timestamp: 4 November 2010, 01:42:54.657 UTC. */
const twitterEpochMs = 1288834974657

/** 1 January 2020, 00:00 UTC. */
const year2020Ms = 1577836800000

/** The fields of each layout, as types. */
export declare namespace layouts {
  /** The fields of `layouts.twitter`. */
  interface Twitter extends Named<[['timestamp', 41], ['datacenter', 5], ['worker', 5], ['sequence', 12]]> {}
  /** The fields of `layouts.leaf`. */
  interface Leaf extends Named<[['timestamp', 41], ['worker', 10], ['sequence', 12]]> {}
  /** The fields of `layouts.discord`. */
  interface Discord extends Named<[['timestamp', 42], ['worker', 5], ['process', 5], ['sequence', 12]]> {}
  /** The fields of `layouts.instagram`. */
  interface Instagram extends Named<[['timestamp', 41], ['shard', 13], ['sequence', 10]]> {}
  /** The fields of `layouts.mastodon`. */
  interface Mastodon extends Named<[['timestamp', 48], ['sequence', 16]]> {}
  /** The fields of `layouts.sonyflake`. */
  interface Sonyflake extends Named<[['timestamp', 39], ['sequence', 8], ['machine', 16]]> {}
  /** The fields of `layouts.baidu`. */
  interface Baidu extends Named<[['timestamp', 28], ['worker', 22], ['sequence', 13]]> {}
  /** The fields of `layouts.tsid`. */
  interface Tsid extends Named<[['timestamp', 42], ['node', 10], ['sequence', 12]]> {}
  /** The fields of `layouts.js53`. */
  interface Js53 extends Named<[['timestamp', 41], ['node', 5], ['sequence', 7]]> {}
  /** The fields of `layouts.wide`. */
  interface Wide extends Named<[['timestamp', 41], ['node', 6], ['sequence', 16]]> {}
}

/**
 * The layouts of well-known systems. Each layout reads and writes exactly the ids of the system it is named
 * after; `docs/layouts.md` shows their bits, sources and expiry. The types of their fields are
 * `layouts.Twitter`, `layouts.Discord` and so on: `IdGenerator<layouts.Twitter>`.
 *
 * @example
 * layouts.discord.expiresAt.getUTCFullYear() // 2154
 */
export const layouts = /* @__PURE__ */ Object.freeze({
  /**
   * The ids of Twitter, which is X today. The default of generators, leases and clients.
   *
   * - fields: timestamp 41, datacenter 5, worker 5, sequence 12
   * - width: 63 bits
   * - time: ticks of 1 ms from 2010-11-04T01:42:54.657Z to 2080-07-10
   * - source: [twitter-archive/snowflake](https://github.com/twitter-archive/snowflake/tree/snowflake-2010)
   */
  twitter: /* @__PURE__ */ preset<layouts.Twitter>('twitter', twitterEpochMs, 1, [
    ['timestamp', 41],
    ['datacenter', 5],
    ['worker', 5],
    ['sequence', 12],
  ]),
  /**
   * The ids of Leaf by Meituan: Twitter's bits, with one worker number.
   *
   * - fields: timestamp 41, worker 10, sequence 12
   * - width: 63 bits
   * - time: ticks of 1 ms from 2010-11-04T01:42:54.657Z to 2080-07-10
   * - source: [Meituan-Dianping/Leaf](https://github.com/Meituan-Dianping/Leaf)
   */
  leaf: /* @__PURE__ */ preset<layouts.Leaf>('leaf', twitterEpochMs, 1, [
    ['timestamp', 41],
    ['worker', 10],
    ['sequence', 12],
  ]),
  /**
   * The ids of Discord.
   *
   * - fields: timestamp 42, worker 5, process 5, sequence 12
   * - width: 64 bits, unsigned; they fit a signed column of 64 bits until 2084-09-06
   * - time: ticks of 1 ms from 2015-01-01T00:00:00.000Z to 2154-05-15
   * - source: [Discord's reference](https://discord.com/developers/docs/reference#snowflakes)
   */
  discord: /* @__PURE__ */ preset<layouts.Discord>('discord', 1420070400000, 1, [
    ['timestamp', 42],
    ['worker', 5],
    ['process', 5],
    ['sequence', 12],
  ]),
  /**
   * The ids of Instagram.
   *
   * - fields: timestamp 41, shard 13, sequence 10
   * - width: 64 bits, unsigned; they fit a signed column of 64 bits until 2046-06-27
   * - time: ticks of 1 ms from 2011-08-24T21:07:01.721Z to 2081-04-30
   * - source: [Sharding & IDs at
   *   Instagram](https://instagram-engineering.com/sharding-ids-at-instagram-1cf5a71e5a5c)
   */
  instagram: /* @__PURE__ */ preset<layouts.Instagram>('instagram', 1314220021721, 1, [
    ['timestamp', 41],
    ['shard', 13],
    ['sequence', 10],
  ]),
  /**
   * The ids of Mastodon. For reading alone: its 16 bits of sequence are partly a hash that only its database
   * knows, so generators, leases and clients refuse it by `ERR_LAYOUT_DECODE_ONLY`. It has no node.
   *
   * - fields: timestamp 48, sequence 16
   * - width: 64 bits, unsigned; they fit a signed column of 64 bits until 6429-10-17
   * - time: ticks of 1 ms from 1970-01-01T00:00:00.000Z to 10889-08-02
   * - source:
   *   [lib/mastodon/snowflake.rb](https://github.com/mastodon/mastodon/blob/main/lib/mastodon/snowflake.rb)
   */
  mastodon: /* @__PURE__ */ preset<layouts.Mastodon>(
    'mastodon',
    0,
    1,
    [
      ['timestamp', 48],
      ['sequence', 16],
    ],
    true,
  ),
  /**
   * The ids of Sonyflake with its default start time. The sequence stands above the machine, so ids of
   * different machines interleave within a tick.
   *
   * - fields: timestamp 39, sequence 8, machine 16
   * - width: 63 bits
   * - time: ticks of 10 ms from 2014-09-01T00:00:00.000Z to 2188-11-16
   * - source: [sony/sonyflake](https://github.com/sony/sonyflake)
   */
  sonyflake: /* @__PURE__ */ preset<layouts.Sonyflake>('sonyflake', 1409529600000, 10, [
    ['timestamp', 39],
    ['sequence', 8],
    ['machine', 16],
  ]),
  /**
   * The ids of uid-generator by Baidu with its default epoch. For `decode` alone: a generator refuses it by
   * `ERR_LAYOUT_EXPIRED`, unless it has a later `epoch`.
   *
   * - fields: timestamp 28, worker 22, sequence 13
   * - width: 63 bits
   * - time: ticks of 1 s from 2016-05-19T16:00:00.000Z to 2024-11-20
   * - source: [baidu/uid-generator](https://github.com/baidu/uid-generator)
   */
  baidu: /* @__PURE__ */ preset<layouts.Baidu>('baidu', 1463673600000, 1000, [
    ['timestamp', 28],
    ['worker', 22],
    ['sequence', 13],
  ]),
  /**
   * The ids of tsid-creator and of tsid-ts with their default 10 bits of node.
   *
   * - fields: timestamp 42, node 10, sequence 12
   * - width: 64 bits, unsigned; they fit a signed column of 64 bits until 2089-09-06
   * - time: ticks of 1 ms from 2020-01-01T00:00:00.000Z to 2159-05-15
   * - source: [f4b6a3/tsid-creator](https://github.com/f4b6a3/tsid-creator)
   */
  tsid: /* @__PURE__ */ preset<layouts.Tsid>('tsid', year2020Ms, 1, [
    ['timestamp', 42],
    ['node', 10],
    ['sequence', 12],
  ]),
  /**
   * Ids that are JavaScript numbers: generators of this layout have `nextNumber()`. A layout of graupel.
   *
   * - fields: timestamp 41, node 5, sequence 7
   * - width: 53 bits
   * - time: ticks of 1 ms from 2020-01-01T00:00:00.000Z to 2089-09-06
   */
  js53: /* @__PURE__ */ preset<layouts.Js53>('js53', year2020Ms, 1, [
    ['timestamp', 41],
    ['node', 5],
    ['sequence', 7],
  ]),
  /**
   * For more than four million ids a second on one node. A layout of graupel.
   *
   * - fields: timestamp 41, node 6, sequence 16
   * - width: 63 bits
   * - time: ticks of 1 ms from 2020-01-01T00:00:00.000Z to 2089-09-06
   */
  wide: /* @__PURE__ */ preset<layouts.Wide>('wide', year2020Ms, 1, [
    ['timestamp', 41],
    ['node', 6],
    ['sequence', 16],
  ]),
})

/**
 * Makes a layout without the checks of `defineLayout`, which take a millisecond for all presets. A test makes
 * them.
 */
function preset<F extends readonly Field[]>(
  name: string,
  epochMs: number,
  tickMs: number,
  fields: F,
  decodeOnly = false,
): Layout<F> {
  for (const field of fields) Object.freeze(field)
  const layout = { name, epochMs, tickMs, fields: Object.freeze(fields) as F, decodeOnly }
  return makeLayout({ ...layout, unsigned: fields.reduce((sum, [, bits]) => sum + bits, 0) === 64 })
}
