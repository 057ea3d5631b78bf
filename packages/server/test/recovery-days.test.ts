import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serverTable } from '@strongroom/kit/server-table'
import { expect, onTestFinished, test } from 'vitest'
import { settings } from '../src/settings.ts'
import { openStore } from '../src/store.ts'
import { requireTables } from '../src/tables.ts'

async function recoveryAfterStart(directory: string, days?: string) {
  const env = { STRONGROOM_DATA: directory, ...(days && { STRONGROOM_RECOVERY_DAYS: days }) }
  const store = await openStore(settings.parse(env))
  try {
    await requireTables(store, [serverTable])
    const { ContinuousBackupsDescription: found } = await store.db.describeContinuousBackups({
      TableName: serverTable.name,
    })
    return found?.PointInTimeRecoveryDescription
  } finally {
    await store.close()
  }
}

test('the recovery period of embedded tables follows the settings from the next start', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'strongroom-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  expect(await recoveryAfterStart(directory)).toMatchObject({
    PointInTimeRecoveryStatus: 'ENABLED',
    RecoveryPeriodInDays: 7,
  })
  expect(await recoveryAfterStart(directory, '35')).toMatchObject({ RecoveryPeriodInDays: 35 })
  expect(await recoveryAfterStart(directory, '0')).toMatchObject({
    PointInTimeRecoveryStatus: 'DISABLED',
  })
  expect(await recoveryAfterStart(directory, '1')).toMatchObject({
    PointInTimeRecoveryStatus: 'ENABLED',
    RecoveryPeriodInDays: 1,
  })
})
