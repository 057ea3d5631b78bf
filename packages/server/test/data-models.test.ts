import { describe, expect, test } from 'vitest'
import { everyTable } from '../src/data-model.ts'

describe('the tables of the product', () => {
  test('are these ten', () => {
    expect(everyTable.map(({ name }) => name).toSorted()).toEqual([
      'ferryhook-events',
      'ferryhook-main',
      'form-bridge-plugin-auth',
      'sealed-secrets',
      'slack-event-dedupe',
      'slack-existence-check-cache',
      'slack-workspace-tokens',
      'strongroom-branch-keys',
      'strongroom-operations',
      'strongroom-server',
    ])
  })

  test('exclude sealed-secrets from point-in-time recovery', () => {
    const secrets = everyTable.find(({ name }) => name === 'sealed-secrets')
    expect(secrets?.pointInTimeRecovery).toBe(false)
  })

  test('include the tags in the specification of sealed-secrets', () => {
    const secrets = everyTable.find(({ name }) => name === 'sealed-secrets')
    expect(secrets?.tags).toEqual({ Project: 'sealed-fyi', Environment: 'production' })
  })
})
