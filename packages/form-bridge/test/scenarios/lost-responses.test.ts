import type { Db } from '@strongroom/kit/db'
import { retryingDb } from '@strongroom/kit/retrying-db'
import { expect, test } from 'vitest'
import { onServiceStores } from '../support/on-every-store.ts'
import { createTestStores } from '../support/test-stores.ts'

const named = (name: string) => Object.assign(new Error(name), { name })

onServiceStores('a transaction', (newStores) => {
  /** Loses the first responses after the write; the retries of a deployment are in front of it. */
  const losing = (db: Db, responses: number) => {
    const calls: unknown[] = []
    const lossy: Db = {
      ...db,
      async transactWriteItems(input) {
        const output = await db.transactWriteItems(input)
        calls.push(input.ClientRequestToken)
        if (calls.length <= responses) throw named('TimeoutError')
        return output
      },
    }
    return { db: retryingDb(lossy, { pause: async () => undefined }), calls }
  }

  test('whose response is lost is sent again with its token, and the new credentials work', async () => {
    const { db, clock, register, newSite, authentication } = newStores()
    const lossy = losing(db, 2)
    const site = newSite()
    const { credentials } = createTestStores(lossy.db, clock)
    const outcome = await credentials.connect(await register(), site)
    expect(outcome).toMatchObject({ kind: 'connected' })
    expect(await authentication.findSiteByApiKey(site.api_key_hash)).toBeDefined()
    expect(lossy.calls).toHaveLength(3)
    expect(new Set(lossy.calls).size).toBe(1)
  })

  test('whose responses are all lost fails with that error after three attempts', async () => {
    const { db, clock, register, newSite } = newStores()
    const lossy = losing(db, 1000)
    const { connect } = createTestStores(lossy.db, clock).credentials
    await expect(connect(await register(), newSite())).rejects.toThrow('TimeoutError')
    expect(lossy.calls).toHaveLength(3)
  })

  test('that joins an agency counts one site although its response is lost', async () => {
    const { db, clock, agency, agencies, register, newSite } = newStores()
    const { agency_id } = await agency()
    const { credentials } = createTestStores(losing(db, 1).db, clock)
    const site = { ...newSite(), agency: { agency_id, role: 'owner' as const } }
    expect(await credentials.connect(await register(), site)).toMatchObject({ kind: 'connected' })
    expect(await agencies.get(agency_id)).toMatchObject({ current_sites: 1 })
  })

  test('that fails for another reason is not repeated', async () => {
    const { db, clock, register, newSite } = newStores()
    let calls = 0
    const failing: Db = {
      ...db,
      transactWriteItems() {
        calls++
        return Promise.reject(named('ValidationException'))
      },
    }
    const { connect } = createTestStores(retryingDb(failing), clock).credentials
    await expect(connect(await register(), newSite())).rejects.toThrow('ValidationException')
    expect(calls).toBe(1)
  })
})
