import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { tokensTable } from '../../src/tables.ts'
import { openDb } from '../support/test-checkers.ts'
import { newApp, upstreamApp, createCluster } from '../support/machine.ts'

describe.each(serviceStores())('the tokens of workspaces, on $name', (store) => {
  const opened = openDb(store)
  const { start } = createCluster(opened)
  const upstream = upstreamApp()

  test('come from operators only, and no request stores one, whichever team it names', async () => {
    const machine = await start()
    const app = await newApp(machine, await upstream.url())
    const stored = async () => (await opened.db.scan({ TableName: tokensTable.name })).Items
    const before = await stored()
    expect(before).toHaveLength(2)
    for (const kind of ['message', 'command', 'action', 'view'] as const) {
      const team = `T0${kind.toUpperCase()}`
      expect(await machine.send(app, kind, { team })).toMatchObject({ status: 403 })
    }
    expect(await stored()).toEqual(before)
    expect(upstream.received).toEqual([])
  })
})
