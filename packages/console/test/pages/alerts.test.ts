import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { describeConsole, pageProblems, takeShots } from '../support/browser.ts'
import { addAccount } from '../support/seed-events.ts'

/** A webhook on this machine that records what it received. */
async function startWebhook(status = 200) {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => (text += chunk))
    request.on('end', () => {
      bodies.push(text)
      response.writeHead(status).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/alerts`, bodies, close: () => server.close() }
}

describeConsole(
  'alerts',
  (site) => {
    test('are configured, tested and signed with a secret that is shown once', async () => {
      const webhook = await startWebhook()
      const { email, token } = await addAccount(site)
      const page = await site.signedIn({ email })
      await site.open(page, '/alerts')
      await page.getByText('Nobody is told about failures yet').waitFor()
      expect(await page.getByLabel(/^Send mail to/).isDisabled()).toBe(true)
      expect(await page.getByText('This server does not send mail.').count()).toBe(1)
      await page.getByLabel('Webhook URL').fill(webhook.url)
      await page.getByLabel(/^Limit reached/).uncheck()
      await page.getByRole('button', { name: 'Save alerts' }).click()
      const secret = page.getByRole('dialog', { name: 'Signing secret of alerts' }).locator('code')
      const first = (await secret.textContent()) ?? ''
      expect(first).toMatch(/^whsec_/)
      await page.getByRole('button', { name: 'I have stored it' }).click()
      const settings = async () =>
        (await site.api<Record<string, unknown>>('GET', '/ferryhook/v1/alerts', { token })).body
      expect(await settings()).toMatchObject({
        webhookUrl: webhook.url,
        kinds: expect.not.arrayContaining(['limit.reached']) as unknown,
      })
      await page.getByRole('button', { name: 'Send test alert' }).click()
      await page.getByText(/^The webhook responded 200/).waitFor()
      expect(JSON.parse(webhook.bodies[0] ?? '')).toMatchObject({ type: 'ferryhook.test' })
      await page.getByRole('button', { name: 'Rotate signing secret…' }).click()
      expect(await pageProblems(page)).toEqual([])
      await page.getByRole('button', { name: 'Rotate secret' }).click()
      expect(await secret.textContent()).not.toBe(first)
      await page.getByRole('button', { name: 'I have stored it' }).click()
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'alerts')
      webhook.close()
    })

    test('say what is wrong with an address, and keep what was typed', async () => {
      const page = await site.signedIn()
      await site.open(page, '/alerts')
      await page.getByLabel('Webhook URL').fill('https://[fd00::1]/alerts')
      await page.keyboard.press('Control+s')
      await page.getByRole('alert').waitFor()
      expect(await page.getByLabel('Webhook URL').inputValue()).toBe('https://[fd00::1]/alerts')
      await page.getByRole('link', { name: 'Usage' }).click()
      await page.getByRole('dialog').waitFor()
    })

    test('report a webhook that fails', async () => {
      const webhook = await startWebhook(500)
      const { email, token } = await addAccount(site)
      await site.api('PUT', '/ferryhook/v1/alerts', { token, json: { webhookUrl: webhook.url } })
      const page = await site.signedIn({ email })
      await site.open(page, '/alerts')
      await page.getByRole('button', { name: 'Send test alert' }).click()
      const toast = page.getByText(/^The test alert was not delivered: status 500/)
      await expect.poll(() => toast.count()).toBe(1)
      webhook.close()
    })
  },
  { FERRYHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', FERRYHOOK_ALLOW_HTTP: 'true' },
)
