import { fileURLToPath } from 'node:url'
import type { Item } from '@strongroom/kit/db'
import { type FunctionRecorder, recordFunctions } from '@strongroom/kit/testing/reached-functions'
import { collectItems, compareSeedCoverage } from '@strongroom/kit/testing/seed-coverage'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { beforeAll, describe, expect, test } from 'vitest'
import { secretsTable } from '../../src/tables.ts'
import { openDb, startApp } from '../support/sealed-app.ts'
import { ack, burn, createSecret, newClaim, reveal, status } from '../support/sealed-client.ts'

const directory = fileURLToPath(new URL('../../', import.meta.url))

describe.each(serviceStores().slice(0, 1))('Sealed over HTTP', (store) => {
  let recorder: FunctionRecorder
  beforeAll(async () => {
    recorder = await recordFunctions()
  })
  const opened = openDb(store)

  test('reaches everything that its coverage page names', async () => {
    const items = new Map<string, Item[]>()
    const app = await startApp(opened.db, { env: { SEALED_SWEEP_MINUTES: '10' } })
    const read = await createSecret(app, { maxViews: 2, receipt: true })
    const claim = newClaim()
    expect((await reveal(app, read.id, { ...read.keys, claim })).status).toBe(200)
    await collectItems(opened.db, [secretsTable], items)
    expect((await status(app, read.id, read.burnToken)).status).toBe(200)
    await ack(app, read.id, claim)
    await reveal(app, read.id, read.keys)
    const burned = await createSecret(app)
    await burn(app, burned.id, burned.burnToken)
    await createSecret(app, { ttlSeconds: 3_600 })
    app.clock.advance({ hours: 2 })
    await app.settle()
    await collectItems(opened.db, [secretsTable], items)
    await app.close()
    const functions = await recorder.stop()
    expect(await compareSeedCoverage(directory, { functions, items })).toEqual({
      unreached: [],
      noLongerPending: [],
    })
  })
})
