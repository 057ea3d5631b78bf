/**
 * What other programs, stored data and dashboards depend on, as snapshots: a difference is a change
 * of behaviour. Texts for people are left out, so that they may be reworded.
 */
import { readFileSync } from 'node:fs'
import { createTables } from '@strongroom/kit/tables'
import { createMetrics } from '@strongroom/kit/metrics'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { dataModels, everyTable } from '../../src/data-model.ts'
import { services } from '../../src/services.ts'
import { settings } from '../../src/settings.ts'
import { testApp } from '../test-app.ts'
import { type Json, snapshotText, withoutTexts } from './json.ts'

const file = (name: string) => `snapshots/${name}.json`

async function startServer() {
  const [store] = serviceStores()
  const { db, close } = await store!.open()
  await createTables(db, everyTable)
  const metrics = createMetrics()
  const app = await testApp({ db, services, settings: settings.parse({}), metrics })
  onTestFinished(async () => {
    await app.close()
    await close()
  })
  return { app, metrics }
}

describe('the public contract', () => {
  test('has these API operations, schemas and error codes', async () => {
    const { app } = await startServer()
    const response = await app.request('/openapi.json')
    const { info: _, servers: __, ...document } = (await response.json()) as Record<string, Json>
    await expect(snapshotText(withoutTexts(document))).toMatchFileSnapshot(file('openapi'))
  })

  test('has these error codes with these statuses', async () => {
    // The page is generated from every catalogue, which docs.test.ts checks.
    const page = readFileSync(new URL('../../../../docs/errors.md', import.meta.url), 'utf8')
    const rows = [...page.matchAll(/^\| `(\S+)` \| (\d{3}) \|/gm)]
    const codes = rows.map(([, code = '', status]) => [code, Number(status)] as const)
    const listed = new Set(codes.map(([code]) => code))
    for (const { code } of services.flatMap(({ errors }) => errors.catalogue)) {
      expect(listed).toContain(code)
    }
    await expect(snapshotText(Object.fromEntries(codes))).toMatchFileSnapshot(file('errors'))
  })

  test('has these settings', async () => {
    const rows = settings
      .rows()
      .map(({ name, type, default: value, required, secret }) => [
        name,
        { type, default: value, required, secret },
      ])
    await expect(snapshotText(Object.fromEntries(rows))).toMatchFileSnapshot(file('settings'))
  })

  test('has these metrics with these labels', async () => {
    const { metrics } = await startServer()
    // The library declares neither the labels nor the buckets that it stores.
    const registered = metrics.registry.getMetricsAsArray() as unknown as {
      name: string
      type: string
      labelNames: string[]
      upperBounds?: number[]
    }[]
    const rows = registered.map(({ name, type, labelNames, upperBounds }) => [
      name,
      { type, labels: labelNames.toSorted(), buckets: upperBounds },
    ])
    await expect(snapshotText(Object.fromEntries(rows))).toMatchFileSnapshot(file('metrics'))
  })

  test('has these services at these paths', async () => {
    const rows = services.map((service) => {
      const { name, title, mount, hasPage = false, originSetting, startWorker } = service
      const tables = service.tables.map((table) => table.name).toSorted()
      const hasWorker = startWorker !== undefined
      return [name, { title, mount, hasPage, originSetting, hasWorker, tables }]
    })
    await expect(snapshotText(Object.fromEntries(rows))).toMatchFileSnapshot(file('services'))
  })

  test('has these tables', async () => {
    const rows = everyTable.map((table) => [table.name, { ...table, description: undefined }])
    await expect(snapshotText(Object.fromEntries(rows))).toMatchFileSnapshot(file('tables'))
  })

  test('has functions that may do this', async () => {
    const rows = dataModels.map(({ service, functions }) => [
      service,
      Object.fromEntries(
        functions.map(({ name, allows }) => [
          name,
          allows.map(({ table, ...allowed }) => ({ table: table.name, ...allowed })),
        ]),
      ),
    ])
    await expect(snapshotText(Object.fromEntries(rows))).toMatchFileSnapshot(file('functions'))
  })

  test('stores these items', async () => {
    const entities = dataModels.flatMap((model) => model.entities)
    const rows = entities.map(({ table, keys, schema }) => ({
      table: table.name,
      keys,
      attributes: withoutTexts(schemaOf(schema)),
    }))
    // Without their names, which are for people: by table and keys.
    const order = (row: object) => JSON.stringify(row)
    await expect(
      snapshotText(rows.toSorted((a, b) => (order(a) < order(b) ? -1 : 1))),
    ).toMatchFileSnapshot(file('entities'))
  })
})

/** Includes the types of values that JSON does not have, such as bytes and sets. */
function schemaOf(schema: z.ZodType): Json {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    metadata: z.registry(),
    override({ zodSchema, jsonSchema }) {
      // oxlint-disable-next-line no-underscore-dangle -- the only way to the definition of a schema here
      const { type } = zodSchema._zod.def
      if (Object.keys(jsonSchema).length === 0) jsonSchema['$comment'] = type
    },
  })
  return JSON.parse(JSON.stringify(described)) as Json
}
