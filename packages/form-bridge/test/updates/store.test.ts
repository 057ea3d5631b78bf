import { expect, test } from 'vitest'
import { newSiteId } from '../../src/sites/item.ts'
import { onServiceStores } from '../support/on-every-store.ts'
import { createTestStores, newDomain, times } from '../support/test-stores.ts'
import { testClock } from '@strongroom/kit/testing/test-clock'

const check = (site_id: string, current_version: string) => ({
  site_id,
  domain: newDomain(),
  current_version,
  latest_version: '1.1.0',
  update_available: current_version !== '1.1.0',
})

onServiceStores('update checks', (newStores) => {
  test('list a site once, under its installed version, however often it checks', async () => {
    const { updateChecks, clock } = newStores()
    const site_id = newSiteId()
    const [old, next] = [`1.0.0-${site_id}`, `1.1.0-${site_id}`]
    await updateChecks.record(check(site_id, old))
    await updateChecks.record(check(site_id, old))
    expect((await updateChecks.listSitesByVersion(old)).items).toHaveLength(1)
    clock.advance({ hours: 1 })
    await updateChecks.record(check(site_id, next))
    expect((await updateChecks.listSitesByVersion(old)).items).toEqual([])
    expect((await updateChecks.listSitesByVersion(next)).items).toMatchObject([{ site_id }])
    expect(await updateChecks.current(site_id)).toMatchObject({
      current_version: next,
      checked_at: '2100-01-01T01:00:00.000Z',
    })
    expect((await updateChecks.history(site_id)).items).toHaveLength(3)
  })

  test('of a version are listed page by page', async () => {
    const { updateChecks } = newStores()
    const version = `7.0.0-${newSiteId()}`
    const sites = times(5, () => newSiteId())
    for (const site_id of sites) await updateChecks.record(check(site_id, version))
    const first = await updateChecks.listSitesByVersion(version, { limit: 3 })
    const second = await updateChecks.listSitesByVersion(version, { limit: 3, after: first.next })
    expect([...first.items, ...second.items].map(({ site_id }) => site_id)).toEqual(
      sites.toSorted(),
    )
  })

  test('count each site once a day in the totals, under the version of its first check', async () => {
    const { updateChecks, clock } = newStores()
    clock.advance({ days: 50 })
    const sites = times(3, () => newSiteId())
    for (const site_id of sites) await updateChecks.record(check(site_id, '1.0.0'))
    clock.advance({ hours: 12 })
    for (const site_id of sites) await updateChecks.record(check(site_id, '1.1.0'))
    expect(await updateChecks.getAdoption('2100-02-20')).toEqual({ '1.0.0': 3 })
    clock.advance({ hours: 12 })
    for (const site_id of sites) await updateChecks.record(check(site_id, '1.1.0'))
    expect(await updateChecks.getAdoption('2100-02-21')).toEqual({ '1.1.0': 3 })
    expect(await updateChecks.getAdoption('2100-02-22')).toEqual({})
  })

  test('that arrive late are stored but change neither the installed version nor the totals', async () => {
    const { updateChecks, db, clock } = newStores()
    const late = createTestStores(db, testClock('2099-12-31T23:59:00.000Z')).updateChecks
    const site_id = newSiteId()
    const [now, before] = [`2.0.0-${site_id}`, `1.0.0-${site_id}`]
    await updateChecks.record(check(site_id, now))
    await late.record(check(site_id, before))
    expect(await updateChecks.current(site_id)).toMatchObject({ current_version: now })
    expect((await updateChecks.history(site_id)).items).toHaveLength(2)
    clock.advance({ hours: 2 })
    await updateChecks.record(check(site_id, now))
    await createTestStores(db).updateChecks.record(check(site_id, before))
    expect(await updateChecks.current(site_id)).toMatchObject({ current_version: now })
    expect((await updateChecks.history(site_id)).items).toHaveLength(4)
    expect(await updateChecks.getAdoption('2099-12-31')).not.toHaveProperty([before])
  })
})
