import { expect, test } from 'vitest'
import { clientNotes, schemes, storeFlags } from '../../../src/cli/store.js'
import { kinds, schemes as opened } from '../../../src/stores/url/kinds.js'

test('manuals of the command name every scheme and every client of openStore', () => {
  expect(schemes).toEqual(opened)
  const clients = kinds.flatMap(({ schemes, clients }) => {
    const names = clients.flatMap(({ name }) => name ?? [])
    return names.length === 0 ? [] : [`  ${schemes[0]} ${names.join(', ')}`]
  })
  expect(clientNotes.slice(1)).toEqual(clients)
})

test('manuals of the command name every kind of store with a table', () => {
  const withTables = kinds.filter(({ named }) => named === 'table').flatMap(({ schemes }) => schemes[0])
  expect(withTables).toEqual(['postgres:', 'mysql:', 'dynamodb:', 'mongodb:', 'sqlite:'])
  expect(storeFlags.table.help).toContain('its table or collection, in a SQL database, DynamoDB or MongoDB')
})
