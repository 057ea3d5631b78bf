import { createTables } from '@strongroom/kit/tables'
import type { Db } from '@strongroom/kit/db'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { settings } from '../../src/settings.ts'
import { tablesOf } from '../../src/tables.ts'
import { notesService } from '../notes-service.ts'
import { attributes, htmlOf, pagesApp, textOf } from './test-pages.ts'
import { testApp } from '../test-app.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'
const refusal =
  '{"error":{"code":"request.not_found","message":"There is nothing at this address"}}'

const as = (accept: string, method = 'GET') => ({ method, headers: { accept } })

describe('an unknown path', () => {
  const app = pagesApp()

  test('shows browsers a page with links', async () => {
    const answer = await app.request('/nope', as(BROWSER))
    expect(answer.status).toBe(404)
    expect(answer.headers.get('content-type')).toBe('text/html; charset=UTF-8')
    const html = await answer.text()
    expect(html).toMatch(/^<!doctype html><html lang="en">/)
    expect(textOf(html)).toContain('Page not found.')
    const links = attributes(html, 'href').filter((href) => !href.startsWith('#'))
    expect(links).toEqual(expect.arrayContaining(['/', '/docs']))
    for (const link of links.filter((href) => href !== '/console/'))
      expect((await app.request(link)).status).toBe(200)
  })

  test('the page has the headers of the home page', async () => {
    const [page, home] = [await app.request('/nope', as(BROWSER)), await app.request('/')]
    const headersOf = ({ headers }: Response) =>
      [...headers].filter(([name]) => name !== 'x-request-id')
    expect(headersOf(page)).toEqual(headersOf(home))
  })

  test('the page is the same for every path', async () => {
    const page = await htmlOf(app.request('/nope', as(BROWSER)))
    const hostile = '/%3Cscript%3Ealert(1)%3C/script%3E?q=%22onload=x'
    for (const path of [hostile, '/%', '/docs/nope', '/assets/nope.css', '/in-between', '/v10/x'])
      expect(await htmlOf(app.request(path, as(BROWSER)))).toBe(page)
    expect(page).not.toMatch(/<script|<style|\sstyle=|\son[a-z]+=/i)
  })

  test('HEAD gets the headers of the page', async () => {
    const answer = await app.request('/nope', as(BROWSER, 'HEAD'))
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
      404,
      'text/html; charset=UTF-8',
      '',
    ])
  })

  test.each([
    '*/*',
    'application/json',
    'application/json, text/html;q=0.9',
    'application/json, text/javascript, */*; q=0.01',
    'text/html;q=0, */*',
    'text/css,*/*;q=0.1',
    ';;,,q=',
  ])('a program that accepts "%s" gets the error', async (accept) => {
    const answer = await app.request('/nope', as(accept))
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/json'])
    expect(await answer.text()).toBe(refusal)
  })

  test('a program without an Accept header gets the error', async () => {
    expect(await htmlOf(app.request('/nope'))).toBe(refusal)
  })

  test.each(['POST', 'PUT', 'DELETE'])('%s gets the error, whatever it accepts', async (method) => {
    expect(await htmlOf(app.request('/nope', as(BROWSER, method)))).toBe(refusal)
  })

  test.each(['/sealed/v1/nope', '/sealed/v1', '/sealed/%76%31/nope', '/v1/nope', '/in/nope'])(
    'at %s, an address of programs, a browser gets the error too',
    async (path) => {
      const answer = await app.request(path, as(BROWSER))
      expect(await answer.text()).toBe(refusal)
      expect(answer.headers.get('content-security-policy')).not.toContain('style-src')
    },
  )
})

describe.each(serviceStores())('in a whole server on $name', (store) => {
  let db: Db
  let close: () => Promise<void>

  beforeAll(async () => {
    ;({ db, close } = await store.open())
    await createTables(db, tablesOf([notesService]))
  })
  afterAll(() => close())

  test.each([
    { path: '/notes', atRoot: false },
    { path: '/notes/nope', atRoot: false },
    { path: '/nope', atRoot: true },
  ])('a browser gets the page at $path, alone: $atRoot', async ({ path, atRoot }) => {
    const services = [notesService]
    const app = await testApp({ db, services, atRoot, settings: settings.parse({}) })
    const answer = await app.request(path, as(BROWSER))
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      404,
      'text/html; charset=UTF-8',
    ])
    expect(await htmlOf(app.request(path, as('*/*')))).toBe(refusal)
  })
})
