/** Two-key on its functions: Slack requests, uninstalls and installations. */
import { sampleClient, sampleTeam } from '@strongroom/two-key/fake-slack/fixtures'
import { expect, test } from 'vitest'
import type { Answer } from '../../../server/test/every-service.ts'
import { SECRET } from '../../../two-key/test/support/machine.ts'
import { eventBody, message } from '../../../two-key/test/support/samples.ts'
import { signedServiceRequest } from '../../../two-key/test/support/signed-request.ts'
import { forgetAuditHead, type TestDeployment } from '../support/scenario.ts'

const ORIGIN = 'https://strongroom.example'

async function addApp(
  { server, admin }: TestDeployment,
  name: string,
  given: { url: string; installation?: object },
): Promise<void> {
  const { url, ...more } = given
  const body = { name, signingSecret: SECRET, upstream: { url, kind: 'app' }, ...more }
  expect((await server.ask('POST', '/two-key/v1/apps', { token: admin, body })).status).toBe(201)
}

async function addToken({ server, admin }: TestDeployment, app: string): Promise<void> {
  const { team, token } = server.slack
  const path = `/two-key/v1/apps/${app}/tokens/${team}`
  expect((await server.ask('PUT', path, { token: admin, body: { token } })).status).toBe(200)
}

async function teamsOf({ server, admin }: TestDeployment, app: string): Promise<string[]> {
  const { body } = await server.ask('GET', `/two-key/v1/apps/${app}/tokens`, { token: admin })
  return body.items.map(({ team }: { team: string }) => team)
}

/**
 * Sends an event until the response has the status: Slack repeats events that get no response in three
 * seconds, as on a busy machine.
 */
async function expectStatus(send: () => Promise<Answer>, status: number): Promise<void> {
  await expect.poll(async () => (await send()).status, { timeout: 20_000 }).toBe(status)
}

export function testTwoKey(opened: () => TestDeployment): void {
  /** Sends the same signed event each time. */
  function eventTo(app: string, content: object): () => Promise<Answer> {
    const { body, headers } = signedServiceRequest(content, Date.now())
    return () =>
      opened().server.ask('POST', `/two-key/slack/${app}/events`, {
        body: Buffer.from(body),
        headers,
      })
  }

  test('verify a Slack request and send it to the app', async () => {
    const { server, destination } = opened()
    const app = 'lambda-app'
    await addApp(opened(), app, { url: destination.url })
    await addToken(opened(), app)
    const sent = destination.requests.length
    const event = eventBody(message)
    const send = eventTo(app, event)
    await expectStatus(send, 200)
    expect(await send()).toMatchObject({ status: 200 })
    expect(destination.requests.slice(sent)).toEqual([JSON.stringify(event)])
    const { body, headers } = signedServiceRequest(event, Date.now())
    const forged = await server.ask('POST', `/two-key/slack/${app}/events`, {
      body: Buffer.from(`${body} `),
      headers,
    })
    expect(forged.status).toBe(401)
  })

  test('ask Slack to repeat an event that the app does not accept', async () => {
    const { destination } = opened()
    const app = 'failing-app'
    await addApp(opened(), app, { url: `${destination.url}/status/500` })
    await addToken(opened(), app)
    const send = eventTo(app, { ...eventBody(message), event_id: 'Ev00000002' })
    const sent = destination.requests.length
    await expect
      .poll(async () => (await send()).code, { timeout: 20_000 })
      .toBe('two-key.not_handed_over')
    // The claim was released, so that it is sent again.
    await expect.poll(async () => (await send()).code).toBe('two-key.not_handed_over')
    expect(destination.requests.length).toBeGreaterThan(sent + 1)
  })

  test('delete the token of an app that was uninstalled', async () => {
    const { server, destination } = opened()
    const app = 'leaving-app'
    await addApp(opened(), app, { url: destination.url })
    await addToken(opened(), app)
    const faults = server.slack.url.replace('/api/', '/fake/faults')
    const fault = { kind: 'error', error: 'account_inactive', method: 'auth.test' }
    await fetch(faults, { method: 'POST', body: JSON.stringify(fault) })
    await forgetAuditHead(server)
    try {
      const send = eventTo(app, {
        type: 'event_callback',
        team_id: sampleTeam.id,
        api_app_id: sampleTeam.app,
        event_id: 'Ev00000003',
        event: { type: 'app_uninstalled' },
      })
      await expectStatus(send, 200)
    } finally {
      await fetch(faults, { method: 'DELETE' })
    }
    expect(await teamsOf(opened(), app)).toEqual([])
  })

  test('let a workspace install an app', async () => {
    const { deployment, destination } = opened()
    const app = 'installed-app'
    const installation = { clientId: sampleClient.id, clientSecret: sampleClient.secret }
    await addApp(opened(), app, { url: destination.url, installation })
    const started = await deployment.fetch(
      new Request(`${ORIGIN}/two-key/slack/${app}/install`, { redirect: 'manual' }),
    )
    expect(started.status).toBe(303)
    const [cookie = ''] = started.headers.getSetCookie()
    const agreed = await fetch(started.headers.get('location') ?? '', { redirect: 'manual' })
    const page = await deployment.fetch(
      new Request(agreed.headers.get('location') ?? '', {
        headers: { cookie: cookie.slice(0, cookie.indexOf(';')) },
      }),
    )
    expect([page.status, await page.text()]).toEqual([
      200,
      expect.stringContaining('The app is installed'),
    ])
    expect(await teamsOf(opened(), app)).toEqual([sampleTeam.id])
  })
}
