import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { User } from '../../../src/accounts/users/item.ts'
import { endingAfter } from '../../support/ending-after.ts'
import { openWorkerBench, type WorkerBench } from '../../support/test-worker.ts'
import { allDue, required, times } from '../../support/test-stores.ts'

describe.each(serviceStores())('the purge of an account on $name', (store) => {
  let bench: WorkerBench

  beforeAll(async () => {
    bench = await openWorkerBench({ store })
  })
  afterAll(() => bench.close())

  async function newAccount(): Promise<User> {
    const { stores } = bench
    const source = await bench.newSource()
    const { userId } = source
    await bench.connect(source, '/')
    await stores.apiKeys.create(userId, { name: 'CI', permissions: 'read' })
    await stores.alertSettings.put(userId, { kinds: [], email: false }, { expected: null })
    return required(await stores.users.getById(userId))
  }

  async function end(user: User): Promise<void> {
    const by = { actor: `user:${user.userId}`, action: 'account.deleted' } as const
    await bench.stores.accountPurge.finish(
      await bench.stores.accountPurge.begin(user, { by, expected: user }),
    )
  }

  async function kept({ userId }: User): Promise<number> {
    const { Items = [] } = await bench.db.scan({ TableName: 'ferryhook-main' })
    return Items.filter((item) => JSON.stringify(item).includes(userId)).length
  }

  test('has not started or finishes by itself, and is in the audit log, wherever a process crashes', async () => {
    for (let writes = 0; ; writes++) {
      const user = await newAccount()
      const before = await kept(user)
      const ended = await endingAfter(bench.db, writes, () => end(user).catch(() => undefined))
      const isBegun = (await bench.stores.users.getById(user.userId)) === null
      const { items } = await bench.stores.audit.listByUser(user.userId)
      expect(items.map(({ action }) => action)).toEqual(isBegun ? ['account.deleted'] : [])
      await bench.live(61)
      expect(await kept(user), `after ${writes} writes`).toBe(isBegun ? 0 : before)
      expect((await allDue(bench.stores)).filter(({ kind }) => kind === 'purge')).toEqual([])
      if (!ended.isEnded) break
    }
  })

  test('that several processes start concurrently runs once', async () => {
    const user = await newAccount()
    await Promise.all(times(5, () => end(user)))
    expect(await kept(user)).toBe(0)
    expect((await bench.stores.audit.listByUser(user.userId)).items).toHaveLength(1)
    await bench.live(61)
    expect(await kept(user)).toBe(0)
  })

  test('is complete although a concurrent purge stops half-way', async () => {
    const { stores } = bench
    const user = await newAccount()
    const task = await stores.accountPurge.begin(user)
    const { listBySource } = stores.connections
    const overtaken = vi.spyOn(stores.connections, 'listBySource')
    overtaken.mockImplementationOnce(async (sourceId) => {
      const found = await listBySource(sourceId)
      for (const connection of found) await stores.connections.purge(connection)
      return found
    })
    await stores.accountPurge.finish(task)
    overtaken.mockRestore()
    expect(await kept(user)).toBe(0)
  })
})
