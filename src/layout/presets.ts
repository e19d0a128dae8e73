import { defineLayout } from './define.js'

/** Twitter's epoch, which many systems use with its 41-bit timestamp: 4 November 2010, 01:42:54.657 UTC. */
const twitterEpochMs = 1288834974657

/** 1 January 2020, 00:00 UTC. */
const year2020Ms = 1577836800000

/**
 * The layouts of well-known systems. Each reads and writes exactly the ids of the system it is named after;
 * `docs/layouts.md` shows their bits, sources and expiry.
 *
 * @example
 * layouts.discord.expiresAt.getUTCFullYear() // 2154
 */
export const layouts = Object.freeze({
  twitter: defineLayout({
    name: 'twitter',
    epochMs: twitterEpochMs,
    tickMs: 1,
    fields: [
      ['timestamp', 41],
      ['datacenter', 5],
      ['worker', 5],
      ['sequence', 12],
    ],
  }),
  leaf: defineLayout({
    name: 'leaf',
    epochMs: twitterEpochMs,
    tickMs: 1,
    fields: [
      ['timestamp', 41],
      ['worker', 10],
      ['sequence', 12],
    ],
  }),
  discord: defineLayout({
    name: 'discord',
    epochMs: 1420070400000,
    tickMs: 1,
    fields: [
      ['timestamp', 42],
      ['worker', 5],
      ['process', 5],
      ['sequence', 12],
    ],
    unsigned: true,
  }),
  instagram: defineLayout({
    name: 'instagram',
    epochMs: 1314220021721,
    tickMs: 1,
    fields: [
      ['timestamp', 41],
      ['shard', 13],
      ['sequence', 10],
    ],
    unsigned: true,
  }),
  mastodon: defineLayout({
    name: 'mastodon',
    epochMs: 0,
    tickMs: 1,
    fields: [
      ['timestamp', 48],
      ['sequence', 16],
    ],
    unsigned: true,
    // PostgreSQL's md5 of the table, a secret and the time, plus the table's sequence (lib/mastodon/snowflake.rb).
    decodeOnly: true,
  }),
  sonyflake: defineLayout({
    name: 'sonyflake',
    epochMs: 1409529600000,
    tickMs: 10,
    fields: [
      ['timestamp', 39],
      ['sequence', 8],
      ['machine', 16],
    ],
  }),
  baidu: defineLayout({
    name: 'baidu',
    epochMs: 1463673600000,
    tickMs: 1000,
    fields: [
      ['timestamp', 28],
      ['worker', 22],
      ['sequence', 13],
    ],
  }),
  tsid: defineLayout({
    name: 'tsid',
    epochMs: year2020Ms,
    tickMs: 1,
    fields: [
      ['timestamp', 42],
      ['node', 10],
      ['sequence', 12],
    ],
    unsigned: true,
  }),
  js53: defineLayout({
    name: 'js53',
    epochMs: year2020Ms,
    tickMs: 1,
    fields: [
      ['timestamp', 41],
      ['node', 5],
      ['sequence', 7],
    ],
  }),
  wide: defineLayout({
    name: 'wide',
    epochMs: year2020Ms,
    tickMs: 1,
    fields: [
      ['timestamp', 41],
      ['node', 6],
      ['sequence', 16],
    ],
  }),
})
