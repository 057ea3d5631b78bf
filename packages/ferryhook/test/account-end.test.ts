import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { User } from '../src/items/user.ts'
import { endingAfter } from './api/ending-after.ts'
import { openWorkerBench, type WorkerBench } from './delivery/worker-bench.ts'
import { allDue, required, times } from './workbench.ts'

describe.each(serviceStores())('the end of an account, on $name', (store) => {
  let bench: WorkerBench

  beforeAll(async () => {
    bench = await openWorkerBench({ store })
  })
  afterAll(() => bench.close())

  async function newAccount(): Promise<User> {
    const { layer } = bench
    const source = await bench.newSource()
    const { userId } = source
    await bench.connect(source, '/')
    await layer.apiKeys.create(userId, { name: 'CI', permissions: 'read' })
    await layer.alertSettings.put(userId, { kinds: [], email: false }, { seen: null })
    return required(await layer.users.getById(userId))
  }

  async function end(user: User): Promise<void> {
    const by = { actor: `user:${user.userId}`, action: 'account.deleted' } as const
    await bench.layer.accountEnd.finish(await bench.layer.accountEnd.begin(user, { by }))
  }

  async function kept({ userId }: User): Promise<number> {
    const { Items = [] } = await bench.db.scan({ TableName: 'ferryhook-main' })
    return Items.filter((item) => JSON.stringify(item).includes(userId)).length
  }

  test('has not begun or comes to its end by itself, and is in the audit log, wherever a process ended', async () => {
    for (let writes = 0; ; writes++) {
      const user = await newAccount()
      const before = await kept(user)
      const ended = await endingAfter(bench.db, writes, () => end(user).catch(() => undefined))
      const isBegun = (await bench.layer.users.getById(user.userId)) === null
      const { items } = await bench.layer.audit.listByUser(user.userId)
      expect(items.map(({ action }) => action)).toEqual(isBegun ? ['account.deleted'] : [])
      await bench.live(61)
      expect(await kept(user), `after ${writes} writes`).toBe(isBegun ? 0 : before)
      expect((await allDue(bench.layer)).filter(({ kind }) => kind === 'purge')).toEqual([])
      if (!ended.isEnded) break
    }
  })

  test('that several begin at once happens once, and all of them find it done', async () => {
    const user = await newAccount()
    await Promise.all(times(5, () => end(user)))
    expect(await kept(user)).toBe(0)
    expect((await bench.layer.audit.listByUser(user.userId)).items).toHaveLength(1)
    await bench.live(61)
    expect(await kept(user)).toBe(0)
  })

  test('is complete although somebody who does the same purges a connection and then ends', async () => {
    const { layer } = bench
    const user = await newAccount()
    const task = await layer.accountEnd.begin(user)
    const { listBySource } = layer.connections
    const overtaken = vi.spyOn(layer.connections, 'listBySource')
    overtaken.mockImplementationOnce(async (sourceId) => {
      const found = await listBySource(sourceId)
      for (const connection of found) await layer.connections.purge(connection)
      return found
    })
    await layer.accountEnd.finish(task)
    overtaken.mockRestore()
    expect(await kept(user)).toBe(0)
  })
})
