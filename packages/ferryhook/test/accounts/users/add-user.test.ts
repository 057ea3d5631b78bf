import { createTables } from '@strongroom/kit/tables'
import { testStores } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import { addUser } from '../../../src/accounts/users/add-user.ts'
import { hashApiKey } from '../../../src/accounts/api-keys/store.ts'
import { tables } from '../../../src/tables.ts'
import { storesOn, required } from '../../support/test-stores.ts'
import { endingAfter } from '../../support/ending-after.ts'

describe.each(testStores())('a user that an operator adds, on $name', (store) => {
  test('exists with a key or not at all after a crash, and can be added again', async () => {
    const { db, close } = await store.open()
    await createTables(db, tables)
    const clock = testClock()
    const stores = storesOn(db, clock)
    const who = { email: 'ada@example.com', name: 'Ada', plan: 'pro' } as const
    const add = () => addUser(stores, who, { actor: 'operator:ops' })
    for (let writes = 0; ; writes++) {
      const { answer, isEnded } = await endingAfter(db, writes, () => add().catch(() => undefined))
      const user = await stores.users.getByEmail(who.email)
      const keys = user ? await stores.apiKeys.listByUser(user.userId) : []
      expect(keys, `after ${writes} writes`).toHaveLength(user ? 1 : 0)
      if (isEnded) continue
      const { user: added, key } = required(answer)
      const { userId } = added
      expect(await stores.apiKeys.getByHash(hashApiKey(key))).toMatchObject({
        userId,
        permissions: 'admin',
      })
      const { items } = await stores.audit.listByUser(userId)
      const actions = items.map(({ action }) => action)
      expect(actions.toSorted()).toEqual(['account.created', 'api_key.created'])
      break
    }
    await expect(add()).rejects.toMatchObject({ code: 'ferryhook.email_taken' })
    await close()
  })
})
