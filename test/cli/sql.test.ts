import { composeId, layouts } from 'graupel'
import { describe, expect, it } from 'vitest'
import { graupel, lines } from '../support/cli.js'

// test/databases/sql.long.test.ts runs the statements.

describe('graupel sql', () => {
  const print = async (...words: string[]) => (await lines(['sql', ...words])).join('\n')

  it.each([
    ['postgres', 'CREATE OR REPLACE FUNCTION graupel_time(id bigint)'],
    ['mariadb', 'CREATE FUNCTION graupel_time(id BIGINT UNSIGNED)'],
    ['mysql', 'CREATE FUNCTION graupel_time(id BIGINT UNSIGNED)'],
    ['sqlite', 'AS graupel_time;'],
  ])('prints what decodes ids in %s, and nothing that makes them', async (dialect, head) => {
    const text = await print('--dialect', dialect)
    expect(text).toMatch(
      /^-- Ids of layout twitter: timestamp 41, datacenter 5, worker 5, sequence 12; tick 1 ms, epoch 2010/,
    )
    expect(text).toContain(head)
    for (const name of ['graupel_at', 'graupel_node', 'graupel_sequence']) expect(text).toContain(name)
    expect(text).not.toContain('graupel_next')
  })

  it.each(['postgres', 'mariadb'])('with a node, also prints what makes ids in %s', async (dialect) => {
    const text = await print('--dialect', dialect, '--node', 'datacenter=31,worker=31')
    expect(text).toBe(await print('--dialect', dialect, '--node', '1023'))
    expect(text).toContain('graupel_next() makes ids on node 1023')
    const bits = composeId({ timestampMs: layouts.twitter.epochMs, node: 1023 }, layouts.twitter)
    expect(text).toContain(`RETURN ((slot >> 12) << 22) | ${bits} | (slot & 4095);`)
  })

  it('takes the tick, the epoch and the order of the fields of a layout', async () => {
    const text = await print('--dialect', 'postgres', '--layout', 'sonyflake', '--epoch', '2020-01-01', '--node', '7')
    expect(text).toContain('to_timestamp(((id >> 24) * 10 + 1577836800000) / 1000.0)')
    expect(text).toContain('SELECT id & 65535')
    expect(text).toContain('RETURN ((slot >> 8) << 24) | 7 | ((slot & 255) << 16);')
  })

  const fields = ['--fields', 'timestamp 41, worker 8, shard 6 tag, sequence 8', '--epoch', '2024-01-01']

  it('prints functions of the tags of a layout of its own', async () => {
    const text = await print('--dialect', 'postgres', ...fields)
    expect(text).toContain(
      '-- Ids of layout own: timestamp 41, worker 8, shard 6 tag, sequence 8; tick 1 ms, epoch 2024',
    )
    expect(text).toContain('graupel_shard(id bigint)')
    expect(text).toContain('SELECT (id >> 8) & 63')
    const made = await print('--dialect', 'postgres', ...fields, '--node', '7', '--tag', 'shard=5')
    expect(made).toContain(`RETURN ((slot >> 8) << 22) | ${(7 << 14) | (5 << 8)} | (slot & 255);`)
  })

  it.each<[string, string, string[], RegExp]>([
    [
      'ERR_OPTION_INVALID',
      'a tag that nobody has chosen',
      ['--dialect', 'postgres', ...fields, '--node', '7'],
      /the tag 'shard' has no default.*--tag shard=0/,
    ],
    [
      'ERR_OPTION_INVALID',
      'a tag without a node',
      ['--dialect', 'postgres', ...fields, '--tag', 'shard=5'],
      /give --node/,
    ],
    [
      'ERR_OPTION_INVALID',
      'a tag whose function there is already',
      ['--dialect', 'sqlite', '--fields', 'timestamp 41, time 8 tag, sequence 8', '--epoch', '2024-01-01'],
      /the tag 'time' needs the function graupel_time\(\)/,
    ],
    [
      'ERR_OPTION_INVALID',
      'no dialect',
      [],
      /there is no dialect; give --dialect with one of postgres, mariadb, mysql, sqlite/,
    ],
    [
      'ERR_OPTION_INVALID',
      'another dialect',
      ['--dialect', 'postgresql'],
      /--dialect is 'postgresql' \(did you mean 'postgres'\?\)/,
    ],
    ['ERR_OPTION_INVALID', 'a word', ['postgres'], /sql takes no 'postgres'/],
    [
      'ERR_OPTION_INVALID',
      'a node in SQLite',
      ['--dialect', 'sqlite', '--node', '7'],
      /graupel makes no ids in sqlite, only in postgres/,
    ],
    [
      'ERR_OPTION_INVALID',
      'a node in MySQL',
      ['--dialect', 'mysql', '--node', '7'],
      /graupel makes no ids in mysql, only in postgres/,
    ],
    ['ERR_NODE_INVALID', 'a node that does not fit', ['--dialect', 'postgres', '--node', '1024'], /the node is 1024/],
    ['ERR_NODE_INVALID', 'no node', ['--dialect', 'postgres', '--node', 'x'], /--node is 'x'; give a whole number/],
    [
      'ERR_OPTION_INVALID',
      'a node of a layout of 64 bits',
      ['--dialect', 'mariadb', '--layout', 'discord', '--node', '7'],
      /--layout is 'discord', whose ids have 64 bits, and a BIGINT holds 63; leave --node out/,
    ],
    [
      'ERR_LAYOUT_DECODE_ONLY',
      'a node of a layout for reading',
      ['--dialect', 'postgres', '--layout', 'mastodon', '--node', '0'],
      /mastodon/,
    ],
    [
      'ERR_LAYOUT_EXPIRED',
      'a node of a layout that has expired',
      ['--dialect', 'postgres', '--layout', 'baidu', '--node', '7'],
      /expired/,
    ],
    ['ERR_EPOCH_INVALID', 'a bad epoch', ['--dialect', 'postgres', '--epoch', '2020'], /a year or milliseconds/],
  ])('gives %s for %s', async (code, _name, words, message) => {
    const { status, stdout, stderr } = await graupel(['sql', ...words])
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(message)
    expect(stderr.endsWith(` (${code})\n`)).toBe(true)
  })
})
