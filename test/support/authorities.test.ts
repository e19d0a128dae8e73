import { expect, it } from 'vitest'
import { hideAuthorities, trustOfRegistry } from '../../scripts/authorities.ts'

it('NODE_EXTRA_CA_CERTS is hidden from the processes of tests, also by a run in a run, and given to npm', () => {
  expect(process.env['NODE_EXTRA_CA_CERTS']).toBeUndefined()
  process.env['NODE_EXTRA_CA_CERTS'] = '/company.pem'
  hideAuthorities()
  hideAuthorities()
  expect(process.env['NODE_EXTRA_CA_CERTS']).toBeUndefined()
  expect(trustOfRegistry()).toEqual({ NODE_EXTRA_CA_CERTS: '/company.pem' })
})
