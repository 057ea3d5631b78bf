import { expect, test } from 'vitest'
import { newSiteId } from '../../src/sites/item.ts'
import { onServiceStores } from '../support/on-every-store.ts'
import { newDomain, newHash, newKeys, times } from '../support/test-stores.ts'

const member = (agency_id: string) =>
  ({ agency_id, site_id: newSiteId(), domain: newDomain(), role: 'member' }) as const

onServiceStores('an agency', (newStores) => {
  test('lists its sites page by page, and a site lists its agency', async () => {
    const { agency, agencies, joinAgency, memberships } = newStores()
    const { agency_id } = await agency(10)
    const members = times(5, () => member(agency_id))
    for (const each of members) await joinAgency(each)
    const first = await agencies.listSites(agency_id, { limit: 3 })
    const second = await agencies.listSites(agency_id, { limit: 3, after: first.next })
    const ids = [...first.items, ...second.items].map(({ site_id }) => site_id)
    expect(ids).toEqual(members.map(({ site_id }) => site_id).toSorted())
    expect(second.next).toBeUndefined()
    const [one] = members
    expect(await memberships.listBySiteFromIndex(one?.site_id ?? '')).toMatchObject([one])
    const other = await agency(10)
    expect((await agencies.listSites(other.agency_id)).items).toEqual([])
  })

  test('shows a site that has moved under its new domain', async () => {
    const { agency, agencies, connectedSite, register, sites, siteMoves, joinAgency } = newStores()
    const { agency_id } = await agency()
    const site = await connectedSite()
    const { site_id, domain } = site
    await joinAgency({ agency_id, site_id, domain, role: 'member' })
    const registration = await register()
    const outcome = await siteMoves.move(registration, site, newKeys())
    if (outcome.kind === 'refused') throw new Error(`Refused: ${outcome.reason}`)
    expect((await agencies.listSites(agency_id)).items).toMatchObject([
      { site_id, domain: registration.domain },
    ])
    expect(await sites.findByDomain(registration.domain)).toMatchObject({ key_version: 2 })
    await agencies.leave({ agency_id, site_id })
    const again = await register()
    expect(await siteMoves.move(again, outcome.site, newKeys())).toMatchObject({ kind: 'moved' })
    expect((await agencies.listSites(agency_id)).items).toEqual([])
  })

  test('that is full accepts a site again after one has left or the limit was raised', async () => {
    const { agency, agencies, joinAgency } = newStores()
    const { agency_id } = await agency(1)
    const first = member(agency_id)
    expect(await joinAgency(first)).toEqual({ kind: 'joined' })
    const full = { kind: 'refused', reason: 'agency_full' }
    expect(await joinAgency(member(agency_id))).toEqual(full)
    expect(await agencies.leave(first)).toBe(true)
    expect(await agencies.leave(first)).toBe(false)
    expect(await joinAgency(member(agency_id))).toEqual({ kind: 'joined' })
    await agencies.change(agency_id, { max_sites: 2 })
    expect(await joinAgency(member(agency_id))).toEqual({ kind: 'joined' })
    await agencies.change(agency_id, { max_sites: 1 })
    expect(await joinAgency(member(agency_id))).toEqual(full)
    expect(await agencies.get(agency_id)).toMatchObject({ current_sites: 2, max_sites: 1 })
  })

  test('accepts staging sites beyond its limit, and they do not change its count when they leave', async () => {
    const { agency, agencies, joinAgency } = newStores()
    const { agency_id } = await agency(1)
    const staging = { ...member(agency_id), outside_limit: true }
    expect(await joinAgency(member(agency_id))).toEqual({ kind: 'joined' })
    expect(await joinAgency(staging)).toEqual({ kind: 'joined' })
    expect(await agencies.get(agency_id)).toMatchObject({ current_sites: 1 })
    expect(await agencies.leave(staging)).toBe(true)
    expect(await agencies.get(agency_id)).toMatchObject({ current_sites: 1 })
  })

  test('accepts a site once', async () => {
    const { agency, agencies, joinAgency } = newStores()
    const { agency_id } = await agency()
    const twice = member(agency_id)
    await joinAgency(twice)
    expect(await joinAgency(twice)).toEqual({ kind: 'refused', reason: 'already_member' })
    expect(await agencies.get(agency_id)).toMatchObject({ current_sites: 1 })
  })

  test('that is suspended or unknown accepts no sites', async () => {
    const { agency, agencies, register, newSite, raw, credentials, joinAgency } = newStores()
    const { agency_id, PK, SK } = await agency()
    expect(await agencies.change(agency_id, { status: 'suspended' })).toBe(true)
    expect(await raw(PK, SK)).toMatchObject({
      status: 'suspended',
      GSI1SK: 'SUSPENDED',
      GSI2PK: 'AGENCIES#suspended',
    })
    const closed = { kind: 'refused', reason: 'agency_closed' }
    expect(await joinAgency(member(agency_id))).toEqual(closed)
    expect(await joinAgency(member('agency_0123456789abcdef'))).toEqual(closed)
    expect(
      await credentials.connect(await register(), {
        ...newSite(),
        agency: { agency_id, role: 'member' },
      }),
    ).toEqual({ kind: 'refused', reason: 'agency_closed' })
  })

  test('is found while it is active, and listed by status, newest first, without the hash of its key', async () => {
    const { agency, agencies, clock } = newStores()
    clock.advance({ days: 300 })
    const older = await agency()
    clock.advance({ seconds: 1 })
    const newer = await agency()
    expect(await agencies.findActive(newer.agency_id)).toEqual(newer)
    const { items } = await agencies.list('active', { limit: 2 })
    expect(items.map(({ agency_id }) => agency_id)).toEqual([newer.agency_id, older.agency_id])
    expect(items[0]).not.toHaveProperty('api_key_hash')
    await agencies.change(newer.agency_id, { status: 'suspended' })
    expect(await agencies.findActive(newer.agency_id)).toBeUndefined()
    expect((await agencies.list('suspended', { limit: 1 })).items).toMatchObject([
      { agency_id: newer.agency_id },
    ])
  })

  test('has one key, and rotating it revokes the previous one', async () => {
    const { agency, agencies } = newStores()
    const old = await agency()
    const api_key_hash = newHash()
    expect(await agencies.rotateKey(old, api_key_hash)).toEqual({ kind: 'rotated' })
    expect(await agencies.findByKey(old.api_key_hash)).toBeUndefined()
    expect(await agencies.findByKey(api_key_hash)).toEqual({ ...old, api_key_hash })
    expect(await agencies.rotateKey(old, newHash())).toEqual({ kind: 'conflict' })
  })

  test('is created once', async () => {
    const { agency, agencies } = newStores()
    const first = await agency()
    const { agency_id, agency_name, contact_email, max_sites } = first
    const again = { agency_id, agency_name, contact_email, max_sites, api_key_hash: newHash() }
    expect(await agencies.create(again)).toEqual({ kind: 'conflict' })
    expect(await agencies.get(agency_id)).toEqual(first)
    expect(await agencies.change('agency_0123456789abcdeg', { max_sites: 3 })).toBe(false)
  })

  test('admits a site with a join token when its registration is exchanged, and the token counts the use', async () => {
    const { agency, joinToken, joinTokens, agencies, register, newSite, credentials } = newStores()
    const { agency_id } = await agency()
    const token = await joinToken(agency_id, 1)
    const joining = {
      agency_id,
      role: token.role,
      join_token_hash: token.token_hash,
    }
    const connected = await credentials.connect(await register(), { ...newSite(), agency: joining })
    expect(connected).toMatchObject({ kind: 'connected' })
    expect(await joinTokens.get(token)).toMatchObject({ uses: 1 })
    expect((await agencies.listSites(agency_id)).items).toHaveLength(1)
    const refused = await credentials.connect(await register(), { ...newSite(), agency: joining })
    expect(refused).toEqual({ kind: 'refused', reason: 'join_token' })
  })

  test('revokes a join token', async () => {
    const { agency, joinToken, joinTokens } = newStores()
    const { agency_id } = await agency()
    const [kept, revoked] = [await joinToken(agency_id, 5), await joinToken(agency_id, 5)]
    expect(await joinTokens.revoke(revoked)).toBe(true)
    expect(await joinTokens.revoke(revoked)).toBe(false)
    expect((await joinTokens.list(agency_id)).items).toEqual([kept])
  })
})
