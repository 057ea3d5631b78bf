import { expect, test } from 'vitest'
import { pluginZip, signatureOf } from '../../../form-bridge/test/support/published-plugin.ts'
import { describeConsole, pageProblems, takeShots } from '../support/browser.ts'
import {
  createFleet,
  type Fleet,
  fleetStores,
  HOSTILE_AGENCY,
  HOSTILE_DOMAIN,
  LONG_DOMAIN,
  releaseKey,
} from '../support/fleet.ts'

const env = { FORM_BRIDGE_RELEASE_KEYS: releaseKey.publicKey }
const ADDRESS = 'ip_0123456789abcdefghijkl'

describeConsole(
  'the pages of Form-Bridge',
  (site) => {
    let fleet: Promise<Fleet> | undefined
    let admins = 0
    const newAdmin = () => site.addOperator(`bridge-admin-${++admins}`)
    const withFleet = () =>
      (fleet ??= newAdmin().then((token) => createFleet(site, { count: 12, token })))

    test('registrations: lists pending ones, and all of a domain', async () => {
      const page = await site.asOperator()
      await site.open(page, '/server/registrations')
      await page.getByText('No registration is pending').waitFor()
      expect(await pageProblems(page)).toEqual([])
      const stores = fleetStores(site)
      for (const domain of ['pending.example', HOSTILE_DOMAIN, LONG_DOMAIN]) {
        await stores.register(domain)
      }
      await page.getByRole('button', { name: 'Refresh' }).click()
      await page.getByRole('link', { name: HOSTILE_DOMAIN }).waitFor()
      await page.getByText('3 pending').waitFor()
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'registrations')
      await page.getByLabel('Exact domain').fill('https://Pending.example/')
      await page.keyboard.press('Enter')
      await page.waitForURL('**/registrations?domain=pending.example')
      await expect.poll(() => page.locator('tbody tr').count()).toBe(1)
      await site.open(page, '/server/registrations?domain=nobody.example')
      await page.getByText('No registration of nobody.example in the last hour').waitFor()
    })

    test('agencies: creates one, shows its key once, and refuses what the server refuses', async () => {
      const page = await site.asOperator()
      await site.open(page, '/server/agencies')
      await page.getByRole('button', { name: 'New agency' }).first().click()
      const dialog = page.getByRole('dialog', { name: 'New agency' })
      await dialog.getByLabel('Name').fill(HOSTILE_AGENCY)
      await dialog.getByLabel('Contact address').fill('nobody@nowhere')
      await dialog.getByLabel('Site limit').fill('many')
      await dialog.getByText('Enter a whole number').waitFor()
      await dialog.getByLabel('Site limit').fill('25')
      await dialog.getByRole('button', { name: 'Create agency' }).click()
      await dialog.getByRole('alert').first().waitFor()
      expect(await dialog.getByLabel('Name').inputValue()).toBe(HOSTILE_AGENCY)
      await dialog.getByLabel('Contact address').fill('office@nord.example')
      await dialog.getByRole('button', { name: 'Create agency' }).click()
      const once = page.getByRole('dialog', { name: /^Key of/ })
      await once.getByText(/^fb_agency_/).waitFor()
      expect(await pageProblems(page)).toEqual([])
      await once.getByRole('button', { name: 'I have stored it' }).click()
      await page.getByRole('row').filter({ hasText: '0 of 25' }).waitFor()
      expect(await page.content()).not.toContain('fb_agency_')
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'agencies')
    })

    test('one agency: join tokens are created, shown once and revoked; limit, status and key change', async () => {
      const { agency_id } = await withFleet()
      const page = await site.asOperator()
      await site.open(page, `/server/agencies/${agency_id}`)
      await page.getByRole('button', { name: 'New join token' }).click()
      await page.getByLabel('Sites that can join with it').fill('3')
      await page
        .getByText(`strongroom agencies invite ${agency_id} --role owner --uses 3`)
        .waitFor()
      await page.getByRole('button', { name: 'Create token' }).click()
      await page.getByText(/^fb_join_/).waitFor()
      await page.getByRole('button', { name: 'I have stored it' }).click()
      const tokens = page.getByRole('region', { name: 'Join tokens' })
      await tokens.getByText('0 of 3').waitFor()
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'agency')
      await tokens.getByRole('button', { name: 'Revoke…' }).click()
      await page.getByRole('button', { name: 'Revoke token' }).click()
      await tokens.getByText('No join token is valid').waitFor()
      await page.getByRole('button', { name: 'Set site limit…' }).click()
      await page.getByRole('textbox', { name: 'Sites' }).fill('77')
      await page.getByRole('button', { name: 'Set limit', exact: true }).click()
      await page.getByText('6 of 77').waitFor()
      await page.getByRole('button', { name: 'Suspend…' }).click()
      await page.getByText('Its sites stay connected and keep sending.').waitFor()
      await page.getByRole('button', { name: 'Suspend agency' }).click()
      await page.getByRole('button', { name: 'Resume…' }).click()
      await page.getByRole('button', { name: 'Resume agency' }).click()
      await page.getByRole('button', { name: 'Replace key…' }).click()
      await page.getByRole('button', { name: 'Replace key', exact: true }).click()
      await page.getByText(/^fb_agency_/).waitFor()
      await page.getByRole('button', { name: 'I have stored it' }).click()
      const sites = page.getByRole('region', { name: 'Sites' })
      await sites.getByRole('button', { name: 'Role…' }).first().click()
      await page.getByLabel('Role', { exact: true }).selectOption('viewer')
      await page.getByRole('button', { name: 'Set role' }).click()
      await page.getByText(/^The agency is viewer of/).waitFor()
      await site.open(page, '/server/agencies/agency_0123456789abcdef')
      await page.getByText('Agency not found').waitFor()
    })

    test('releases: publishes a signed package with progress, explains a refusal, and withdraws', async () => {
      await withFleet()
      const page = await site.asOperator()
      await site.open(page, '/server/releases')
      await page.getByRole('row').filter({ hasText: '2.4.0-rc2' }).getByText('Withdrawn').waitFor()
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'releases')
      await page.getByRole('button', { name: 'Publish release…' }).click()
      const dialog = page.getByRole('dialog', { name: 'Publish a release' })
      const zip = Buffer.from(pluginZip('2.5.0'))
      const files = (signature: string) => [
        { name: 'form-bridge-2.5.0.zip', mimeType: 'application/zip', buffer: zip },
        {
          name: 'form-bridge-2.5.0.zip.sig',
          mimeType: 'text/plain',
          buffer: Buffer.from(signature),
        },
      ]
      const choose = async (signature: string) => {
        const [first, second] = files(signature)
        await dialog.getByLabel('Package').setInputFiles(first!)
        await dialog.getByLabel('Signature').setInputFiles(second!)
      }
      await choose(signatureOf(zip, '2.4.9'))
      expect(await dialog.getByLabel('Version').inputValue()).toBe('2.5.0')
      await dialog.getByRole('button', { name: 'Publish release' }).click()
      await dialog.getByText('The signature does not match the package').waitFor()
      expect(await pageProblems(page)).toEqual([])
      await choose(`${signatureOf(zip, '2.5.0')}\n`)
      await dialog.getByRole('button', { name: 'Publish release' }).click()
      await page.getByText('2.5.0 is published').waitFor()
      const row = page.getByRole('row').filter({ hasText: '2.5.0' })
      await row.getByText('newest').waitFor()
      await row.getByRole('button', { name: 'Withdraw…' }).click()
      const ask = page.getByRole('dialog', { name: 'Withdraw 2.5.0?' })
      await ask.getByText('its number cannot be used again').waitFor()
      await ask.getByRole('textbox').fill('2.5.0')
      await ask.getByRole('button', { name: 'Withdraw release' }).click()
      await row.getByText('Withdrawn').waitFor()
    })

    test('releases: a package that is too large is refused before it is sent', async () => {
      const page = await site.asOperator()
      await site.open(page, '/server/releases')
      await page.getByRole('button', { name: 'Publish release…' }).first().click()
      const dialog = page.getByRole('dialog', { name: 'Publish a release' })
      await dialog.getByLabel('Package').setInputFiles({
        name: 'form-bridge-9.0.0.zip',
        mimeType: 'application/zip',
        buffer: Buffer.alloc(20 * 1024 * 1024 + 1),
      })
      await dialog.getByText('at most 20 MiB are accepted').waitFor()
      expect(await dialog.getByRole('button', { name: 'Publish release' }).isDisabled()).toBe(true)
    })

    test('security events: by type and site, with hostile clients as text; abuse is unblocked', async () => {
      const { stores, ids } = await withFleet()
      const site_id = ids.get('bakery-lindner.example') ?? ''
      const page = await site.asOperator()
      await site.open(page, '/server/security-events?type=suspicious_activity')
      await page.getByText('No suspicious activity').waitFor()
      for (let at = 0; at < 60; at++) {
        await stores.securityEvents.record({
          ...(at % 3 === 0 && { site_id, domain: 'bakery-lindner.example' }),
          event_type: 'auth_failure',
          client_ip: ADDRESS,
          user_agent: '\u202E<script>alert(1)</script>'.repeat(9),
          details: { reason: 'unauthorized', repeated: at },
        })
      }
      await site.open(page, '/server/security-events')
      await page.getByText('Unauthorized, 59 more').waitFor()
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'security-events')
      // Coming into view loads the rest, and the button may be gone before it can be clicked.
      await page.locator('.list-note').scrollIntoViewIfNeeded()
      await expect.poll(() => page.locator('tbody tr').count()).toBe(60)
      await site.open(page, `/server/security-events?site=${site_id}`)
      await expect.poll(() => page.locator('tbody tr').count()).toBe(20)
      const details = { failures: 20, seconds: 600, slowed: 86_400, blocked: 3600 }
      await stores.abusePatterns.record({
        pattern_type: 'registration_spam',
        identifier: ADDRESS,
        severity: 'high',
        details,
      })
      await site.open(page, '/server/security-events?type=abuse')
      await page.getByText(/^Blocked, ends in 59 min/).waitFor()
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'abuse')
      await page.getByRole('button', { name: 'Unblock…' }).click()
      await page.getByText(`strongroom abuse unblock registration_spam ${ADDRESS}`).waitFor()
      await page.getByRole('button', { name: 'Unblock', exact: true }).click()
      await page.getByText(`${ADDRESS} is unblocked`).waitFor()
      expect((await stores.abusePatterns.listByType('registration_spam')).items).toEqual([])
    })

    test('limits: sets an override with its use, changes and removes it', async () => {
      const { ids } = await withFleet()
      const id = ids.get('vet-clinic-east.example') ?? ''
      const page = await site.asOperator()
      await site.open(page, '/server/limits')
      await page.getByText('Everybody has the default limits').waitFor()
      expect(await pageProblems(page)).toEqual([])
      await page.getByRole('button', { name: 'Set limit…' }).first().click()
      await page.getByLabel('Site id').fill(id)
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByLabel('Per minute').fill('7')
      await page.getByRole('button', { name: 'Set limits' }).click()
      const row = page.getByRole('row').filter({ hasText: id })
      await row.getByText('0 of 7').waitFor()
      await row.getByText('7/min').waitFor()
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'limits')
      await row.getByRole('button', { name: 'Change…' }).click()
      await page.getByLabel('Per day').fill('9000')
      await page.getByRole('button', { name: 'Set limits' }).click()
      await row.getByText('7/min, 9,000/day').waitFor()
      await row.getByRole('button', { name: 'Remove…' }).click()
      await page.getByRole('button', { name: 'Remove override' }).click()
      await page.getByText('Everybody has the default limits').waitFor()
    })

    test('a viewer sees each page and cannot change anything', async () => {
      const { agency_id } = await withFleet()
      const token = await site.addOperator('bridge-viewer', { role: 'viewer' })
      const page = await site.asOperator({ token })
      for (const [path, button] of [
        ['/server/agencies', 'New agency'],
        [`/server/agencies/${agency_id}`, 'New join token'],
        ['/server/releases', 'Publish release…'],
        ['/server/limits', 'Set limit…'],
      ] as const) {
        await site.open(page, path)
        const found = page.getByRole('button', { name: button }).first()
        await found.waitFor()
        expect(await found.getAttribute('aria-disabled'), path).toBe('true')
      }
    })

    test('an operator of other services gets a clear message on each page', async () => {
      const token = await site.addOperator('other-services', { services: ['sealed'] })
      const page = await site.asOperator({ token })
      for (const path of ['registrations', 'agencies', 'releases', 'security-events', 'limits']) {
        await site.open(page, `/server/${path}`)
        await page.getByText('You have no access to').first().waitFor()
        expect(await page.locator('tbody tr').count()).toBe(0)
      }
    })
  },
  env,
)
