import { describe, expect, it } from 'vitest'
import { combineNode, defineLayout as define, type Layout } from '../../src/layout/index.js'
import { chooseNodes, Group } from '../../src/lease/group.js'

const spec = {
  name: 'three fields',
  epochMs: Date.UTC(2025, 0, 1),
  tickMs: 1,
  fields: [
    ['region', 2],
    ['timestamp', 41],
    ['rack', 3],
    ['worker', 2],
    ['sequence', 12],
  ],
} as const
const layout = define(spec) as unknown as Layout

/** All nodes of a set. Checks that `at` and `has` agree. */
function nodesOf(fixed?: unknown, range?: unknown) {
  const choice = chooseNodes(layout, fixed, range)
  const nodes = Array.from({ length: choice.count }, (_, index) => choice.at(index))
  const had = Array.from({ length: layout.nodes }, (_, node) => node).filter((node) => choice.has(node))
  expect(had).toEqual(nodes)
  return nodes
}

describe('the nodes that a lease may have', () => {
  it('are all of the layout by default', () => {
    expect(nodesOf()).toEqual(Array.from({ length: 128 }, (_, node) => node))
  })

  it('have the fields that are fixed, wherever these are', () => {
    const expected = (fits: (region: number, rack: number, worker: number) => boolean) => {
      const nodes = []
      for (let region = 0; region < 4; region++) {
        for (let rack = 0; rack < 8; rack++) {
          for (let worker = 0; worker < 4; worker++) {
            if (fits(region, rack, worker)) nodes.push(combineNode(layout, { region, rack, worker }))
          }
        }
      }
      return nodes
    }
    expect(nodesOf({ region: 3 })).toEqual(expected((region) => region === 3))
    expect(nodesOf({ rack: 5 })).toEqual(expected((_, rack) => rack === 5))
    expect(nodesOf({ worker: 1, region: 0 })).toEqual(expected((region, _, worker) => worker === 1 && region === 0))
    expect(nodesOf({ region: 1, rack: 2, worker: 3 })).toEqual([combineNode(layout, { region: 1, rack: 2, worker: 3 })])
    expect(nodesOf({})).toHaveLength(128)
  })

  it('are one node if a number is given', () => {
    expect(nodesOf(77)).toEqual([77])
  })

  it('lie in a range, both ends included, beside fields that are fixed', () => {
    expect(nodesOf(undefined, [3, 5])).toEqual([3, 4, 5])
    expect(nodesOf({ worker: 1 }, [2, 9])).toEqual([5, 9])
    expect(nodesOf(undefined, [127, 127])).toEqual([127])
  })

  it('are told from others without a look at the layout, which a thousand of them would make slow', () => {
    let looks = 0
    const watched = new Proxy(layout, {
      get(of, name) {
        looks++
        return Reflect.get(of, name)
      },
    })
    const choice = chooseNodes(watched, { rack: 5 }, [2, 100])
    looks = 0
    const had = Array.from({ length: layout.nodes }, (_, node) => node).filter((node) => choice.has(node))
    expect(had).toHaveLength(choice.count)
    expect(looks).toBe(0)
  })
})

describe('the shards of a lease', () => {
  const wide = define({
    name: 'wide',
    epochMs: 0,
    tickMs: 1,
    fields: [
      ['timestamp', 41],
      ['node', 13],
      ['sequence', 9],
    ],
  }) as unknown as Layout

  it.each([
    [
      [0, 1030],
      [1, 0],
    ],
    [
      [1023, 3072],
      [1, 2, 3, 0],
    ],
    [
      [5000, 8191],
      [4, 5, 6, 7],
    ],
  ])('of the nodes %j can all be drawn, without one twice', (range, shards) => {
    const group = Group.of(wide, 'orders', chooseNodes(wide, undefined, range))
    for (let index = 0; index < group.nodes.count; index += 97) {
      const drawn = new Set<number>()
      for (let shard = group.shardFrom(index, drawn); shard !== undefined; shard = group.shardFrom(index, drawn)) {
        expect(drawn).not.toContain(shard)
        drawn.add(shard)
      }
      expect([...drawn].toSorted()).toEqual(shards.toSorted())
    }
  })

  it('are chosen for a node with many', () => {
    const group = Group.of(wide, 'orders', chooseNodes(wide, { node: 7 }, undefined))
    expect(group.shardFrom(0, new Set())).toBe(0)
    expect(group.shardFrom(0, new Set([0]))).toBe(undefined)
  })
})

describe('the group of a lease', () => {
  const groupOf = (changes: object, namespace = 'orders') =>
    Group.of(define({ ...spec, ...changes }) as unknown as Layout, namespace, chooseNodes(layout, undefined, undefined))

  it('is one for layouts whose ids have the same bits, whatever their names are', () => {
    const renamed = [['zone', 2], ...spec.fields.slice(1)]
    expect(groupOf({ name: 'other', fields: renamed }).key).toBe(groupOf({}).key)
  })

  it.each([
    ['epoch', { epochMs: 0 }, 'orders'],
    ['tick', { tickMs: 2 }, 'orders'],
    ['bits', { fields: [['region', 1], ...spec.fields.slice(1)] }, 'orders'],
    ['namespace', {}, 'order'],
  ])('is another one for another %s', (_, changes, namespace) => {
    const [one, other] = [groupOf({}), groupOf(changes, namespace)]
    expect(other.key).not.toBe(one.key)
    expect(other.ids).not.toBe(one.ids)
  })

  it('has keys that stores can hold, for any namespace', () => {
    const group = groupOf({}, '/räume/\n'.repeat(30))
    for (const key of [group.key, group.keyOf(127), group.folderOf(0)]) expect(key).toMatch(/^[!-~]{1,255}$/)
  })
})
