import { expect, test } from 'vitest'
import { newSiteId } from '../src/items/site.ts'
import { onServiceStores } from './on-every-store.ts'
import { newDomain, newHash, newKeys, times } from './world.ts'

const member = (agency_id: string) =>
  ({ agency_id, site_id: newSiteId(), domain: newDomain(), role: 'member' }) as const

onServiceStores('an agency', (world) => {
  test('has its own sites, page by page, and a site has its agency', async () => {
    const { agency, agencies } = world()
    const { agency_id } = await agency(10)
    const members = times(5, () => member(agency_id))
    for (const each of members) await agencies.join(each)
    const first = await agencies.sites(agency_id, { limit: 3 })
    const second = await agencies.sites(agency_id, { limit: 3, after: first.next })
    const ids = [...first.items, ...second.items].map(({ site_id }) => site_id)
    expect(ids).toEqual(members.map(({ site_id }) => site_id).toSorted())
    expect(second.next).toBeUndefined()
    const [one] = members
    expect(await agencies.ofSite(one?.site_id ?? '')).toMatchObject([one])
    const other = await agency(10)
    expect((await agencies.sites(other.agency_id)).items).toEqual([])
  })

  test('shows a site that has moved under its new domain', async () => {
    const { agency, agencies, connectedSite, connections, register, sites } = world()
    const { agency_id } = await agency()
    const site = await connectedSite()
    const { site_id, domain } = site
    await agencies.join({ agency_id, site_id, domain, role: 'member' })
    const registration = await register()
    const outcome = await connections.move(registration, site, newKeys())
    if (!outcome.moved) throw new Error(`Refused: ${outcome.refused}`)
    expect((await agencies.sites(agency_id)).items).toMatchObject([
      { site_id, domain: registration.domain },
    ])
    expect(await sites.ofDomain(registration.domain)).toMatchObject({ key_version: 2 })
    await agencies.leave({ agency_id, site_id })
    const again = await register()
    expect(await connections.move(again, outcome.site, newKeys())).toMatchObject({ moved: true })
    expect((await agencies.sites(agency_id)).items).toEqual([])
  })

  test('that is full takes a site again after one has left or the limit was raised', async () => {
    const { agency, agencies } = world()
    const { agency_id } = await agency(1)
    const first = member(agency_id)
    expect(await agencies.join(first)).toEqual({ joined: true })
    const full = { joined: false, refused: 'agency_full' }
    expect(await agencies.join(member(agency_id))).toEqual(full)
    expect(await agencies.leave(first)).toBe(true)
    expect(await agencies.leave(first)).toBe(false)
    expect(await agencies.join(member(agency_id))).toEqual({ joined: true })
    await agencies.setLimit(agency_id, 2)
    expect(await agencies.join(member(agency_id))).toEqual({ joined: true })
    await agencies.setLimit(agency_id, 1)
    expect(await agencies.join(member(agency_id))).toEqual(full)
    expect(await agencies.get(agency_id)).toMatchObject({ current_sites: 2, max_sites: 1 })
  })

  test('takes staging sites beyond its limit, and they give back no place', async () => {
    const { agency, agencies } = world()
    const { agency_id } = await agency(1)
    const staging = { ...member(agency_id), outside_limit: true }
    expect(await agencies.join(member(agency_id))).toEqual({ joined: true })
    expect(await agencies.join(staging)).toEqual({ joined: true })
    expect(await agencies.get(agency_id)).toMatchObject({ current_sites: 1 })
    expect(await agencies.leave(staging)).toBe(true)
    expect(await agencies.get(agency_id)).toMatchObject({ current_sites: 1 })
  })

  test('takes a site once', async () => {
    const { agency, agencies } = world()
    const { agency_id } = await agency()
    const twice = member(agency_id)
    await agencies.join(twice)
    expect(await agencies.join(twice)).toEqual({ joined: false, refused: 'already_member' })
    expect(await agencies.get(agency_id)).toMatchObject({ current_sites: 1 })
  })

  test('that is suspended or unknown takes nobody', async () => {
    const { agency, agencies, register, connections, newSite, raw } = world()
    const { agency_id, PK, SK } = await agency()
    expect(await agencies.setStatus(agency_id, 'suspended')).toBe(true)
    expect(await raw(PK, SK)).toMatchObject({
      status: 'suspended',
      GSI1SK: 'SUSPENDED',
      GSI2PK: 'AGENCIES#suspended',
    })
    const closed = { joined: false, refused: 'agency_closed' }
    expect(await agencies.join(member(agency_id))).toEqual(closed)
    expect(await agencies.join(member('agency_0123456789abcdef'))).toEqual(closed)
    expect(
      await connections.connect(await register(), {
        ...newSite(),
        agency: { agency_id, role: 'member' },
      }),
    ).toEqual({ connected: false, refused: 'agency_closed' })
  })

  test('is found while it is active, and listed by status, newest first, without the hash of its key', async () => {
    const { agency, agencies, clock } = world()
    clock.advance({ days: 300 })
    const older = await agency()
    clock.advance({ seconds: 1 })
    const newer = await agency()
    expect(await agencies.findActive(newer.agency_id)).toEqual(newer)
    const { items } = await agencies.list('active', { limit: 2 })
    expect(items.map(({ agency_id }) => agency_id)).toEqual([newer.agency_id, older.agency_id])
    expect(items[0]).not.toHaveProperty('api_key_hash')
    await agencies.setStatus(newer.agency_id, 'suspended')
    expect(await agencies.findActive(newer.agency_id)).toBeUndefined()
    expect((await agencies.list('suspended', { limit: 1 })).items).toMatchObject([
      { agency_id: newer.agency_id },
    ])
  })

  test('has one key, and the one before ends when it is replaced', async () => {
    const { agency, agencies } = world()
    const old = await agency()
    const api_key_hash = newHash()
    expect(await agencies.replaceKey(old, api_key_hash)).toBe(true)
    expect(await agencies.ofKey(old.api_key_hash)).toBeUndefined()
    expect(await agencies.ofKey(api_key_hash)).toEqual({ ...old, api_key_hash })
    expect(await agencies.replaceKey(old, newHash())).toBe(false)
  })

  test('is made once', async () => {
    const { agency, agencies } = world()
    const first = await agency()
    const { agency_id, agency_name, contact_email, max_sites } = first
    const again = { agency_id, agency_name, contact_email, max_sites, api_key_hash: newHash() }
    expect(await agencies.create(again)).toBeUndefined()
    expect(await agencies.get(agency_id)).toEqual(first)
    expect(await agencies.setLimit('agency_0123456789abcdeg', 3)).toBe(false)
  })

  test('lets a site in by a join token when its registration is exchanged, and the token counts it', async () => {
    const { agency, joinToken, joinTokens, agencies, register, connections, newSite } = world()
    const { agency_id } = await agency()
    const token = await joinToken(agency_id, 1)
    const joining = {
      agency_id,
      role: token.role,
      join_token_hash: token.token_hash,
    }
    const connected = await connections.connect(await register(), { ...newSite(), agency: joining })
    expect(connected).toMatchObject({ connected: true })
    expect(await joinTokens.get(token)).toMatchObject({ uses: 1 })
    expect((await agencies.sites(agency_id)).items).toHaveLength(1)
    const refused = await connections.connect(await register(), { ...newSite(), agency: joining })
    expect(refused).toEqual({ connected: false, refused: 'join_token' })
  })

  test('revokes a join token', async () => {
    const { agency, joinToken, joinTokens } = world()
    const { agency_id } = await agency()
    const [kept, revoked] = [await joinToken(agency_id, 5), await joinToken(agency_id, 5)]
    expect(await joinTokens.revoke(revoked)).toBe(true)
    expect(await joinTokens.revoke(revoked)).toBe(false)
    expect((await joinTokens.list(agency_id)).items).toEqual([kept])
  })
})
