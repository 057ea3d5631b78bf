import type { Db } from '@strongroom/kit/db'
import { expect, test } from 'vitest'
import { onServiceStores } from './on-every-store.ts'
import { createWorld } from './world.ts'

const named = (name: string) => Object.assign(new Error(name), { name })

onServiceStores('a transaction', (world) => {
  /** Whose first `count` answers get lost after the write. */
  const losing = (db: Db, count: number): Db => {
    let lost = 0
    return {
      ...db,
      async transactWriteItems(input) {
        const answer = await db.transactWriteItems(input)
        if (lost++ < count) throw named('TimeoutError')
        return answer
      },
    }
  }

  test('whose answer got lost is asked for again, and the credentials it made are delivered', async () => {
    const { db, clock, register, newSite, authentication } = world()
    const offer = newSite()
    const outcome = await createWorld(losing(db, 2), clock).connections.connect(
      await register(),
      offer,
    )
    expect(outcome).toMatchObject({ connected: true })
    expect(await authentication.siteOfApiKey(offer.api_key_hash)).toBeDefined()
  })

  test('whose answers all get lost fails as what it is', async () => {
    const { db, clock, register, newSite } = world()
    const { connect } = createWorld(losing(db, 1000), clock).connections
    await expect(connect(await register(), newSite())).rejects.toThrow('TimeoutError')
  })

  test('that joins an agency counts one site although its answer got lost', async () => {
    const { db, clock, agency, agencies, connectedSite } = world()
    const { agency_id } = await agency()
    const { site_id, domain } = await connectedSite()
    const { join } = createWorld(losing(db, 1), clock).agencies
    expect(await join({ agency_id, site_id, domain, role: 'owner' })).toEqual({ joined: true })
    expect(await agencies.get(agency_id)).toMatchObject({ current_sites: 1 })
  })

  test('that fails for another reason is not repeated', async () => {
    const { db, clock, register, newSite } = world()
    let calls = 0
    const failing: Db = {
      ...db,
      transactWriteItems() {
        calls++
        return Promise.reject(named('ValidationException'))
      },
    }
    const { connect } = createWorld(failing, clock).connections
    await expect(connect(await register(), newSite())).rejects.toThrow('ValidationException')
    expect(calls).toBe(1)
  })
})
