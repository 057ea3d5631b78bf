import { expect, test } from 'vitest'
import { newSiteId } from '../../src/sites/item.ts'
import { onServiceStores } from '../support/on-every-store.ts'
import { newDomain, START, times } from '../support/test-stores.ts'

onServiceStores('rates', (newStores) => {
  test('of a period are analysed bucket by bucket, oldest first', async () => {
    const { rates, clock } = newStores()
    const subject = { scope: 'api', site_id: newSiteId() } as const
    for (const requests of [3, 1, 4]) {
      await rates.count(subject, 60, requests)
      await rates.count(subject, 3600, requests)
      clock.advance({ minutes: 1 })
    }
    const counts = async (windowSeconds: number, from: number, to: number) =>
      (await rates.analyse(subject, windowSeconds, { from, to })).map(({ n }) => n)
    expect(await counts(60, START, START + 120)).toEqual([3, 1, 4])
    expect(await counts(60, START + 60, START + 60)).toEqual([1])
    expect(await counts(3600, START, START + 3600)).toEqual([8])
    expect(await counts(60, START + 1, START)).toEqual([])
  })

  test('of one kind of request do not use up the limit of another, nor one caller that of another', async () => {
    const { rates } = newStores()
    const { take } = rates.limiter([{ name: 'minute', limit: 1, windowSeconds: 60 }])
    const site_id = newSiteId()
    const client_ip = `ip-${site_id}`
    const domain = newDomain()
    const subjects = [
      { scope: 'api', site_id },
      { scope: 'webhook', site_id },
      { scope: 'update_check', site_id },
      { scope: 'api', site_id: newSiteId() },
      { scope: 'registration', client_ip },
      { scope: 'key_exchange', client_ip },
      { scope: 'validation', client_ip },
      { scope: 'registration_domain', domain, requested_by: client_ip },
      { scope: 'registration_domain', domain, requested_by: 'ip_another' },
      { scope: 'validation_share', domain, requested_by: client_ip },
      { scope: 'validation_domain', domain },
      { scope: 'agency', agency_id: `agency_${site_id.slice(5)}` },
    ] as const
    const first = await Promise.all(subjects.map(take))
    const second = await Promise.all(subjects.map(take))
    expect(first.map(({ admitted }) => admitted)).toEqual(subjects.map(() => true))
    expect(second.map(({ admitted }) => admitted)).toEqual(subjects.map(() => false))
  })

  test('are counted outside the indexes, under the kind of request', async () => {
    const { rates, raw } = newStores()
    const domain = newDomain()
    await rates.count({ scope: 'registration_domain', domain, requested_by: 'ip_one' }, 300)
    await rates.count({ scope: 'agency', agency_id: 'agency_0123456789abcdef' }, 60)
    const aimed = await raw(`RATE#registration_domain#${domain}#ip_one`, `TIME#300#${START}`)
    expect(aimed).toMatchObject({ action: 'registration', n: 1 })
    expect(Object.keys(aimed ?? {}).filter((name) => name.startsWith('GSI'))).toEqual([])
    const shared = await raw('RATE#agency#agency_0123456789abcdef', `TIME#60#${START}`)
    expect(shared).not.toHaveProperty('action')
  })

  test('of one caller can have their own limits, which are listed until they are removed', async () => {
    const { rates } = newStores()
    const callers = times(3, () => ({ scope: 'api', id: newSiteId() }) as const)
    for (const caller of callers) await rates.setOverride(caller, { minute: 500 })
    const [first] = callers
    if (!first) throw new Error('There are three')
    const own = await rates.setOverride(first, { minute: 900, day: 50_000 })
    expect(await rates.getOverride(first)).toEqual(own)
    const page = await rates.listOverrides({ limit: 2 })
    const rest = await rates.listOverrides({ limit: 2, after: page.next })
    expect([...page.items, ...rest.items].map(({ id }) => id)).toEqual(
      callers.map(({ id }) => id).toSorted(),
    )
    for (const caller of callers) expect(await rates.removeOverride(caller)).toBe(true)
    expect(await rates.removeOverride(first)).toBe(false)
    expect(await rates.getOverride(first)).toBeUndefined()
  })
})
