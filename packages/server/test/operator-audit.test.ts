import { createAuditLog } from '@strongroom/kit/audit-log'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EveryService, openEveryService } from './every-service.ts'
import { calls } from './operator-calls.ts'

/** Sends a mail, which is tested where there is a mail server: ferryhook's admin/mail.test.ts. */
const NEEDS_MAIL = 'POST /ferryhook/v1/invites/mail'

/** They need a second factor that was set up in a browser: see the tests of second factors. */
const NEED_A_FACTOR = [
  'DELETE /ferryhook/v1/users/{id}/second-factor',
  'DELETE /server/v1/operators/{name}/second-factor',
]

/** An operator's own sign-in: see the tests of sessions. */
const OWN = ['operator:self', 'operator:session']

describe.each(serviceStores())('every change by an operator on $name', (store) => {
  let server: EveryService
  let admin: string
  beforeAll(async () => {
    server = await openEveryService(store)
    admin = await server.operator()
  })
  afterAll(() => server.close())

  const changing = () =>
    server.operations
      .filter(({ method, permission }) => permission.startsWith('operator:') && method !== 'GET')
      .filter(({ permission }) => !OWN.includes(permission))
      .map(({ method, path }) => `${method} ${path}`)

  test('has a call in this test', () => {
    expect(
      changing().filter((name) => name !== NEEDS_MAIL && !NEED_A_FACTOR.includes(name)),
    ).toEqual(Object.keys(calls).toSorted(byPath))
  })

  test('leaves one entry in the audit log, and none if the operator lacks the role', async () => {
    const log = createAuditLog(server)
    const viewer = await server.operator({ role: 'viewer' })
    for (const [name, prepare] of Object.entries(calls)) {
      const { path, ...given } = await prepare(server, admin)
      const [method = ''] = name.split(' ')
      const [, service = ''] = path.split('/')
      const before = (await log.verify()).entries
      const answer = await server.ask(method, path, { token: admin, ...given })
      expect([name, answer.code, Math.floor(answer.status / 100)]).toEqual([name, undefined, 2])
      expect([name, (await log.verify()).entries - before]).toEqual([name, 1])
      const [entry] = (await log.list({ limit: 1 })).items
      expect(entry).toMatchObject({
        actor: expect.stringMatching(/^operator:operator-/),
        action: expect.stringMatching(new RegExp(`^${service}\\.\\w+\\.\\w+$`)),
        address: expect.stringMatching(/^10\./),
        outcome: 'done',
      })
      const refused = await server.ask(method, path, { token: viewer, ...given })
      expect([name, refused.status, refused.code]).toEqual([name, 403, 'operator.forbidden'])
      expect([name, (await log.verify()).entries - before]).toEqual([name, 1])
    }
    expect((await log.verify()).findings).toEqual([])
  }, 120_000)

  test('leaves no secret in the audit log', async () => {
    const { Items } = await server.db.scan({ TableName: 'strongroom-operations' })
    const text = JSON.stringify(Items)
    expect(text).toContain('two-key.app.secret_rotated')
    const secrets = ['a-signing-secret-of-slack', 'another-signing-secret', server.slack.token]
    for (const secret of [...secrets, 'sro_', 'fb_agency_', 'fh_live_'])
      expect(text).not.toContain(secret)
  })
})

/** As the OpenAPI document sorts them. */
function byPath(a: string, b: string): number {
  const [, one = ''] = a.split(' ')
  const [, other = ''] = b.split(' ')
  return one < other ? -1 : one > other ? 1 : 0
}
