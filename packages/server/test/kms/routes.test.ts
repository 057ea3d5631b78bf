import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { createOperators } from '@strongroom/kit/operators'
import { systemClock } from '@strongroom/platform/clock'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createServerApp } from '../../src/app.ts'
import { auditFilePath } from '../../src/kms/embedded.ts'
import { openKms } from '../../src/kms/open.ts'
import { settings } from '../../src/settings.ts'
import { openStore } from '../../src/store.ts'
import { requireTables, tablesOf } from '../../src/tables.ts'

describe('GET /server/v1/kms', () => {
  async function open() {
    const directory = await mkdtemp(join(tmpdir(), 'strongroom-kms-'))
    const configured = settings.parse({ STRONGROOM_DATA: directory })
    const store = await openStore(configured)
    await requireTables(store, tablesOf([]))
    const kms = await openKms(configured, store, { clock: systemClock })
    let now = Date.now()
    const app = await createServerApp({
      services: [],
      settings: configured,
      store,
      kms,
      publicUrl: 'https://strongroom.example',
      log: silentLog,
      clock: { now: () => now },
      metrics: createMetrics(),
    })
    onTestFinished(async () => {
      await app.close()
      await kms.close()
      await store.close()
      await rm(directory, { recursive: true })
    })
    const operators = createOperators({ db: store.db, clock: systemClock })
    const token = await operators.add('reader', { role: 'viewer' })
    const get = async () => {
      now += 60_000
      const headers = { authorization: `Bearer ${token}` }
      const response = await app.request('/server/v1/kms', { headers })
      expect(response.status).toBe(200)
      return response.text()
    }
    return { get, configured, kms }
  }

  test('has the key, the master key and the verified audit log, and no key material', async () => {
    const { get, configured, kms } = await open()
    const text = await get()
    expect(JSON.parse(text)).toMatchObject({
      kind: 'embedded',
      state: 'ready',
      arn: kms.key.arn,
      embedded: {
        keys: 1,
        key: { state: 'Enabled', versions: 1 },
        masterKey: { protection: 'none', change: null },
        problem: null,
        audit: { findings: 0 },
      },
    })
    const masterKey = await readFile(kms.location)
    expect(text).not.toContain(masterKey.toString('base64').slice(0, 24))
    expect(text).not.toContain(masterKey.toString('utf8').trim().slice(-24))
    expect(auditFilePath(configured)).toContain(configured.STRONGROOM_DATA)
  })

  test('counts what was changed in the audit log', async () => {
    const { get, configured } = await open()
    const file = auditFilePath(configured)
    const lines = (await readFile(file, 'utf8')).split('\n')
    await writeFile(file, [lines[0]?.replace('"', '" '), ...lines.slice(1)].join('\n'))
    expect(JSON.parse(await get()).embedded.audit.findings).toBeGreaterThan(0)
  })
})
