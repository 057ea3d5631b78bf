import { fileURLToPath } from 'node:url'
import type { Item } from '@strongroom/kit/db'
import { type FunctionRecorder, recordFunctions } from '@strongroom/kit/testing/reached-functions'
import { collectItems, compareSeedCoverage } from '@strongroom/kit/testing/seed-coverage'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { beforeAll, describe, expect, test } from 'vitest'
import { cacheTable, dedupeTable, tokensTable } from '../../src/tables.ts'
import type { FakeSlack } from '../../src/fake-slack/fake-slack.ts'
import { sampleClient } from '../../src/fake-slack/fixtures.ts'
import { createCluster, type Machine, newApp, upstreamApp } from '../support/machine.ts'
import { openDb } from '../support/test-checkers.ts'

const directory = fileURLToPath(new URL('../../', import.meta.url))

/** A browser that adds the app to the sample workspace. */
async function installApp(machine: Machine, slack: FakeSlack, name: string): Promise<void> {
  const { id: clientId, secret: clientSecret } = sampleClient
  await machine.operate('PATCH', `/apps/${name}`, { installation: { clientId, clientSecret } })
  const started = await machine.request(`/two-key/slack/${name}/install`)
  const cookie = (started.headers.getSetCookie()[0] ?? '').split(';', 1)[0] ?? ''
  const back = new URL(slack.authorize(started.headers.get('location') ?? ''))
  const page = await machine.request(back.pathname + back.search, { headers: { cookie } })
  expect(page.status).toBe(200)
}

describe.each(serviceStores().slice(0, 1))('Two-key over HTTP', (store) => {
  let recorder: FunctionRecorder
  beforeAll(async () => {
    recorder = await recordFunctions()
  })
  const opened = openDb(store)
  const { clock, start, slack } = createCluster(opened)
  const upstream = upstreamApp()

  test('reaches everything that its coverage page names', async () => {
    const machine = await start()
    const name = await newApp(machine, await upstream.url())
    expect(await machine.send(name, 'message')).toMatchObject({ status: 200 })
    const other = await start()
    clock.advance({ seconds: 1 })
    expect(await other.send(name, 'message')).toMatchObject({ status: 200 })
    // An event that the upstream does not take is released, so that Slack's next attempt counts.
    upstream.responses((_, response) => void response.writeHead(500).end())
    clock.advance({ seconds: 1 })
    await machine.send(name, 'message')
    await installApp(machine, slack, name)
    const items = new Map<string, Item[]>()
    await collectItems(opened.db, [cacheTable, dedupeTable, tokensTable], items)
    const functions = await recorder.stop()
    expect(await compareSeedCoverage(directory, { functions, items })).toEqual({
      unreached: [],
      noLongerPending: [],
    })
  })
})
