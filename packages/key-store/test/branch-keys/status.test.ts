import { testStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { createKeyStoreStatus } from '../../src/branch-keys/status.ts'
import { openListingOn } from '../../src/start.ts'
import { TABLE } from '../support/branch-keys.ts'
import { openKeyStoreService } from '../support/open-service.ts'

describe.each(testStores())('the status of the key store on $name', (store) => {
  const opened = openKeyStoreService(store)
  const encryptionContext = { tenant: 'a' }

  test('names branch keys older than a year and those that are unreadable, and how to fix them', async () => {
    const read = () =>
      createKeyStoreStatus({ listing: openListingOn(opened.db), clock: opened.clock })()
    await opened.ask('POST', '/keys', { id: 'old', encryptionContext })
    expect(await read()).toEqual({ note: '1 branch key', problems: [] })
    opened.clock.advance({ days: 375 })
    await opened.ask('POST', '/keys', { id: 'new', encryptionContext })
    expect(await read()).toMatchObject({
      note: '2 branch keys, 1 older than a year',
      problems: [
        {
          severity: 'warn',
          title: '1 branch key is older than 365 days',
          since: opened.clock.now() - 10 * 86_400_000,
          command: 'strongroom keys rotate --all --older-than 365d',
        },
      ],
    })
    await opened.db.putItem({
      TableName: TABLE,
      Item: { 'branch-key-id': 'broken', type: 'branch:ACTIVE' },
    })
    expect((await read()).problems[0]).toMatchObject({
      severity: 'bad',
      title: '1 branch key is unreadable',
    })
  })
})
