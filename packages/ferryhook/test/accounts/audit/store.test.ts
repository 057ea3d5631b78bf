import { newId } from '@strongroom/kit/ids'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorkbench, serviceWorlds, type Workbench } from '../../support/test-stores.ts'

describe.each(serviceWorlds())('the audit log on $name', (world) => {
  let bench: Workbench

  beforeAll(async () => {
    bench = await openWorkbench(world)
  })
  afterAll(() => bench.close())

  test('is listed newest first, page by page, for a year', async () => {
    const { audit } = bench.stores
    const userId = newId('usr')
    const actions = ['source.created', 'source.paused', 'source.deleted'] as const
    for (const action of actions) await audit.add({ userId, actor: userId, action })
    bench.clock.advance({ days: 300 })
    await audit.add({
      userId,
      actor: 'operator:ops',
      action: 'account.plan_changed',
      target: 'pro',
    })
    expect((await audit.listByUser(userId, { limit: 0 })).items).toHaveLength(1)
    const first = await audit.listByUser(userId, { limit: 3 })
    expect(first.items.map(({ action }) => action)).toEqual([
      'account.plan_changed',
      'source.deleted',
      'source.paused',
    ])
    const rest = await audit.listByUser(userId, { limit: 3, cursor: first.cursor ?? undefined })
    expect(rest).toMatchObject({ items: [{ action: 'source.created' }], cursor: null })
    bench.clock.advance({ days: 65 })
    expect((await audit.listByUser(userId)).items).toMatchObject([
      { action: 'account.plan_changed' },
    ])
  })
})
