import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { openApi, PASSWORD } from '../support/test-api.ts'

const ALL = [
  'delivery.failed',
  'connection.warning',
  'connection.paused',
  'connection.circuit_opened',
  'connection.circuit_closed',
  'limit.reached',
]

describe.each(serviceStores())('alert settings on $name', (store) => {
  const api = openApi(store)
  const webhookUrl = 'https://ops.example/alerts'

  test('are not sent until they are configured', async () => {
    const { token } = await api.person()
    const { body } = await api.ask('GET', '/alerts', { token })
    expect(body).toMatchObject({ kinds: [], webhookUrl: null, email: false, updatedAt: null })
    expect(body.canEmail).toBe(false)
    const tested = await api.ask('POST', '/alerts/test', { token })
    expect([tested.status, tested.body.error.code]).toEqual([409, 'ferryhook.no_alert_webhook'])
    const rotated = await api.ask('POST', '/alerts/rotate-secret', { token, body: {} })
    expect(rotated.body.error.code).toBe('ferryhook.no_alert_webhook')
  })

  test('have a secret that is shown once, and remains when the address changes', async () => {
    const person = await api.person()
    const { token } = person
    const set = (body: object) => api.ask('PUT', '/alerts', { token, body })
    const made = await set({ webhookUrl })
    expect(made.body).toMatchObject({ kinds: ALL, webhookUrl, email: false, failedAt: null })
    expect(made.body.signingSecret).toMatch(/^whsec_/)
    const moved = await set({ webhookUrl: 'https://ops.example/other', kinds: ['limit.reached'] })
    expect(moved.body).not.toHaveProperty('signingSecret')
    const { body } = await api.ask('GET', '/alerts', { token })
    expect(body).toMatchObject({
      kinds: ['limit.reached'],
      webhookUrl: 'https://ops.example/other',
    })
    const { body: rotated } = await api.ask('POST', '/alerts/rotate-secret', { token, body: {} })
    expect(rotated.signingSecret).not.toBe(made.body.signingSecret)

    const stored = await api.db.getItem({
      TableName: 'ferryhook-main',
      Key: { PK: `USER#${person.id}`, SK: 'ALERTS' },
    })
    expect(stored.Item?.['signingSecret']).toMatch(/^AgR4/)

    const removed = await set({})
    expect(removed.body).toMatchObject({ webhookUrl: null })
    expect((await set({ webhookUrl })).body.signingSecret).toMatch(/^whsec_/)
  })

  test('cannot use an address that deliveries cannot use', async () => {
    const { token } = await api.person()
    for (const url of ['http://ops.example/', 'https://127.0.0.1/', 'https://[::1]/', 'nonsense']) {
      const body = { webhookUrl: url }
      const answer = await api.ask('PUT', '/alerts', { token, body })
      expect([answer.status, answer.body.error.code]).toEqual([
        400,
        'ferryhook.invalid_destination',
      ])
      expect(answer.body.error.details[0].path).toBe('body.webhookUrl')
    }
    const mail = await api.ask('PUT', '/alerts', { token, body: { email: true } })
    expect(mail.body.error.code).toBe('ferryhook.mail_not_configured')
    expect((await api.ask('GET', '/alerts', { token })).body.updatedAt).toBeNull()
  })

  test('concurrent changes are applied one after the other', async () => {
    const { token } = await api.person()
    const answers = await Promise.all(
      ALL.map((kind) => api.ask('PUT', '/alerts', { token, body: { webhookUrl, kinds: [kind] } })),
    )
    expect(answers.map(({ status }) => status)).toEqual(ALL.map(() => 200))
    // The first successful request created the secret, and the others retained it.
    expect(answers.filter(({ body }) => 'signingSecret' in body)).toHaveLength(1)
  })

  test('are in the export and the audit log of the account, and are deleted with it', async () => {
    const person = await api.person()
    const { token } = person
    await api.ask('PUT', '/alerts', { token, body: { webhookUrl } })
    const { body } = await api.ask('GET', '/account/export', { token })
    expect(body.alerts).toMatchObject({ webhookUrl })
    expect(body.audit.map(({ action }: { action: string }) => action)).toContain('alerts.changed')
    await api.ask('POST', '/account/delete', { token, body: { currentPassword: PASSWORD } })
    expect(await api.stores.alertSettings.get(person.id)).toBeNull()
  })
})
