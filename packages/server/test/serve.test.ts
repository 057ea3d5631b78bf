import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLog } from '@strongroom/kit/log'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serve } from '../src/serve.ts'
import { settings } from '../src/settings.ts'
import { notesService } from './notes-service.ts'

describe('a server', () => {
  async function serving({ atRoot, hasPage }: { atRoot: boolean; hasPage: boolean }) {
    const directory = await mkdtemp(join(tmpdir(), 'strongroom-test-'))
    const server = await serve({
      settings: settings.parse({ PORT: '0', STRONGROOM_DATA: directory }),
      services: [{ ...notesService, hasPage }],
      atRoot,
      log: silentLog,
    })
    onTestFinished(async () => {
      await server.close()
      await rm(directory, { recursive: true })
    })
    return server
  }

  test('makes the tables of its services and answers for them over HTTP', async () => {
    const { url } = await serving({ atRoot: false, hasPage: false })
    const answer = await fetch(`${url}/notes/v1/hello`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'hello' }),
    })
    expect(answer.status).toBe(204)
  })

  test.each([
    { atRoot: false, hasPage: true, path: '/notes/' },
    { atRoot: true, hasPage: true, path: '/' },
    { atRoot: false, hasPage: false, path: '/docs#group-notes' },
  ])('says where a service is found: at $path', async ({ path, ...options }) => {
    const { url, services } = await serving(options)
    expect(services).toEqual([{ name: 'notes', title: 'Notes', url: url + path }])
  })

  test('has the part of the API reference that it points to', async () => {
    const { services } = await serving({ atRoot: false, hasPage: false })
    const { hash, href } = new URL(services[0]?.url ?? '')
    const page = await (await fetch(href)).text()
    expect(page).toContain(`id="${hash.slice(1)}"`)
  })
})
