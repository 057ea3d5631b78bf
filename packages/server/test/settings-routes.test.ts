import { createOperators } from '@strongroom/kit/operators'
import { createTables } from '@strongroom/kit/tables'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, onTestFinished, test } from 'vitest'
import { services } from '../src/services.ts'
import { settings } from '../src/settings.ts'
import { tablesOf } from '../src/tables.ts'
import { testApp } from './test-app.ts'

describe.each(serviceStores())('GET /server/v1/settings on $name', (store) => {
  async function open(env: Record<string, string>) {
    const { db, close } = await store.open()
    const clock = testClock()
    await createTables(db, tablesOf(services))
    const app = await testApp({ db, clock, services, settings: settings.parse(env) })
    onTestFinished(async () => {
      await app.close()
      await close()
    })
    const token = await createOperators({ db, clock }).add('reader', { role: 'viewer' })
    const response = await app.request('/server/v1/settings', {
      headers: { authorization: `Bearer ${token}` },
    })
    const text = await response.text()
    const { items } = JSON.parse(text) as { items: Record<string, unknown>[] }
    return { text, find: (name: string) => items.find((item) => item['name'] === name) }
  }

  test('has each setting with its value, its source and the service that declares it', async () => {
    const { find } = await open({ STRONGROOM_RECOVERY_DAYS: '14', FERRYHOOK_DELIVER: 'false' })
    expect(find('STRONGROOM_RECOVERY_DAYS')).toMatchObject({
      service: null,
      value: '14',
      default: '7',
      isSet: true,
      source: 'environment',
      secret: false,
    })
    expect(find('FERRYHOOK_DELIVER')).toMatchObject({ service: 'ferryhook', value: 'false' })
    expect(find('PORT')).toMatchObject({ value: '4280', isSet: false, source: 'default' })
    expect(find('PUBLIC_URL')).toMatchObject({ value: null, isSet: false })
  })

  test('says only whether a secret is set', async () => {
    const { find, text } = await open({ STRONGROOM_TOKEN: 'sro_root.verysecretvalue' })
    expect(find('STRONGROOM_TOKEN')).toMatchObject({ value: null, isSet: true, secret: true })
    expect(find('STRONGROOM_PASSPHRASE')).toMatchObject({ value: null, isSet: false })
    expect(text).not.toContain('verysecretvalue')
  })
})
