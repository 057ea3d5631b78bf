import { fileURLToPath } from 'node:url'
import type { Item } from '@strongroom/kit/db'
import { type FunctionRecorder, recordFunctions } from '@strongroom/kit/testing/reached-functions'
import { collectItems, compareSeedCoverage } from '@strongroom/kit/testing/seed-coverage'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { beforeAll, describe, expect, test } from 'vitest'
import { openKeyStoreOn } from '../../src/start.ts'
import { branchKeysTable } from '../../src/tables.ts'
import { openKeyStoreService } from '../support/open-service.ts'

const directory = fileURLToPath(new URL('../../', import.meta.url))

describe.each(serviceStores().slice(0, 1))('the key store over HTTP', (store) => {
  let recorder: FunctionRecorder
  beforeAll(async () => {
    recorder = await recordFunctions()
  })
  const opened = openKeyStoreService(store)

  test('reaches everything that its coverage page names', async () => {
    const made = await opened.ask('POST', '/keys', { encryptionContext: { tenant: 'a' } })
    const { id } = made.body as { id: string }
    // Concurrent rotations race, and one of them wins.
    await Promise.all(Array.from({ length: 5 }, () => opened.ask('POST', `/keys/${id}/versions`)))
    await opened.ask('GET', `/keys/${id}`)
    await opened.ask('GET', '/keys')
    // As the server and "strongroom keys beacon" use it.
    const keyStore = openKeyStoreOn(opened)
    const { branchKeyVersion } = await keyStore.getActiveBranchKey({ branchKeyIdentifier: id })
    await keyStore.getBranchKeyVersion({ branchKeyIdentifier: id, branchKeyVersion })
    await keyStore.getBeaconKey({ branchKeyIdentifier: id })
    const items = new Map<string, Item[]>()
    await collectItems(opened.db, [branchKeysTable], items)
    const functions = await recorder.stop()
    expect(await compareSeedCoverage(directory, { functions, items })).toEqual({
      unreached: [],
      noLongerPending: [],
    })
  })
})
