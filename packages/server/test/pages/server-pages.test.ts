import { createOperators } from '@strongroom/kit/operators'
import { createTables } from '@strongroom/kit/tables'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, onTestFinished, test } from 'vitest'
import { services } from '../../src/services.ts'
import { settings } from '../../src/settings.ts'
import { createBackupRecord } from '../../src/status/backup.ts'
import { tablesOf } from '../../src/tables.ts'
import { testApp } from '../test-app.ts'
import { attributes, htmlOf, textOf } from './test-pages.ts'

describe.each(serviceStores())('the pages of a server on $name', (store) => {
  async function open() {
    const { db, close } = await store.open()
    const clock = testClock()
    await createTables(db, tablesOf(services))
    const app = await testApp({ db, clock, services, settings: settings.parse({}) })
    onTestFinished(async () => {
      await app.close()
      await close()
    })
    const get = (path: string, headers: Record<string, string> = {}) =>
      app.request(`https://strongroom.example${path}`, { headers })
    return { app, db, clock, get }
  }

  test('has one page of the reference for each service, with its operations and keys only', async () => {
    const { get } = await open()
    const paths: string[] = []
    for (const { name, title } of [...services, { name: 'server', title: 'Server' }]) {
      const response = await get(`/docs/${name}`)
      expect([name, response.status]).toEqual([name, 200])
      const html = await htmlOf(response)
      expect(textOf(html)).toContain(`${title} API`)
      const groups = attributes(html, 'id').filter((id) => /^group-.*(?<!-title)$/.test(id))
      expect(groups).toHaveLength(1)
      const ids = attributes(html, 'id')
      for (const href of attributes(html, 'href').filter((each) => each.startsWith('#'))) {
        expect(ids).toContain(href.slice(1))
      }
      paths.push(...ids.filter((id) => /^(?:get|post|put|patch|delete)-/.test(id)))
    }
    expect(new Set(paths).size).toBe(paths.length)
    const ferryhook = textOf(await htmlOf(get('/docs/ferryhook')))
    expect(ferryhook).toContain('Get a key')
    expect(ferryhook).not.toContain('/sealed/v1')
  })

  test('leads with what a visitor can do immediately', async () => {
    const { get } = await open()
    const html = await htmlOf(get('/'))
    const actions = html.slice(html.indexOf('class="actions"'), html.indexOf('class="plate"'))
    expect(attributes(actions, 'href')).toEqual(['/console/', '/sealed/', '/docs/guides'])
    expect(attributes(html, 'href')).toContain('/docs/key-store')
  })

  test('shows what needs attention only to a signed-in operator of the server', async () => {
    const { app, db, clock, get } = await open()
    const operators = createOperators({ db, clock })
    await createBackupRecord(db).put({ at: '2099-12-20T00:00:00.000Z', bytes: 1, file: '/x' })
    const signIn = async (token: string) => {
      const response = await app.request('https://strongroom.example/server/v1/session', {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: 'https://strongroom.example' },
        body: JSON.stringify({ token }),
      })
      return response.headers.get('set-cookie')?.split(';')[0] ?? ''
    }
    const viewer = await signIn(await operators.add('viewer', { role: 'viewer' }))
    const limited = await signIn(
      await operators.add('limited', { role: 'admin', services: ['sealed'] }),
    )
    expect(textOf(await htmlOf(get('/', { cookie: viewer })))).toContain('No backup since')
    for (const headers of [{}, { cookie: limited }, { cookie: `${viewer}x` }]) {
      const text = textOf(await htmlOf(get('/', headers)))
      expect(text).not.toContain('No backup since')
      expect(text).not.toContain('Needs attention')
    }
  })
})
