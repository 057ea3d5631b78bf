/** What operators do: every operation of theirs, jobs and the console. */
import { expect, test } from 'vitest'
import { calls } from '../../../server/test/operator-calls.ts'
import { addressOf, forgetAuditHead, type TestDeployment } from '../support/scenario.ts'

export function testOperators(opened: () => TestDeployment): void {
  test('let operators change everything that a server lets them change', async () => {
    const { server } = opened()
    const failed: string[] = []
    for (const [operation, prepare] of Object.entries(calls)) {
      const [method = ''] = operation.split(' ')
      const token = await server.operator()
      const { path, ...given } = await prepare(server, token)
      await forgetAuditHead(server)
      const { status, code } = await server.ask(method, path, { token, ...given })
      if (status >= 300) failed.push(`${operation}: ${status} ${code}`)
    }
    expect(failed).toEqual([])
  }, 300_000)

  test('show operators everything that a server shows them', async () => {
    const { server, admin } = opened()
    const { agency_id, api_key } = await server.agency(admin)
    const { site_id } = await server.site(api_key)
    const ids = {
      agency_id,
      site_id,
      scope: 'api',
      'rate-limits.id': site_id,
      slug: 'form-bridge',
      version: '1.1.0',
      'users.id': (await server.account()).id,
      'keys.id': (await server.ask('POST', '/key-store/v1/keys', { token: admin, body: {} })).body
        .id,
    }
    const failed: string[] = []
    for (const operation of server.operations) {
      const { method, permission } = operation
      if (method !== 'GET' || !/^operator:(viewer|editor|admin|self)$/.test(permission)) continue
      const address = addressOf(operation, ids)
      if (address === undefined) continue
      const query =
        { '/form-bridge/v1/abuse-patterns': '?type=api_abuse', '/key-store/v1/keys': '?limit=1' }[
          address
        ] ?? ''
      const { status, code } = await server.ask('GET', address + query, { token: admin })
      if (status >= 400) failed.push(`${address}: ${status} ${code}`)
    }
    expect(failed).toEqual([])
  }, 300_000)

  test('run the jobs that operators start', async () => {
    const { deployment, server, admin } = opened()
    // The one that another test cancelled ends first.
    await deployment.invoke('jobs', { source: 'aws.events' })
    await forgetAuditHead(server)
    const started = await server.ask('POST', '/server/v1/jobs', {
      token: admin,
      body: { kind: 'key-store.rotate-keys', input: { olderThanSeconds: 0, perSecond: 10 } },
    })
    await deployment.invoke('jobs', { source: 'aws.events' })
    const job = await server.ask('GET', `/server/v1/jobs/${started.body.id}`, { token: admin })
    expect(job.body).toMatchObject({ state: 'done' })
  })

  test('sign an operator in to the console', async () => {
    const { deployment, server, admin } = opened()
    const page = await deployment.fetch(new Request('https://strongroom.example/console/'))
    expect(page.status).toBe(200)
    const cookie = await server.operatorCookie(admin)
    const session = await server.ask('GET', '/server/v1/session', { headers: { cookie } })
    expect(session.status).toBe(200)
    expect((await server.ask('DELETE', '/server/v1/session', { headers: { cookie } })).status).toBe(
      204,
    )
  })

  test('give an operator a second factor', async () => {
    const { server } = opened()
    const cookie = await server.operatorCookie(await server.operator())
    const totp = '/server/v1/session/second-factor/totp'
    const started = await server.ask('POST', totp, { headers: { cookie } })
    expect(started).toMatchObject({ status: 201, body: { secret: expect.any(String) } })
  })
}
